"""Argo Workflows: the IR as documents of its API."""

from __future__ import annotations

from couler_py.backends.argo.backend import BACKEND, compile_workflow

__all__ = ["BACKEND", "compile_workflow"]
