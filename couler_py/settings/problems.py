"""What is wrong with a file of settings: the file, the line, the key, and the keys that there are."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path

from couler_py.ir.diagnostics import Diagnostic, DiagnosticError
from couler_py.ir.model import Source


class SettingsError(DiagnosticError):
    """Settings that can't be read, at the place where they are written."""


def refused(message: str, place: Source | None, help: str = "") -> SettingsError:  # noqa: A002 - the finding's field
    """The error for something in a file of settings."""
    return SettingsError(
        [Diagnostic("CLR133", "error", message, source=place, help=help or "see `couler explain CLR133`")]
    )


def near(name: str, known: Sequence[str]) -> str:
    """The names that there are, the nearest one first said."""
    close = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}there are {', '.join(known)}"


def shown(path: Path) -> str:
    """A file as messages name it: relative to the working folder where it is inside."""
    folder = os.getcwd() + os.sep  # noqa: PTH109 - a plain prefix of the text
    text = str(path)
    return text[len(folder) :] if text.startswith(folder) else text
