"""`couler explain CODE`: the long form of a diagnostic."""

from __future__ import annotations

import difflib
from typing import Annotated

import typer

from couler_py.cli.console import columns, console
from couler_py.cli.errors import UsageError
from couler_py.ir.codes import explanations
from couler_py.ir.diagnostics import Code


def command(
    code: Annotated[str | None, typer.Argument(help="A code, as CLR201. Without, all codes are listed.")] = None,
) -> None:
    """Explain a diagnostic code, as CLR201."""
    known = explanations()
    if code is None:
        for line in columns([(each.code, each.title) for each in known.values()], header=("CODE", "WHAT")):
            console().print(line)
        return
    found = known.get(code.upper())
    if found is None:
        begun = [each for each in known if each.startswith(code.upper())]
        close = begun[:3] or difflib.get_close_matches(code.upper(), known, n=3)
        raise UsageError(
            f"there is no code {code!r}"
            + (f"; did you mean {' or '.join(close)}?" if close else "; `couler explain` lists all")
        )
    show(found)


def show(code: Code) -> None:
    """Print a code with its text, and its examples in Python's colours."""
    from rich.padding import Padding
    from rich.syntax import Syntax
    from rich.text import Text

    out = console()
    title = Text(code.code, "bold red")
    title.append(f"  {code.title}", "bold")
    out.print(title)
    out.print()
    out.print(code.text.strip(), soft_wrap=False)
    for label, example in (("Wrong:", code.example), ("Right:", code.instead)):
        if example:
            out.print(Text(f"\n{label}", "bold"))
            syntax = Syntax(example.strip("\n"), "python", theme="ansi_dark", background_color="default")
            out.print(Padding(syntax, (0, 0, 0, 4)) if out.is_terminal else _indented(example))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.strip("\n").split("\n"))
