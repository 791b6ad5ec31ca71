"""Where a run begins."""

from __future__ import annotations

from couler_py.ir.diagnostics import DiagnosticError, error
from couler_py.ir.model import Template, Workflow
from couler_py.passes.check.calls import no_entrypoint
from couler_py.passes.check.references import suggest


def entrypoint_of(workflow: Workflow) -> Template:
    """The template that a run begins with.

    Raises `DiagnosticError` (CLR201) where there is none: an imported document isn't held against our rules, and may
    only hold templates for others.
    """
    found = {each.name: each for each in workflow.templates}
    if workflow.entrypoint not in found:
        help_ = suggest(workflow.entrypoint, found)
        message = no_entrypoint(workflow)
        raise DiagnosticError([error("CLR201", message, step=workflow.name, source=workflow.source, help=help_)])
    return found[workflow.entrypoint]
