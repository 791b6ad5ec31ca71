"""Inputs, outputs and arguments as lists of their members, where that says all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from couler_py.backends.argo.native.printing.literals import identifiers, named, value
from couler_py.backends.argo.native.printing.scope import Scope
from couler_py.backends.argo.schema.checking import template_schema
from couler_py.printer.layout import Doc, Group, call
from couler_py.printer.literal import quoted


def members(given: Any, scope: Scope) -> Doc:
    """The members as a list, or Argo's own form."""
    if given is None:
        return "argo.null"
    if isinstance(given, Mapping) and given and given.keys() <= {"parameters", "artifacts"} and all(given.values()):
        found = [_parameter(each, scope) for each in _listed(given.get("parameters"))]
        found += [_artifact(each, scope) for each in _listed(given.get("artifacts"))]
        if None not in found:
            return Group("[", tuple(each for each in found if each is not None), "]")
    return value(given, scope)


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    return given if isinstance(given, list) else [None]


def _parameter(given: Any, scope: Scope) -> Doc | None:
    if not _fits(given, "parameters"):
        return None
    if given.keys() == {"name"}:
        return quoted(given["name"])
    if not all(isinstance(given.get(key, ""), str) for key in ("value", "default")):
        return None
    rest = {key: item for key, item in given.items() if key not in ("name", "value")}
    first = [value(given["value"], scope)] if "value" in given else []
    return call("argo.parameter", quoted(given["name"]), *first, *(named(key, value(rest[key], scope)) for key in rest))


def _artifact(given: Any, scope: Scope) -> Doc | None:
    if not _fits(given, "artifacts"):
        return None
    if not all(isinstance(given.get(key, ""), str) for key in ("path", "from")):
        return None
    rest = {key: item for key, item in given.items() if key not in ("name", "path")}
    first = [value(given["path"], scope)] if "path" in given else []
    fields = [named("from_" if key == "from" else key, value(item, scope)) for key, item in rest.items()]
    return call("argo.artifact", quoted(given["name"]), *first, *fields)


def _fits(given: Any, kind: str) -> bool:
    """Whether all that it says are fields of such a member, with values."""
    if not isinstance(given, dict) or not isinstance(given.get("name"), str) or None in given.values():
        return False
    known = template_schema()["properties"]["inputs"]["properties"][kind]["items"]["properties"]
    return given.keys() <= known.keys() and identifiers(key for key in given if key != "from")
