"""Whether data has the structure of Argo's objects: objects, lists and scalars where the CRDs have them.

Only this much has to hold before a document can be read. Everything else that can be wrong with one (names, enums,
what is missing) travels with it, and the linter says it.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from couler_py.backends.argo.paths import Path
from couler_py.backends.argo.schema import PLURALS, schema
from couler_py.backends.yaml import MAX_INDENTATIONS

MAX_DEPTH = MAX_INDENTATIONS
"""What is nested deeper couldn't be written again."""


class Shape(NamedTuple):
    """What the schema says about a place: its kind, and what is inside."""

    kind: str  # "object", "array", "scalar", or "" for anything
    fields: dict[str, Shape]
    inside: Shape | None  # of a list's items, or of any other key
    closed: bool


class Structure(NamedTuple):
    """What was found: places of a wrong kind with what was expected, and fields that Argo doesn't know."""

    wrong: list[tuple[Path, str]]
    unknown: list[Path]


def structure(data: dict[str, Any], kind: str) -> Structure:
    """Hold a document against its kind; `metadata` and `status` are the API server's own."""
    found = Structure([], [])
    shape = document_shape(kind)
    assert shape is not None
    if depth(data) > MAX_DEPTH:
        found.wrong.append((("spec",), f"at most {MAX_DEPTH} collections in each other"))
        return found
    _object(data, shape, [], found)
    return found


def depth(value: Any) -> int:
    """How many collections stand in each other at most, the value itself counted."""
    if not isinstance(value, dict | list):
        return 0
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)


def is_template(value: Any) -> bool:
    """Whether a value can be read as a template: the CRDs leave open what is written inside a task."""
    if not isinstance(value, dict):
        return False
    found = Structure([], [])
    _object(value, template_shape(), [], found)
    return not found.wrong


@functools.cache
def document_shape(kind: str) -> Shape | None:
    """The shape of documents of a kind; None for a kind that isn't Argo's."""
    if kind not in PLURALS:
        return None
    shape = _shape(schema(kind))
    fields = shape.fields | {"status": _ANYTHING, "metadata": _METADATA}
    return Shape("object", {**fields, "apiVersion": _SCALAR, "kind": _SCALAR}, None, True)


@functools.cache
def template_shape() -> Shape:
    """The shape of templates."""
    document = document_shape("Workflow")
    assert document is not None
    found = document.fields["spec"].fields["templates"].inside
    assert found is not None
    return found


_ANYTHING = Shape("", {}, None, False)
_SCALAR = Shape("scalar", {}, None, False)
_METADATA = Shape(
    "object",
    dict.fromkeys(("name", "generateName", "namespace", "labels", "annotations", "finalizers"), _ANYTHING),
    None,
    False,
)


def _shape(node: dict[str, Any]) -> Shape:
    kind = node.get("type")
    if kind == "object":
        more = node.get("additionalProperties", True)
        return Shape(
            "object",
            {key: _shape(each) for key, each in node.get("properties", {}).items()},
            _shape(more) if isinstance(more, dict) else None,
            more is False,
        )
    if kind == "array":
        return Shape("array", {}, _shape(node.get("items", {})), False)
    return _SCALAR if kind is not None else _ANYTHING


def _object(value: dict[str, Any], shape: Shape, path: list[str | int], found: Structure) -> None:
    fields, inside = shape.fields, shape.inside
    for key, item in value.items():
        expected = fields.get(key, inside)
        if expected is None:
            if shape.closed:
                found.unknown.append((*path, key))
        elif item is not None and (expected.kind != "scalar" or isinstance(item, dict | list)):
            path.append(key)
            _value(item, expected, path, found)
            path.pop()


def _value(value: Any, shape: Shape, path: list[str | int], found: Structure) -> None:
    kind = shape.kind
    if kind == "object" and isinstance(value, dict):
        _object(value, shape, path, found)
    elif kind == "array" and isinstance(value, list):
        inside = shape.inside
        assert inside is not None
        for index, item in enumerate(value):
            path.append(index)
            _value(item, inside, path, found)
            path.pop()
    elif kind == "scalar":
        if value is None or isinstance(value, dict | list):
            found.wrong.append((tuple(path), "a single value"))
    elif kind:
        found.wrong.append((tuple(path), "an object" if kind == "object" else "a list"))
