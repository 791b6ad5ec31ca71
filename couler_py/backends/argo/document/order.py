"""The one order in which the fields of Argo's objects are written.

Small things first: what something is called and when it runs stands before what it does. What a person named (labels,
a list of items) keeps its own order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from couler_py.backends.argo.document.structure import Shape, document_shape, template_shape

JSON = dict[str, Any]

_EARLY = (
    # documents and their metadata
    "apiVersion kind name generateName namespace labels annotations finalizers metadata spec "
    # runs of a schedule
    "schedules schedule timezone concurrencyPolicy startingDeadlineSeconds successfulJobsHistoryLimit "
    "failedJobsHistoryLimit suspend "
    # runs, and where each task stands in them
    "entrypoint workflowTemplateRef description "
    "depends dependencies withItems withParam withSequence start end count format when template templateRef inline "
    # values and files
    "default value valueFrom parameter expression path enum globalName from fromExpression "
    "mode archive optional "
    # policies
    "limit retryPolicy backoff duration factor maxDuration "
    "retryStrategy activeDeadlineSeconds timeout memoize synchronization daemon failFast target "
    "key cache maxAge "
    # containers
    "image command args workingDir source "
    "env envFrom imagePullPolicy resources volumeMounts "
    # requests, objects of Kubernetes
    "url method headers body action "
    "parameters artifacts"
)
_LATE = (
    "arguments parallelism ttlStrategy podGC priority volumes volumeClaimTemplates "
    "initContainers sidecars podSpecPatch inputs outputs "
    "container script steps dag tasks resource http data containerSet plugin "
    "continueOn onExit hooks templateDefaults templates workflowSpec workflowMetadata manifest status"
)
_RANK = {key: start + rank for start, keys in ((0, _EARLY), (2000, _LATE)) for rank, key in enumerate(keys.split())}
_BETWEEN, _UNKNOWN = 1000, 9000


def arranged(data: JSON) -> JSON:
    """A document with its fields in their order. It may be the same object, changed."""
    kind = data.get("kind")
    shape = document_shape(kind) if isinstance(kind, str) else None
    return data if shape is None else _object(data, shape)


class _Plan(NamedTuple):
    """What objects with the same keys have in common: the order of these, and which of them lead further."""

    order: tuple[str, ...] | None  # None where they stand in it already
    inner: tuple[tuple[str, Shape], ...]


_plans: dict[tuple[int, tuple[str, ...]], _Plan] = {}  # thousands of tasks have the same few keys


def _object(value: JSON, shape: Shape) -> JSON:
    keys = tuple(value)
    plan = _plans.get((id(shape), keys))
    if plan is None:
        plan = _plan(shape, keys)
    for key, expected in plan.inner:
        item = value[key]
        if isinstance(item, dict | list):
            value[key] = _value(item, expected, key)
    return value if plan.order is None else {key: value[key] for key in plan.order}


def _plan(shape: Shape, keys: tuple[str, ...]) -> _Plan:
    fields = shape.fields
    order = tuple(sorted(keys, key=lambda key: _place(key, fields))) if fields else keys
    found = ((key, fields.get(key, shape.inside)) for key in keys)
    inner = tuple((key, expected) for key, expected in found if expected is not None and _leads_further(key, expected))
    made = _Plan(None if order == keys else order, inner)
    if fields and len(_plans) < 10_000:  # keys that people name are as many as there are people
        _plans[id(shape), keys] = made
    return made


def _leads_further(key: str, shape: Shape) -> bool:
    return shape.kind in ("object", "array") or key == "inline"


def _place(key: str, fields: dict[str, Shape]) -> tuple[int, str]:
    """Unknown fields come last, as they stand."""
    return (_RANK.get(key, _BETWEEN), key) if key in fields else (_UNKNOWN, "")


def _value(value: Any, shape: Shape, key: str) -> Any:
    if isinstance(value, dict):
        if shape.kind == "object":
            return _object(value, shape)
        return _object(value, template_shape()) if key == "inline" else value
    if isinstance(value, list) and shape.inside is not None:
        inside = shape.inside
        if inside.kind != "scalar":
            return [_value(item, inside, "") for item in value]
    return value
