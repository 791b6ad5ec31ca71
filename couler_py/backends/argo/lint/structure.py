"""A document held against the strict schema of its kind: findings that say what to write, and what may stand."""

from __future__ import annotations

import copy
import difflib
import functools
from collections.abc import Iterator
from typing import Any

from couler_py.backends.argo.lint.context import Crds, Engine
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.metadata import OBJECT_META
from couler_py.backends.argo.schema import schema

JSON = dict[str, Any]

_EMPTY: dict[str, Any] = {"object": {}, "array": [], "string": "", "boolean": False, "integer": 0, "number": 0}
_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
}


def checked(document: JSON, engine: Engine, crds: Crds) -> tuple[list[Finding], JSON]:
    """What the schema refuses, and the document without what has a wrong type."""
    found: list[Finding] = []
    wrong: list[tuple[Path, str]] = []
    for problem in validator(document["kind"]).iter_errors(document):
        path: Path = tuple(problem.instance_path)
        name = problem.kind.name
        if name == "type":
            wrong.append((path, problem.kind.types[0]))
        if name in ("maxItems", "minItems") and crds == "minimal":
            continue
        found += _findings(name, problem, path, document)
    return found, _without(document, wrong)


@functools.cache
def validator(kind: str) -> Any:
    """The validator of a kind, `metadata` included (the CRDs leave that to the API server)."""
    import jsonschema_rs

    full = schema(kind)
    return jsonschema_rs.validator_for(full | {"properties": full["properties"] | {"metadata": OBJECT_META}})


def _without(document: JSON, wrong: list[tuple[Path, str]]) -> JSON:
    if not wrong:
        return document
    sound = copy.deepcopy(document)
    for path, expected in wrong:
        parent: Any = sound
        for step in path[:-1]:
            parent = parent[step]
        last: Any = path[-1] if path else None
        if isinstance(parent, list):
            parent[last] = copy.copy(_EMPTY[expected])
        else:
            del parent[last]
    return sound


def _findings(name: str, problem: Any, path: Path, document: JSON) -> Iterator[Finding]:
    if name == "additionalProperties":
        known = _schema_at(document["kind"], path).get("properties", {})
        for field in problem.kind.unexpected:
            yield _unknown(field, path, known, problem.instance)
        return
    yield Finding("CLR422", _message(name, problem, path), path)


def _unknown(field: str, path: Path, known: JSON, given: JSON) -> Finding:
    near = difflib.get_close_matches(field, [each for each in known if each not in given], 1, 0.7)
    where = _name(path)
    return Finding(
        "CLR422",
        f"{where} has no field {field!r}",
        (*path, field),
        on="key",
        help=f"did you mean {near[0]!r}?" if near else _fields(known),
    )


def _fields(known: JSON) -> str:
    return f"its fields are {', '.join(sorted(known))}" if 0 < len(known) <= 12 else ""


def _schema_at(kind: str, path: Path) -> JSON:
    found: Any = schema(kind)
    if path[:1] == ("metadata",):
        found, path = OBJECT_META, path[1:]
    for step in path:
        if isinstance(step, int):
            found = found.get("items", {})
        else:
            inner = found.get("properties", {}).get(step)
            found = found.get("additionalProperties", {}) if inner is None else inner
        if not isinstance(found, dict):
            return {}
    return found  # type: ignore[no-any-return]


def _name(path: Path) -> str:
    """The place as Kubernetes writes it."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return f"`{text}`" if text else "the document"


def _message(name: str, problem: Any, path: Path) -> str:
    kind, given, where = problem.kind, problem.instance, _name(path)
    if name == "required":
        return f"{where} has no {kind.property!r}, and needs it"
    if name == "type":
        return f"{where} takes {' or '.join(_TYPES[each] for each in kind.types)}, not {_shown(given)}"
    if name == "enum":
        return f"{where} is one of {', '.join(map(str, kind.options))}, not {_shown(given)}"
    return f"{where}: {problem.message[:300]}"


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = repr(value)
    return f"the number {text}" if isinstance(value, int | float) else text if len(text) <= 60 else text[:57] + "...'"
