"""What is wrong with a workflow, said so that a person can mend it: code, place, why, and the way out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import msgspec

from couler_py.ir.model import Source

Severity: TypeAlias = Literal["error", "warning", "note"]


class Diagnostic(msgspec.Struct, frozen=True, omit_defaults=True):
    """One finding.

    `step` is the task, template or workflow that it is about; `why` says what makes it wrong, `help`
    what to do; `related` are further places, as the other side of a mismatch.
    """

    code: str
    severity: Severity
    message: str
    source: Source | None = None
    step: str = ""
    why: str = ""
    help: str = ""
    related: tuple[tuple[str, Source], ...] = ()

    def render(self) -> str:
        """The finding as plain text of several lines, the place first."""
        place = f"{self.source}: " if self.source else ""
        about = f" [{self.step}]" if self.step else ""
        lines = [f"{place}{self.severity}[{self.code}]{about}: {self.message}"]
        if self.why:
            lines.append(f"  why: {self.why}")
        if self.help:
            lines.append(f"  help: {self.help}")
        lines.extend(f"  see: {what}: {source}" for what, source in self.related)
        return "\n".join(lines)


class CoulerError(Exception):
    """The base of every error that this package raises on purpose."""


class DiagnosticError(CoulerError):
    """One or more findings that stop the work. `diagnostics` holds them all."""

    def __init__(self, diagnostics: Iterable[Diagnostic]):
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("\n".join(diagnostic.render() for diagnostic in self.diagnostics))

    def __reduce__(self) -> Any:
        return (type(self), (self.diagnostics,))


class Code(msgspec.Struct, frozen=True):
    """The long form of a diagnostic code, for `couler explain`: `example` is wrong, `instead` is right."""

    code: str
    title: str
    text: str
    example: str = ""
    instead: str = ""


def error(code: str, message: str, **details: Any) -> Diagnostic:
    """A `Diagnostic` of severity error."""
    return Diagnostic(code, "error", message, **details)


def warning(code: str, message: str, **details: Any) -> Diagnostic:
    """A `Diagnostic` of severity warning."""
    return Diagnostic(code, "warning", message, **details)
