"""What a validator of JSON schemas refuses, said so that a person can mend it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from couler_py.backends.argo.lint.context import Engine
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.versions import LISTS, removed, unknown_to_35
from couler_py.backends.argo.paths import dotted

JSON = dict[str, Any]

_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
}


_PATTERNS = {
    "^(\\+|-)?(([0-9]+": "a quantity, as 500m, 2 or 1Gi",
    "^(@(yearly": "five fields of cron, @daily and the like, or @every with a duration",
    "^[-a-zA-Z0-9_]+$": "a name of letters, digits, `-` and `_`",
    "^[-a-zA-Z0-9_{}.]+$": "a name of letters, digits, `-` and `_`",
    "^[a-zA-Z0-9][-a-zA-Z0-9]*$": "a name of letters, digits and `-`, without `-` in front",
    "^\\d{4}-\\d\\d-": "a moment, as 2024-01-31T12:00:00Z",
    "^([a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9]": "letters, digits, `-`, `_` and `.`, perhaps behind a domain and `/`",
    "^[a-zA-Z_][a-zA-Z0-9_]*$": "a name of letters, digits and `_`, without a digit in front",
}
"""What patterns of the schema mean, by how they begin."""

IN_QUOTES = "write it in quotes: without, Kubernetes reads a number or a boolean"
"""The help for a number or a boolean where text is wanted."""


def findings(problem: Any, path: Path, engine: Engine, schema: JSON, newest: JSON) -> Iterator[Finding]:
    """The findings of one refusal; `path` is where, `schema` that of the engine, `newest` that of Argo 4."""
    name, kind = problem.kind.name, problem.kind
    if problem.instance is None and path and isinstance(path[-1], str):
        # Kubernetes drops a field that is null before it checks anything; an item of a list it doesn't.
        if path[-1] in at(schema, path[:-1]).get("required", ()):
            yield _missing(path[-1], path[:-1])
    elif name == "additionalProperties":
        known = at(schema, path).get("properties", {})
        for field in kind.unexpected:
            if engine == "3.5" and field in at(newest, path).get("properties", {}):
                yield unknown_to_35((*path, field))
            else:
                yield removed((*path, field)) or _unknown(field, path, known, problem.instance)
    elif name == "required":
        if not any(new == kind.property and old in problem.instance for old, new in LISTS.items()):
            yield _missing(kind.property, path)
    elif name == "type":
        yield _type(kind.types, problem.instance, path)
    else:
        yield Finding("CLR423", *_value(name, kind, problem, path))


TEMPLATE: JSON = {"$ref": "#/$defs/template"}
"""A template in a schema: in tasks they may stand as well, at any depth."""


def at(schema: JSON, path: Path) -> JSON:
    """The part of a schema that a path leads to; empty where anything may stand."""
    found: Any = schema
    for step in path:
        if found == TEMPLATE:
            found = schema["$defs"]["template"]
        if isinstance(step, int):
            found = found.get("items", {})
        else:
            inner = found.get("properties", {}).get(step)
            found = found.get("additionalProperties", {}) if inner is None else inner
        if not isinstance(found, dict):
            return {}
    return schema["$defs"]["template"] if found == TEMPLATE else found  # type: ignore[no-any-return]


def where(path: Path) -> str:
    """A path as Kubernetes writes it.

    >>> where(("spec", "templates", 0, "name"))
    '`spec.templates[0].name`'
    """
    return f"`{dotted(path)}`" if path else "the document"


def _unknown(field: str, path: Path, known: JSON, given: JSON) -> Finding:
    near = difflib.get_close_matches(field, [each for each in known if each not in given], 1, 0.7)
    if near:
        help_ = f"did you mean {near[0]!r}?"
    elif 0 < len(known) <= 12:
        help_ = f"its fields are {', '.join(sorted(known))}"
    else:
        help_ = "take it away, or look where it belongs: a field that is indented wrongly ends up elsewhere"
    return Finding("CLR422", f"{where(path)} has no field {field!r}", (*path, field), on="key", help=help_)


def _missing(field: str, path: Path) -> Finding:
    help_ = "write `metadata` with a `name` or a `generateName`" if not path and field == "metadata" else ""
    return Finding("CLR424", f"{where(path)} has no {field!r}, and needs one", (*path, field), on="key", help=help_)


def _type(types: list[str], given: Any, path: Path) -> Finding:
    expected = " or ".join(_TYPES[each] for each in types)
    return Finding("CLR423", f"{where(path)} takes {expected}, not {_shown(given)}", path, help=_mended(types, given))


def _mended(types: list[str], given: Any) -> str:
    if given is None:
        return "write a value, or take the item away"
    if types == ["string"] and isinstance(given, bool | int | float):
        return IN_QUOTES
    if isinstance(given, str) and "integer" in types and given.lstrip("-").isdecimal():
        return f"write {given}, without quotes"
    if isinstance(given, str) and "boolean" in types and given in ("true", "false"):
        return f"write {given}, without quotes"
    if "array" in types and not isinstance(given, dict | list):
        return "write it as an item: `- ` in front"
    if "array" in types and isinstance(given, dict):
        return "write it as an item: `- ` in front of its first field"
    if isinstance(given, list) and len(given) == 1 and types == ["object"]:
        return "take the `- ` away"
    return ""


def _value(name: str, kind: Any, problem: Any, path: Path) -> tuple[str, Path]:
    """The message for a value of the right type that isn't allowed, and where it is about."""
    given, place = problem.instance, where(path)
    if name == "enum":
        return f"{place} is one of {', '.join(map(str, kind.options))}, not {_shown(given)}", path
    if name in ("maximum", "minimum"):
        bound = "most" if name == "maximum" else "least"
        return f"{place} is at {bound} {kind.limit}, not {given}", path
    if name == "maxItems":
        return f"{place} has {len(given)} items, and Argo takes at most {kind.limit}", (*path, kind.limit)
    if name == "minItems":
        return f"{place} has {len(given)} items, and Argo wants at least {kind.limit}", path
    if name == "maxLength":
        return f"{place} has {len(given)} characters, and Argo takes at most {kind.limit}", path
    if name == "minLength":
        return f"{place} is empty" if kind.limit == 1 else f"{place} has fewer than {kind.limit} characters", path
    if name == "pattern":
        wanted = next((words for start, words in _PATTERNS.items() if kind.pattern.startswith(start)), "")
        return f"{place} is {wanted or f'text that matches {kind.pattern}'}, not {_shown(given)}", path
    if name == "uniqueItems":
        again = next(index for index, each in enumerate(given) if each in given[:index])
        return f"{place} has the item {_shown(given[again])} twice", (*path, again)
    return f"{place}: {problem.message[:300]}", path


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
