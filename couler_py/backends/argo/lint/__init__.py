"""The offline linter: what the API server and the controller would refuse, refused here, at its line."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from couler_py.backends.argo.lint.finding import Finding, Path

if TYPE_CHECKING:
    from couler_py.backends.argo.lint.frame import lint as lint
    from couler_py.backends.argo.lint.frame import lint_documents as lint_documents

__all__ = ["Finding", "Path", "lint", "lint_documents"]

_LATE = ("lint", "lint_documents")
"""Imported when they are asked for: who reads or compiles a document doesn't pay for the rules."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(f"{__name__}.frame"), name)
    return found
