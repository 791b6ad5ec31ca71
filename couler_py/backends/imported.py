"""Workflows written in Argo's words on their way to another engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from couler_py.ir.diagnostics import Diagnostic, DiagnosticError
from couler_py.ir.model import Document, Workflow
from couler_py.passes.entrypoint import entrypoint_of
from couler_py.passes.portable import portable


def for_engine(
    model: Workflow | Document, engine: str, others: Iterable[Document] = ()
) -> tuple[Workflow, tuple[Diagnostic, ...]]:
    """The workflow as an engine other than Argo reads it, with what there is to say about that.

    Templates are looked for in the documents that stand around it in its file, and in `others`. Raises
    `DiagnosticError` with everything that has no meaning there.
    """
    from couler_py.backends.argo.document import document_of
    from couler_py.backends.argo.whole import neighbours, whole

    document = model if isinstance(model, Document) else document_of(model)
    known = (*neighbours(document), *others)
    keep: Literal["argo"] | None = "argo" if engine == "local" else None
    workflow, findings = portable(whole(document, known), keep=keep, others=[whole(each, known) for each in known])
    if any(each.severity == "error" for each in findings):
        raise DiagnosticError(findings)
    entrypoint_of(workflow)
    return workflow, findings
