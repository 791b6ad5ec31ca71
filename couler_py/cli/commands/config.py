"""`couler config`: the settings that hold, and where each comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from couler_py.cli.console import clean, columns, console
from couler_py.cli.options import AsJson
from couler_py.cli.running import to_json
from couler_py.settings import Settings, load
from couler_py.settings.model import Keys


def command(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            exists=True,
            file_okay=False,
            help="The folder that work would be done in (default: this one).",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Show what is left at its default too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the settings that hold here, and where each comes from."""
    settings = load(folder)
    if as_json:
        print(to_json(plain(settings)), end="")
        return
    _show(settings, every)


def plain(settings: Settings) -> dict[str, Any]:
    """The settings as data for tools: the chosen profile, the root, each key with its origin, the policies."""
    return {
        "profile": settings.profile or None,
        "root": settings.root or None,
        "settings": {
            key: {"value": msgspec.to_builtins(value), "from": settings.origins.get(key, "default")}
            for key, value in values(settings)
        },
        "policies": [{"from": each.origin, "rules": msgspec.to_builtins(each.policy)} for each in settings.policies],
    }


def values(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Each key with its value: tables by their keys, as they are written."""
    for name in Keys.__struct_fields__:
        yield from _values(name, getattr(settings, name), settings.origins)


def _values(key: str, value: Any, origins: dict[str, str]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _values(f"{key}.{name}", getattr(value, name), origins)
    elif isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _values(f"{key}.{name}", inner, origins)
    else:
        yield key, value


def _show(settings: Settings, every: bool) -> None:
    from rich.text import Text

    out = console()
    out.print(Text.assemble("profile  ", (settings.profile or "none", "bold")))
    out.print(Text(f"project  {clean(settings.root) or 'none'}"))
    rows = [
        (key, written(value), Text(clean(settings.origins.get(key, "default")), "dim"))
        for key, value in values(settings)
        if every or key in settings.origins
    ]
    if rows:
        out.print()
    for line in columns(rows):
        out.print(line)
    for policy in settings.policies:
        out.print(Text.assemble("\npolicy  ", (clean(policy.origin), "bold")))
        found = msgspec.to_builtins(policy.policy)
        for line in columns([(f"  {name}", written(value)) for name, value in found.items()]):
            out.print(line)


def written(value: Any) -> str:
    """A value on one line: a text as it is, all else as JSON."""
    return value if isinstance(value, str) and value else json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
