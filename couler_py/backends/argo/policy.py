"""Policies over Argo's documents: of an imported or compiled one, and of YAML as it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from couler_py.backends.argo.document import document_of, is_argo, write
from couler_py.backends.argo.document import read as read_document
from couler_py.backends.argo.lint.reading import Read, read
from couler_py.backends.argo.paths import Path
from couler_py.ir.diagnostics import CoulerError, Diagnostic
from couler_py.ir.model import Document, Source, Workflow
from couler_py.passes.policy import check_document
from couler_py.settings import PolicySource

JSON = dict[str, Any]
OF_STEPS = frozenset({"CLR900", "CLR904", "CLR905", "CLR906", "CLR907"})
"""What is said of steps that were added on the way to Argo, or by `argo=`."""


def of_document(model: Document | Workflow, policies: Sequence[PolicySource]) -> list[Diagnostic]:
    """Of a workflow in Argo's own words, and of what stands around it in its file."""
    document = model if isinstance(model, Document) else document_of(model)
    found = [
        each for data in document.before if is_argo(data) for each in check_document(data, policies, locate=_nowhere)
    ]
    found += check_document(
        write(document), policies, locate=_by_name(write(document), document.workflow), workflow=document.workflow
    )
    for data in document.after:
        found += check_document(data, policies, locate=_nowhere) if is_argo(data) else []
    return found


def of_emitted(
    documents: Sequence[JSON], workflow: Workflow, policies: Sequence[PolicySource], known: Sequence[Diagnostic]
) -> list[Diagnostic]:
    """What documents hold beyond the workflow that they were made of, for which `known` was found already."""
    said = {(each.code, each.message) for each in known}
    found = []
    for data in documents:
        if is_argo(data):
            for each in check_document(data, policies, locate=_by_name(data, workflow)):
                if each.code in OF_STEPS and (each.code, each.message) not in said:
                    found.append(each)
    return found


def of_texts(texts: Mapping[str, str], policies: Sequence[PolicySource]) -> list[Diagnostic]:
    """Of YAML by its file, each finding at its line and column. What can't be read is its linter's to say."""
    found: list[Diagnostic] = []
    if policies:
        for file, text in texts.items():
            for document in read(text).documents:
                if is_argo(document.data):
                    found += _of_read(document, file, policies)
    return found


def _of_read(document: Read, file: str, policies: Sequence[PolicySource]) -> list[Diagnostic]:
    def locate(path: Path) -> Source:
        place = document.find(path)
        return Source(file, place.line, place.column)

    try:
        workflow: Workflow | None = read_document(document.data).workflow
    except (CoulerError, msgspec.ValidationError):
        workflow = None  # its linter says what is wrong; nothing is counted
    return check_document(document.data, policies, locate=locate, workflow=workflow)


def _by_name(data: JSON, workflow: Workflow) -> Any:
    """The place of a template in a document, by its name."""
    spec = data.get("spec") or {}
    prefix: Path = ("spec", "workflowSpec") if "workflowSpec" in spec else ("spec",)
    for key in prefix[1:]:
        spec = spec[key]
    templates = spec.get("templates") or []
    sources = {each.name: each.source for each in workflow.templates}

    def locate(path: Path) -> Source | None:
        at = path[len(prefix) + 1] if path[: len(prefix) + 1] == (*prefix, "templates") else None
        name = templates[at].get("name") if isinstance(at, int) else None
        return (sources.get(name) if isinstance(name, str) else None) or workflow.source

    return locate


def _nowhere(path: Path) -> None:
    return None
