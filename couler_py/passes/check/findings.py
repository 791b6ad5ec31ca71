"""Where the checker writes down what it finds."""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py.ir.diagnostics import Diagnostic, Severity
from couler_py.ir.model import Source


class Place(msgspec.Struct, frozen=True, gc=False):
    """What a finding is about: the task, template or workflow by name, and the line that wrote it."""

    step: str
    source: Source | None = None


class Findings:
    """The findings so far, in the order found, which is the order of the program; each is kept once."""

    def __init__(self) -> None:
        self._found: dict[Diagnostic, None] = {}

    def error(self, code: str, message: str, place: Place, **details: Any) -> None:
        """Something that must be mended before the workflow can run."""
        self._add(code, "error", message, place, **details)

    def warning(self, code: str, message: str, place: Place, **details: Any) -> None:
        """Something that is probably not what the author meant."""
        self._add(code, "warning", message, place, **details)

    def note(self, code: str, message: str, place: Place, **details: Any) -> None:
        """Something that the author may want to know."""
        self._add(code, "note", message, place, **details)

    def all(self) -> list[Diagnostic]:
        """Everything found."""
        return list(self._found)

    def _add(self, code: str, severity: Severity, message: str, place: Place, **details: Any) -> None:
        self._found[Diagnostic(code, severity, message, place.source, place.step, **details)] = None


def related(*sides: tuple[str, Source | None]) -> tuple[tuple[str, Source], ...]:
    """The other places of a finding: those whose line is known."""
    return tuple((what, source) for what, source in sides if source is not None)
