"""Imported workflows in terms that every engine shares: from the dialect "argo" to "couler", keeping the meaning."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from couler_py.ir.diagnostics import Diagnostic
from couler_py.ir.graph import reachable
from couler_py.ir.model import Document, Workflow
from couler_py.passes.portable.extras import left
from couler_py.passes.portable.items import without_empty_items
from couler_py.passes.portable.library import gathered, library
from couler_py.passes.portable.results import with_results
from couler_py.passes.portable.retries import with_retry
from couler_py.passes.portable.translated import translated

__all__ = ["portable", "rules"]

RULES = "rules"


def rules(workflow: Workflow) -> str:
    """By whose rules the local engine runs a workflow: "argo" for what `portable` kept in Argo's words, else ours."""
    return str(workflow.engines.get("local", {}).get(RULES, "couler"))


def portable(
    model: Workflow | Document, *, keep: Literal["argo"] | None = None, others: Iterable[Document] = ()
) -> tuple[Workflow, tuple[Diagnostic, ...]]:
    """A workflow of the dialect "couler" that means the same, and what has no portable meaning.

    With `keep="argo"`, for an engine that evaluates Argo's languages and follows its rules (the local one), expressions
    and conditions stay in Argo's words. `others` are documents whose templates it may refer to. A workflow of the
    dialect "couler" is given back as it is.
    """
    workflow = model.workflow if isinstance(model, Document) else model
    if workflow.dialect == "couler":
        return workflow, ()
    workflow = gathered(workflow, library(others))
    templates = tuple(without_empty_items(with_retry(each)) for each in with_results(workflow.templates))
    workflow = msgspec.structs.replace(workflow, templates=templates)
    if keep is None:
        used = set(reachable(workflow))
        workflow = msgspec.structs.replace(workflow, templates=tuple(one for one in templates if one.name in used))
    findings = list(left(workflow))
    if keep is None:
        workflow, further = translated(workflow)
        return msgspec.structs.replace(workflow, dialect="couler"), (*findings, *further)
    engines = {**workflow.engines, "local": {**workflow.engines.get("local", {}), RULES: "argo"}}
    return msgspec.structs.replace(workflow, dialect="couler", engines=engines), tuple(findings)
