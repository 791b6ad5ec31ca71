"""Raising what is wrong with a workflow at the line of the person who wrote it."""

from __future__ import annotations

from typing import Any, NoReturn

from couler_py.dsl.sources import caller
from couler_py.ir.diagnostics import Diagnostic, DiagnosticError
from couler_py.ir.model import Source


class RecordingError(DiagnosticError):
    """A call, a value or a piece of control flow that can't be honoured; raised where it is written."""


class PlaceholderError(RecordingError, TypeError):
    """A value that is known only when the workflow runs was used as if it were known already."""


class MissingMemberError(RecordingError, AttributeError):
    """A value has no member of that name."""


def problem(
    code: str,
    message: str,
    *,
    why: str = "",
    help: str = "",  # noqa: A002  the field's name in a diagnostic
    step: str = "",
    source: Source | None = None,
    related: tuple[tuple[str, Source], ...] = (),
    kind: type[RecordingError] = RecordingError,
) -> RecordingError:
    """The error of one finding, at the given place or else at the caller's line."""
    found = Diagnostic(
        code, "error", message, source=source or caller(), step=step, why=why, help=help, related=related
    )
    return kind([found])


def fail(code: str, message: str, **details: Any) -> NoReturn:
    """Raise one finding: see `problem`."""
    raise problem(code, message, **details)
