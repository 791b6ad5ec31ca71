"""Templates as statements."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.native.interface import input_names
from couler_py.backends.argo.native.printing.literals import keywords, named
from couler_py.backends.argo.native.printing.members import members
from couler_py.backends.argo.native.printing.scope import Scope
from couler_py.backends.argo.native.printing.tasks import task_call
from couler_py.backends.argo.schema.checking import template_schema
from couler_py.printer.layout import Doc, broken, call, columns, statement
from couler_py.printer.literal import quoted

FUNCTIONS = {
    "container": "argo.container",
    "script": "argo.script",
    "resource": "argo.resource",
    "suspend": "argo.suspend",
    "http": "argo.http",
    "data": "argo.data",
    "containerSet": "argo.container_set",
    "plugin": "argo.plugin",
    "dag": "argo.dag",
    "steps": "argo.steps",
}
MARGIN = 4


def template_lines(given: dict[str, Any], scope: Scope, used: frozenset[str]) -> list[str]:
    """The statements that write a template; variables in `used` are assigned.

    Raises `TypeError` for what none writes.
    """
    name = given["name"]
    kinds = [kind for kind in FUNCTIONS if given.get(kind) is not None]
    kind = kinds[0] if len(kinds) == 1 else ""
    if kind == "steps" and not _is_steps(given[kind]):
        kind = ""
    if kind == "dag" and not (isinstance(given[kind], dict) and _is_group(given[kind].get("tasks"))):
        kind = ""
    if kind in ("dag", "steps"):
        return _graph(given, kind, scope, used)
    fields = _fields(given, kind, scope)
    variable = scope.define_template(name, input_names(given))
    made = call(FUNCTIONS.get(kind, "argo.template"), quoted(name), *fields)
    return _indented(statement(f"{variable} = " if variable in used else "", made, MARGIN))


def _fields(given: dict[str, Any], kind: str, scope: Scope) -> list[Doc]:
    found: list[Doc] = []
    for key, item in given.items():
        if key == "name":
            continue
        if key in ("inputs", "outputs"):
            found.append(named(key, members(item, scope)))
        elif kind and key == kind:
            found += _body(kind, item, scope) if kind != "steps" else []
        else:
            found += keywords({key: item}, scope)
    return found


def _body(kind: str, body: Any, scope: Scope) -> list[Doc]:
    """The fields of a body side by side with the template's, and in a dict of their own where both have the name."""
    known = template_schema()["properties"]
    inner = known[kind].get("properties", {})
    if not isinstance(body, dict):
        raise TypeError(f"{kind} is no object")
    flat_ones = {k: v for k, v in body.items() if k in inner and k not in known and v is not None and k != "tasks"}
    rest = {k: v for k, v in body.items() if k not in flat_ones and not (kind == "dag" and k == "tasks")}
    return [*keywords(flat_ones, scope), *(keywords({kind: rest}, scope) if rest else ())]


def _graph(given: dict[str, Any], kind: str, scope: Scope, used: frozenset[str]) -> list[str]:
    head = call(FUNCTIONS[kind], quoted(given["name"]), *_fields(given, kind, scope))
    inner = scope.graph("steps" if kind == "steps" else "dag")
    body: list[str] = []
    if kind == "dag":
        for task in given["dag"]["tasks"]:
            body += _task(task, inner, used, 2 * MARGIN)
    else:
        for group in given["steps"]:
            body += _group(group, inner, used)
    variable = scope.define_template(
        given["name"], input_names(given)
    )  # after its tasks: one that calls its own template names it
    named_as = f" as {variable}" if variable in used else ""
    if not body and not named_as:
        return _indented(statement("", head, MARGIN))
    body = body or [" " * 2 * MARGIN + "pass"]
    return [*_indented(with_line(head, named_as, MARGIN)), *body]


def _group(group: list[Any], scope: Scope, used: frozenset[str]) -> list[str]:
    if len(group) == 1:
        return _task(group[0], scope, used, 2 * MARGIN)
    found = [" " * 2 * MARGIN + "with argo.parallel():"]
    for step in group:
        found += _task(step, scope, used, 3 * MARGIN)
    return found if group else [*found, " " * 3 * MARGIN + "pass"]


def _task(given: dict[str, Any], scope: Scope, used: frozenset[str], margin: int) -> list[str]:
    made = task_call(given, scope)
    name = given.get("name", "")
    variable = scope.define_task(name) if name else ""
    return _indented(statement(f"{variable} = " if variable in used else "", made, margin), margin)


def with_line(head: Doc, named_as: str, margin: int) -> str:
    """The line that opens a block: its call laid out as an expression of a statement is."""
    width = 120 - margin
    return f"with {broken(head, 0, 5, columns(named_as) + 1, width)}{named_as}:"


def _indented(source: str, margin: int = MARGIN) -> list[str]:
    return [" " * margin + line if line else line for line in source.split("\n")]


def _is_group(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(each, dict) for each in given)


def _is_steps(given: Any) -> bool:
    return isinstance(given, list) and all(_is_group(each) for each in given)
