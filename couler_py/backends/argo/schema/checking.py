"""Checks what is written against the schema of Argo's CRDs, at the line where it is written."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from couler_py.backends.argo.schema import schema
from couler_py.dsl.problems import RecordingError, fail, problem

JSON = dict[str, Any]
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "True or False",
    "array": "a list",
    "object": "a dict",
}


@cache
def spec_schema(kind: str) -> JSON:
    """The schema of the `spec` of documents of a kind."""
    found: JSON = schema(kind)["properties"]["spec"]
    return found


@cache
def template_schema() -> JSON:
    """The schema of one template."""
    found: JSON = spec_schema("Workflow")["properties"]["templates"]["items"]
    return found


@cache
def task_schema(form: str) -> JSON:
    """The schema of one task of a dag, or (form "steps") of one step."""
    template = template_schema()["properties"]
    found: JSON
    found = template["steps"]["items"]["items"] if form == "steps" else template["dag"]["properties"]["tasks"]["items"]
    return found


def check(value: Any, node: JSON, place: str, about: str = "") -> None:
    """Hold plain JSON data against a schema: fields, types and enumerated values.

    What only a whole document shows (required fields, bounds, CEL rules) is for the linter. `about` names the template
    or document in messages. Raises `RecordingError`: CLR190 for an unknown field, CLR191 for a wrong value.
    """
    if value is None:  # Kubernetes drops fields without a value
        return
    _check_type(value, node, place, about)
    if isinstance(value, dict):
        known = node.get("properties")
        more = node.get("additionalProperties")
        for name, item in value.items():
            inside = f"{place}.{name}" if place else name
            if known is not None and name in known:
                check(item, known[name] or _inline(name), inside, about)
            elif isinstance(more, dict):
                check(item, more, inside, about)
            elif known is not None and more is False:
                raise unknown(name, known, place, about, _as_member(name, item, place))
    elif isinstance(value, list) and "items" in node:
        for number, item in enumerate(value):
            check(item, node["items"], f"{place}[{number}]", about)


def unknown(name: str, known: Iterable[str], place: str, about: str = "", way_out: str = "") -> RecordingError:
    """The error for a field that isn't there; without a field of a like name, it says the `way_out`."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, 1)
    return problem(
        "CLR190",
        f"{place or 'it'} has no field {name!r}",
        step=about,
        help=f"did you mean {near[0]!r}?" if near else way_out or f"the fields are {', '.join(names)}",
    )


def _as_member(name: str, value: Any, place: str) -> str:
    """How a value is given that stands in `arguments` under its name, as in {"last": "D"}."""
    if place.rpartition(".")[2] != "arguments":
        return ""
    return f"write arguments=[argo.parameter({json.dumps(name)}, {_shown(value)})]"


def _inline(name: str) -> JSON:
    # The CRDs leave `inline` open, since a schema can't hold itself.
    return template_schema() if name == "inline" else {}


def _check_type(value: Any, node: JSON, place: str, about: str) -> None:
    kinds = node.get("type")
    if kinds is not None:
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if not any(_is(value, kind) for kind in kinds):
            wanted = " or ".join(_WORDS[kind] for kind in kinds)
            fail(
                "CLR191",
                f"{place} is {_shown(value)}, and takes {wanted}",
                step=about,
                help=_way_out(value, kinds),
            )
    if "enum" in node and value not in node["enum"]:
        words = ", ".join(repr(each) for each in node["enum"] if each)
        near = difflib.get_close_matches(str(value), [str(each) for each in node["enum"]], 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near and near[0] else ""
        fail("CLR191", f"{place} is {_shown(value)}, and takes one of {words}", step=about, help=hint)


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _way_out(value: Any, kinds: list[str]) -> str:
    if "string" in kinds and isinstance(value, bool | int | float):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return f'write it in quotes: "{text}"'
    if kinds == ["array"]:
        return "put it into a list"
    if kinds == ["integer"] and isinstance(value, str) and "{{" in value:
        return "Argo fills nothing in here: the API server takes a number only"
    return ""
