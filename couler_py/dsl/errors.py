"""What is raised where a person writes something that can't be honoured; each names the file and line."""

from __future__ import annotations

from couler_py.ir.diagnostics import DiagnosticError


class DefinitionError(DiagnosticError):
    """A step or workflow is defined in a way that can't work; raised where it is defined."""


class AnnotationError(DefinitionError, TypeError):
    """An annotation names a type that can't travel between steps."""


class CallError(DiagnosticError, TypeError):
    """A step is called with arguments that don't fit its signature."""
