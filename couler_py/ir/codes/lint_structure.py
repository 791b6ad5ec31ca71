"""Diagnostic codes of the area: lint structure."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = ()
