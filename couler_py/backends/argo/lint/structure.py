"""A document held against the strict schema of its kind: what the schema refuses, and the document without it."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from typing import Any

from couler_py.backends.argo.lint.context import Crds, Engine
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.metadata import OBJECT_META
from couler_py.backends.argo.lint.refusals import TEMPLATE, at, findings
from couler_py.backends.argo.lint.versions import LISTS
from couler_py.backends.argo.schema import schema

JSON = dict[str, Any]

_EMPTY: dict[str, Any] = {"object": {}, "array": [], "string": "", "boolean": False, "integer": 0, "number": 0}


def checked(document: JSON, engine: Engine, crds: Crds) -> tuple[list[Finding], JSON]:
    """What the schema refuses, and the document as rules see it (`Context` says how).

    With minimal CRDs the API server checks nothing and the controller reads the same fields: only the lengths of lists
    don't count then.
    """
    kind = document["kind"]
    problems = list(_validator(kind, engine).iter_errors(document))
    found = [
        finding
        for problem in problems
        if not (problem.kind.name == "maxItems" and crds == "minimal")
        for finding in findings(problem, tuple(problem.instance_path), engine, strict(kind, engine), strict(kind, "4"))
    ]
    sound = _without(document, problems)
    listed = _in_lists(sound)
    if listed is not sound or engine == "3.5":  # rules read what only the newest version knows, too
        listed = _without(listed, list(_validator(kind, "4").iter_errors(listed)))
    return found, listed


@functools.cache
def strict(kind: str, engine: Engine) -> JSON:
    """The schema of a kind, with what the CRDs leave open and Argo reads all the same.

    That is `metadata`, which is the API server's, `withItems`, and templates that stand inside tasks.
    """
    full = _with(schema(kind, "full" if engine == "4" else "full-3.5"), ("metadata",), OBJECT_META)
    spec = ("spec", "workflowSpec") if kind == "CronWorkflow" else ("spec",)
    template = at(full, (*spec, "templates", 0))
    task = _called(at(template, ("dag", "tasks", 0)))
    step = _called(at(schema("Workflow"), ("spec", "templates", 0, "steps", 0, 0)))
    template = _with(_with(template, ("dag", "tasks", 0), task), ("steps", 0), {"type": "array", "items": step})
    return _with(full, (*spec, "templates", 0), TEMPLATE) | {"$defs": {"template": template}}


def _called(task: JSON) -> JSON:
    return _with(_with(task, ("inline",), TEMPLATE), ("withItems",), {"type": "array"})


def _with(schema: JSON, path: Path, part: JSON) -> JSON:
    """A schema in which a path leads to this part; it shares all else with the one given."""
    if not path:
        return part
    step, *rest = path
    if isinstance(step, int):
        return schema | {"items": _with(schema.get("items", {}), tuple(rest), part)}
    inner = _with(schema["properties"][step], tuple(rest), part)
    return schema | {"properties": schema["properties"] | {step: inner}}


@functools.cache
def _validator(kind: str, engine: Engine) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(strict(kind, engine))


def _without(document: JSON, problems: list[Any]) -> JSON:
    """A copy with empty mappings and lists in the place of what should be some, and without other wrong values."""
    wrong = [problem for problem in problems if problem.kind.name == "type"]
    if not wrong:
        return document
    sound = copy.deepcopy(document)
    for problem in wrong:
        empty = None if problem.instance is None else _EMPTY[problem.kind.types[0]]
        *way, last = problem.instance_path
        parent: Any = sound
        for step in way:
            parent = parent[step]
        if isinstance(parent, list):
            parent[last] = copy.copy(_EMPTY[problem.kind.types[0]])
        elif isinstance(empty, dict | list):
            parent[last] = copy.copy(empty)
        else:
            del parent[last]
    return sound


def _in_lists(document: JSON) -> JSON:
    """A copy in which what was one field before Argo 3.6, as `mutex`, is the list that it became."""
    if not any(True for _ in _single(document)):
        return document
    document = copy.deepcopy(document)
    for fields, old in list(_single(document)):
        fields[LISTS[old]] = [fields.pop(old)]
    return document


def _single(document: JSON) -> Iterator[tuple[JSON, str]]:
    spec = document.get("spec", {})
    inner = spec.get("workflowSpec", spec)
    holders = (inner, inner.get("templateDefaults", {}), *inner.get("templates", ()))
    for fields in (spec, *(each["synchronization"] for each in holders if "synchronization" in each)):
        for old, new in LISTS.items():
            if old in fields and new not in fields:
                yield fields, old
