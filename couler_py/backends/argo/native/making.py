"""What the functions for templates share: from fields side by side to a template as Argo has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from couler_py.backends.argo.native.calls import GraphTemplate, Template
from couler_py.backends.argo.native.interface import input_names, members
from couler_py.backends.argo.native.recording import Graph, Recording, current
from couler_py.backends.argo.native.tasks import Form
from couler_py.backends.argo.native.values import plain
from couler_py.backends.argo.schema.checking import JSON, check, template_schema, unknown
from couler_py.dsl.problems import fail

Made = TypeVar("Made", bound=Template)


def make(name: str, body: str, inputs: Any, outputs: Any, fields: Mapping[str, Any]) -> Template:
    """A template with a body of a kind ("" for one whose fields say which), added to the document in progress."""
    into = current(f"the template {name!r}")
    return _with_inputs(Template(_add(name, body, inputs, outputs, fields)), into)


def _with_inputs(made: Made, into: Recording) -> Made:
    made.inputs = input_names(into.templates[str.__str__(made)])
    return made


def make_graph(name: str, form: Form, inputs: Any, outputs: Any, fields: Mapping[str, Any]) -> GraphTemplate:
    """A dag or steps template, whose tasks are those written under `with`."""
    into = current(f"the template {name!r}")
    made = _with_inputs(GraphTemplate(_add(name, form, inputs, outputs, fields)), into)
    made._graph = Graph(into, plain(name), form)
    written = into.templates[plain(name)]
    if form == "dag":
        made._graph.tasks = written["dag"].setdefault("tasks", [])
    else:
        made._graph.groups = written["steps"]
    return made


def _add(name: str, body: str, inputs: Any, outputs: Any, fields: Mapping[str, Any]) -> str:
    into = current(f"the template {name!r}")
    found: JSON = {"name": plain(name)}
    for key, given in (("inputs", inputs), ("outputs", outputs)):
        if given is not None:
            found[key] = members(given, key)
    known = template_schema()["properties"]
    inner = known[body].get("properties", {}) if body else {}
    own: JSON = {}
    for key, value in fields.items():
        if value is None:
            continue
        if key in known:
            found[key] = plain(value, key)
        elif key in inner:
            own[key] = plain(value, key)
        elif not into.checked:
            found[key] = plain(value, key)
        else:
            raise unknown(key, {*known, *inner}, f"a template of kind {body}" if body else "a template", name)
    if body and body != "steps":
        whole = found.setdefault(body, {})
        if isinstance(whole, dict):
            if twice := sorted(whole.keys() & own.keys()):
                fail("CLR193", f"{body}.{twice[0]} is given twice", step=name)
            whole |= own
    elif body:
        found.setdefault("steps", [])
    if into.checked:
        check(found, template_schema(), "", name)
    into.add(found)
    return str.__str__(name)
