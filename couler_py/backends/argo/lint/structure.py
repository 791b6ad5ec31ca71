"""A document held against the strict schema of its kind: what the schema refuses, and the document without it."""

from __future__ import annotations

import copy
import functools
from typing import Any

from couler_py.backends.argo.lint.context import Crds, Engine
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.metadata import OBJECT_META
from couler_py.backends.argo.lint.refusals import findings
from couler_py.backends.argo.schema import schema

JSON = dict[str, Any]

_EMPTY: dict[str, Any] = {"object": {}, "array": [], "string": "", "boolean": False, "integer": 0, "number": 0}


def checked(document: JSON, engine: Engine, crds: Crds) -> tuple[list[Finding], JSON]:
    """What the schema refuses, and the document without what has a wrong type.

    With minimal CRDs the API server checks nothing and the controller reads the same fields: only the lengths of lists
    don't count then.
    """
    found: list[Finding] = []
    wrong: list[tuple[Path, str]] = []
    kind = document["kind"]
    for problem in _validator(kind, engine).iter_errors(document):
        path: Path = tuple(problem.instance_path)
        name = problem.kind.name
        if name == "type":
            wrong.append((path, problem.kind.types[0]))
        if name == "maxItems" and crds == "minimal":
            continue
        found += findings(problem, path, engine, strict(kind, engine), strict(kind, "4"))
    return found, _without(document, wrong)


@functools.cache
def strict(kind: str, engine: Engine) -> JSON:
    """The schema of a kind, `metadata` included: the CRDs leave that to the API server."""
    full = schema(kind, "full" if engine == "4" else "full-3.5")
    return full | {"properties": full["properties"] | {"metadata": OBJECT_META}}


@functools.cache
def _validator(kind: str, engine: Engine) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(strict(kind, engine))


def _without(document: JSON, wrong: list[tuple[Path, str]]) -> JSON:
    """A copy in which a field of a wrong type is missing, and an item of a list is an empty one of the right type."""
    if not wrong:
        return document
    sound = copy.deepcopy(document)
    for path, expected in wrong:
        parent: Any = sound
        for step in path[:-1]:
            parent = parent[step]
        last: Any = path[-1]
        if isinstance(parent, list):
            parent[last] = copy.copy(_EMPTY[expected])
        else:
            del parent[last]
    return sound
