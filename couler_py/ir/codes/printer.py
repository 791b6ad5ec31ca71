"""Diagnostic codes of the area: printer."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR801",
        "a workflow that can't be written as Python",
        "Printing a workflow writes source that builds the same workflow again. A value in it is neither text, a "
        "number, a list nor an object, and nothing was printed, so that nothing is lost in silence. Workflows that "
        "were read from JSON have no such values.",
    ),
)
