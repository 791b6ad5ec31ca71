"""An imported document with everything in it that it takes from elsewhere: the defaults of templates, another's spec.

Argo merges these when a run starts (workflow/controller/operator.go, mergedTemplateDefaultsInto and setExecWorkflow;
workflow/util/merge.go): objects member by member, lists of objects with a name entry by entry, others as wholes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from couler_py.backends.argo.document import is_argo, read, written
from couler_py.backends.argo.vocabulary import BODIES, MERGE_KEYS
from couler_py.ir.model import Document

JSON = dict[str, Any]


def neighbours(document: Document) -> tuple[Document, ...]:
    """The documents of Argo's that stand around one in its file."""
    return tuple(read(data) for data in (*document.before, *document.after) if is_argo(data))


def whole(document: Document, others: Iterable[Document] = ()) -> Document:
    """The document with what it refers to as a whole put in; references to what isn't known stay."""
    data, _ = written(document)
    outer = data.get("spec") or {}
    place = (outer.get("workflowSpec") or {}) if document.kind == "CronWorkflow" else outer
    spec = _joined(place, others)
    defaults = spec.get("templateDefaults")
    if defaults is not None:
        spec = {key: value for key, value in spec.items() if key != "templateDefaults"}
        spec["templates"] = [_completed(template, defaults) for template in spec.get("templates") or ()]
    if spec is place:
        return document
    if document.kind == "CronWorkflow":
        spec = {**outer, "workflowSpec": spec}
    made = read({**data, "spec": spec})
    workflow = msgspec.structs.replace(made.workflow, source=document.workflow.source)
    return msgspec.structs.replace(made, workflow=workflow, before=document.before, after=document.after)


def _joined(spec: JSON, others: Iterable[Document]) -> JSON:
    reference = spec.get("workflowTemplateRef")
    if not isinstance(reference, dict):
        return spec
    kind = "ClusterWorkflowTemplate" if reference.get("clusterScope") else "WorkflowTemplate"
    for other in others:
        if other.kind == kind and other.metadata.get("name") == reference.get("name"):
            own = {key: value for key, value in spec.items() if key != "workflowTemplateRef"}
            joined: JSON = merged(written(other)[0].get("spec") or {}, own)
            return joined
    return spec


def _completed(template: JSON, defaults: JSON) -> JSON:
    found = merged(defaults, template)
    kind = next((key for key in BODIES if key in template), None)
    return {key: value for key, value in found.items() if key == kind or key not in BODIES}


def merged(base: Any, over: Any, key: str = "") -> Any:
    """A value over another, as Kubernetes' strategic merge does it.

    >>> merged({"a": {"x": 1}, "env": [{"name": "A"}]}, {"a": {"y": 2}, "env": [{"name": "B"}]})
    {'a': {'x': 1, 'y': 2}, 'env': [{'name': 'B'}, {'name': 'A'}]}
    """
    if isinstance(base, dict) and isinstance(over, dict):
        found = {name: merged(value, over[name], name) if name in over else value for name, value in base.items()}
        return found | {name: value for name, value in over.items() if name not in base}
    same = MERGE_KEYS.get(key)
    if same and isinstance(base, list) and isinstance(over, list):
        known = {name: each for each in base if (name := _name(each, same)) is not None}
        own = [merged(known.get(_name(each, same), {}), each) for each in over]
        names = {_name(each, same) for each in over} - {None}
        return own + [each for each in base if _name(each, same) not in names]
    return over


def _name(entry: Any, key: str) -> Any:
    """By what an entry of a list is the same as another; None for one that is like no other."""
    return entry.get(key) if isinstance(entry, dict) else None
