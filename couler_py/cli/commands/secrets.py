"""`couler secrets …`: values that steps are given by name, kept on this machine."""

from __future__ import annotations

import getpass
import sys
from typing import Annotated

import typer

from couler_py.cli.app import COMMANDS
from couler_py.cli.console import clean, columns, console
from couler_py.cli.errors import UsageError
from couler_py.cli.options import AsJson
from couler_py.cli.running import to_json
from couler_py.store import keyrings, secrets
from couler_py.store.home import open_home

Name = Annotated[str, typer.Argument(metavar="NAME", help="The secret, as workflows name it.")]
Keyring = Annotated[bool, typer.Option("--keyring", help="In the keyring of the desktop instead of a file.")]

app = typer.Typer(help=COMMANDS["secrets"][1], add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.command("set")
def set_(
    name: Name,
    key: Annotated[str, typer.Argument(metavar="KEY", help="The key of the value in it.")],
    keyring: Keyring = False,
) -> None:
    """Keep a value: typed without being shown, or from stdin. It is never an argument, which others could read."""
    value = _value(name, key)
    if keyring:
        keyrings.set_(name, key, value)
    else:
        secrets.set_key(open_home(), name, key, value)
    console(stderr=True).print(f"kept {clean(name)}/{clean(key)}{' in the keyring' if keyring else ''}")


@app.command("list")
def list_all(as_json: AsJson = False) -> None:
    """List the names and keys that there are, and where they are kept. Values are never shown."""
    found = secrets.listed(open_home())
    if as_json:
        print(to_json([{"name": each.name, "keys": each.keys, "place": each.place} for each in found]), end="")
        return
    rows = [(each.name, ", ".join(each.keys), each.place) for each in found]
    for line in columns(rows, header=("NAME", "KEYS", "PLACE")) if rows else ():
        console().print(line)


@app.command("delete")
def delete(
    name: Name,
    key: Annotated[str | None, typer.Argument(metavar="KEY", help="Only this key of it.")] = None,
    keyring: Keyring = False,
) -> None:
    """Forget a secret, or one key of it."""
    if keyring:
        if not keyrings.delete(name, key):
            raise UsageError(f"the keyring doesn't have {name}{f'/{key}' if key else ''}: `couler secrets list`")
    else:
        secrets.delete(open_home(), name, key)
    console(stderr=True).print(f"forgot {clean(name)}{f'/{clean(key)}' if key else ''}")


def _value(name: str, key: str) -> str:
    if not name or not key:
        raise UsageError("a secret has a name and a key")
    if sys.stdin.isatty():
        value = getpass.getpass(f"{clean(name)}/{clean(key)}: ")
    else:
        try:
            value = sys.stdin.buffer.read().decode("utf-8")
        except UnicodeDecodeError:
            raise UsageError("stdin isn't UTF-8 text: keep bytes as base64") from None
        # `echo` ends its line; of several lines (a private key) the last line break belongs to the value.
        if value.count("\n") == 1:
            value = value.removesuffix("\n").removesuffix("\r")
    if not value:
        raise UsageError("the value is empty, which counts as missing: nothing was kept")
    if "\0" in value:
        raise UsageError("the value holds a NUL character, which no variable can: keep it as base64")
    return value
