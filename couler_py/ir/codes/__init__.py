"""Every diagnostic code with its explanation. One file an area; a code is used once and never again."""

from __future__ import annotations

import functools
import importlib

from couler_py.ir.diagnostics import Code

AREAS = (
    "dsl",
    "recording",
    "verbs",
    "native",
    "check",
    "portable",
    "argo",
    "lint_structure",
    "lint_meaning",
    "argo_import",
    "local",
    "containers",
    "airflow",
    "airflow_import",
    "cli",
    "lifecycle",
    "printer",
    "policy",
)
"""CLR1xx dsl, 2xx check, 3xx portable, 4xx argo, 5xx airflow, 6xx local, 7xx command line, 8xx printer, 9xx policy."""


@functools.cache
def explanations() -> dict[str, Code]:
    """All codes by name, in order. Raises `ValueError` where two areas use the same one."""
    found: dict[str, Code] = {}
    for area in AREAS:
        for code in importlib.import_module(f"couler_py.ir.codes.{area}").CODES:
            if code.code in found:
                raise ValueError(f"the diagnostic code {code.code} is defined twice")
            found[code.code] = code
    return dict(sorted(found.items()))
