"""Which documents of a file the linter is about."""

from __future__ import annotations

import difflib
from typing import Any

from couler_py.backends.argo.lint.finding import Finding
from couler_py.backends.argo.schema import PLURALS
from couler_py.backends.argo.vocabulary import API


def is_ours(document: Any) -> bool:
    """Whether a document is one of Argo Workflows' kinds, or means to be."""
    return isinstance(document, dict) and isinstance(document.get("kind"), str) and document["kind"] in PLURALS


def problems(document: Any) -> list[Finding]:
    """What is wrong with a document's `apiVersion` and `kind`; documents of other programs are nobody's business."""
    if not isinstance(document, dict):
        what = "a list" if isinstance(document, list) else "text" if isinstance(document, str) else "a single value"
        return [Finding("CLR421", f"a Kubernetes object is a mapping; this is {what}", ())]
    kind, version = document.get("kind"), document.get("apiVersion")
    if not isinstance(kind, str) or not kind:
        return [_no_kind(document)]
    if kind in PLURALS:
        return [] if version == API else [_wrong_version(document, kind)]
    near = difflib.get_close_matches(kind, PLURALS, 1, 0.8)
    if near and kind not in _OTHERS and isinstance(version, str) and version.startswith("argoproj.io/"):
        return [Finding("CLR421", f"Argo has no kind {kind!r}", ("kind",), help=f"write {near[0]}")]
    return []


_OTHERS = frozenset({"WorkflowEventBinding", "WorkflowTaskSet", "WorkflowTaskResult", "WorkflowArtifactGCTask"})
"""Argo Workflows' kinds that aren't workflows."""


def _no_kind(document: dict[str, Any]) -> Finding:
    return Finding(
        "CLR421",
        "the document has no `kind`" if "kind" not in document else "`kind` isn't the name of a kind",
        ("kind",) if "kind" in document else (),
        help=f"kinds of Argo Workflows are {', '.join(PLURALS)}",
    )


def _wrong_version(document: dict[str, Any], kind: str) -> Finding:
    if "apiVersion" not in document:
        help_ = f"write apiVersion: {API}"
        return Finding("CLR421", f"the {kind} has no `apiVersion`", ("kind",), on="key", help=help_)
    return Finding(
        "CLR421",
        f"there is no {kind} of apiVersion {document['apiVersion']!r}",
        ("apiVersion",),
        help=f"write {API}",
    )
