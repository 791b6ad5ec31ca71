"""`--profile NAME`, which every command that reads settings takes, before or after its name."""

from __future__ import annotations

from typing import Annotated, Any

import typer

WITHOUT = frozenset({"convert", "engines", "explain", "import"})
"""Commands that read no settings."""


def add(command: Any, name: str) -> Any:
    """Give a command, and those inside it, the option."""
    if name in WITHOUT:
        return command
    for each in (command, *getattr(command, "commands", {}).values()):
        if not any("--profile" in getattr(known, "opts", ()) for known in each.params):
            each.params.append(option())
    return command


def option() -> Any:
    """The option itself, which commands need not know of: what it says holds for all that is done."""
    made = typer.Typer(add_completion=False, rich_markup_mode=None)
    made.command()(_with_profile)
    [found] = typer.main.get_command(made).params
    found.expose_value = False
    return found


def _choose(context: typer.Context, value: str | None) -> str | None:
    if value is not None:
        from couler_py.settings import using

        context.with_resource(using(value))
    return value


def _with_profile(
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile",
            metavar="NAME",
            help="The profile of the settings (default: COULER_PROFILE).",
            callback=_choose,
        ),
    ] = None,
) -> None:
    pass
