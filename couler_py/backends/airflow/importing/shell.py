"""Commands of the shell: the values of a template become variables, so that no value is read as a program.

Where Airflow puts a value into a command, the shell reads what it holds. Here it reads a variable: inside of double
quotes as one word, outside of quotes as words, and never as commands.
"""

from __future__ import annotations

from collections.abc import Sequence

from couler_py.backends.airflow.importing.made import Slots, wanted_name
from couler_py.backends.airflow.importing.unsayable import UnsayableError
from couler_py.ir import expr as x

TAKEN = frozenset({"PATH", "HOME", "IFS", "PWD", "SHELL", "USER", "LANG", "PS1", "ENV", "BASH_ENV", "UID"})
"""Variables that mean something to a shell."""

LAST_LINE = """\
(
{command}
) | tee /dev/stderr | tail -n 1
exit "${{PIPESTATUS[0]}}"
"""
"""Prints the last line alone to stdout, as Airflow takes it for the task's XCom; the log (stderr) has all."""


def command(parts: Sequence[str | x.Expr], slots: Slots) -> str:
    """A command in which each value is a variable. Raises `UnsayableError` in a document of the shell's (`<<`)."""
    found: list[str] = []
    quote = ""
    for part in parts:
        if isinstance(part, str):
            quote = _quote_after(part, quote)
            found.append(part)
            if "<<" in part and len(parts) > 1:
                raise UnsayableError("a value may stand in a document of the shell (<<)", "pass it to a Python step")
            continue
        name = slots.input(part, wanted_name(part)).name
        found.append(f"'\"${{{name}}}\"'" if quote == "'" else f"${{{name}}}")
    return "".join(found)


def _quote_after(text: str, quote: str) -> str:
    """In which quotes of the shell a text ends that begins in some."""
    escaped = False
    for sign in text:
        if escaped:
            escaped = False
        elif quote == "'":
            quote = "" if sign == "'" else quote
        elif sign == "\\":
            escaped = True
        elif quote == '"':
            quote = "" if sign == '"' else quote
        elif sign in ("'", '"'):
            quote = sign
    return quote


def last_line(text: str) -> str:
    """A command of which only the last line is printed."""
    return LAST_LINE.format(command=text.strip("\n"))
