"""Diagnostic codes of the area: check. They stand in three files by subject."""

from __future__ import annotations

from couler_py.ir.codes import check_settings, check_structure, check_values
from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (*check_structure.CODES, *check_values.CODES, *check_settings.CODES)
