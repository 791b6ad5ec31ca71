"""Diagnostic codes of the area: lifecycle."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = ()
