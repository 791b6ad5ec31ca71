"""Argo Workflows: the IR as documents of its API, and its documents as IR."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from couler_py.backends.argo.backend import BACKEND, compile_workflow

if TYPE_CHECKING:
    from couler_py.backends.argo.document import dump as dump
    from couler_py.backends.argo.document import load as load
    from couler_py.backends.argo.document import load_all as load_all

__all__ = ["BACKEND", "compile_workflow", "dump", "load", "load_all"]

_LATE = ("dump", "load", "load_all")
"""Imported when they are asked for: who only compiles needs no reader."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(f"{__name__}.document"), name)
    return found
