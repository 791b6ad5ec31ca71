"""The offline linter: what the API server and the controller would refuse, refused here, at its line."""

from __future__ import annotations

from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.frame import lint, lint_documents

__all__ = ["Finding", "Path", "lint", "lint_documents"]
