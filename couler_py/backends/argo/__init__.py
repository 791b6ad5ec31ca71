"""Argo Workflows: the IR as documents of its API, and its documents as IR."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from couler_py.backends.argo.backend import BACKEND as BACKEND
    from couler_py.backends.argo.backend import compile_workflow as compile_workflow
    from couler_py.backends.argo.document import dump as dump
    from couler_py.backends.argo.document import load as load
    from couler_py.backends.argo.document import load_all as load_all

__all__ = ["BACKEND", "compile_workflow", "dump", "load", "load_all"]

_HOME = {
    "BACKEND": "backend",
    "compile_workflow": "backend",
    "dump": "document",
    "load": "document",
    "load_all": "document",
}
"""Imported when they are asked for: who writes documents needs no compiler, and who compiles no reader."""


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    return found
