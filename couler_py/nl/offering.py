"""From an outline to a draft: only what compiles for this machine and for Argo is offered."""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py import api
from couler_py.ir.model import Workflow
from couler_py.nl.assemble import assemble
from couler_py.nl.draft import Draft
from couler_py.nl.explain import explain
from couler_py.nl.outline import Outline
from couler_py.printer import print_python

ENGINES = ("local", "argo")
"""What every draft compiles for."""


def prove(workflow: Workflow) -> str:
    """The source of a workflow that compiles for every one of `ENGINES`.

    Raises `DiagnosticError` with what is wrong, where it doesn't.
    """
    for engine in ENGINES:
        api.compile(workflow, to=engine)
    return print_python(workflow)


def offer(outline: Outline, draft: Draft) -> Draft:
    """A draft with the workflow of an outline, its source and its explanation; the rest is as `draft` says.

    Raises `OutlineError` and `DiagnosticError`: what is wrong goes back to whoever wrote the outline.
    """
    return offer_workflow(assemble(outline), draft, engine=outline.engine)


def offer_workflow(workflow: Workflow, draft: Draft, *, engine: str = "") -> Draft:
    """A draft with a workflow that is proved to compile. Raises `DiagnosticError` where it doesn't."""
    found: dict[str, Any] = {"workflow": workflow, "source": prove(workflow), "explanation": explain(workflow)}
    return msgspec.structs.replace(draft, engine=engine or draft.engine, **found)
