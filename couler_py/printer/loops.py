"""Loops as calls of `couler.loop`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from couler_py.ir.model import Graph, Loop, Task, Template
from couler_py.printer.calls import form_of, outputs_of
from couler_py.printer.expressions import Expressions, Result
from couler_py.printer.layout import Doc, Group, Named, call, keyword
from couler_py.printer.literal import quoted
from couler_py.printer.names import is_identifier
from couler_py.printer.options import UnsayableError
from couler_py.printer.structs import construct

if TYPE_CHECKING:
    from couler_py.printer.graphs import GraphText

ITERATIONS = 50


def loop(graph: GraphText, task: Task, template: Template) -> tuple[Doc, list[str]]:
    """The call of a loop, and the function of its body where that has several steps."""
    body = template.body
    assert isinstance(body, Loop)
    inner = graph.around.templates.get(body.body)
    if inner is None or not _plain(template):
        raise UnsayableError("settings of a loop")
    carried = [carry.input for carry in body.carry]
    if any(not is_identifier(name) for name in carried) or len(set(carried)) < len(carried):
        raise UnsayableError("a carried value that is no name")
    name: Doc | None = None
    if isinstance(inner.body, Graph):
        function, before = graph._in_place(task, inner, tuple(carried))
        name = _name(graph, task, template, function)
        what: Doc = function
    else:
        what, before = _step(graph, task, inner, carried), []
        name = _name(graph, task, template, f"{inner.name}-loop")
    named: list[Doc] = [keyword("until", _until(graph, body, inner, template))]
    if carried:
        named.append(keyword("initial", _initial(graph, task, carried)))
    if carry := _carry(body, inner, graph):
        named.append(keyword("carry", carry))
    if body.max_iterations != ITERATIONS:
        named.append(keyword("max_iterations", repr(body.max_iterations)))
    if name is not None:
        named.append(keyword("name", name))
    return call("couler.loop", what, *named), before


def _plain(template: Template) -> bool:
    bare = Template(template.name, template.body, template.inputs, template.outputs, source=template.source)
    return template == bare


def _name(graph: GraphText, task: Task, template: Template, natural: str) -> Doc | None:
    given = graph._given.get(task.name)
    if given is None and template.name == natural:
        return None
    if task.name != template.name or task.display:
        raise UnsayableError("the name of a loop")
    return quoted(task.name)


def _step(graph: GraphText, task: Task, step: Template, carried: list[str]) -> Doc:
    from couler_py.printer.graphs import placed

    callee = graph.around.callees[step.name]
    names = graph.names.inner()
    variables = {name: names.free(name) for name in carried}
    given: dict[str, Doc] = {}
    for argument in task.arguments:
        given[argument.name] = variables.get(argument.name) or graph.expressions.doc(argument.value)
    for file in task.artifacts:
        if file.name in variables:
            given[file.name] = variables[file.name]
        elif file.value is not None:
            given[file.name] = graph.expressions.doc(file.value)
        elif file.storage is not None:
            given[file.name] = construct(file.storage)
    head = f"lambda {', '.join(variables.values())}: " if variables else "lambda: "
    return Named((head,), call(callee.variable, *placed(given, callee.places)))


def _initial(graph: GraphText, task: Task, carried: list[str]) -> Doc:
    found: dict[str, Doc] = {a.name: graph.expressions.doc(a.value) for a in task.arguments if a.name in carried}
    for file in task.artifacts:
        if file.name in carried:
            if file.storage is not None:
                raise UnsayableError("a carried file from storage")
            assert file.value is not None
            found[file.name] = graph.expressions.doc(file.value)
    if set(found) != set(carried):
        raise UnsayableError("a carried value without a first one")
    if len(carried) == 1 and isinstance(found[carried[0]], str):
        return found[carried[0]]
    return Group("{", tuple(Named((quoted(name), ": "), found[name]) for name in carried), "}")


def _carry(body: Loop, inner: Template, graph: GraphText) -> Doc | None:
    outputs = outputs_of(inner)
    single = form_of(inner, graph.around.templates) == "one"
    found: dict[str, str] = {}
    for carry in body.carry:
        output = "result" if single else carry.output
        known = ("result",) if single else outputs
        natural = "result" if carry.input not in known and len(body.carry) == 1 else carry.input
        if output != natural:
            found[carry.input] = output
    if not found:
        return None
    return Group("{", tuple(Named((quoted(name), ": "), quoted(value)) for name, value in found.items()), "}")


def _until(graph: GraphText, body: Loop, inner: Template, template: Template) -> Doc:
    variable = graph.names.inner().free("result")
    form = form_of(inner, graph.around.templates)
    result = Result(variable, form, outputs_of(inner))

    scope = msgspec.structs.replace(graph.scope, own=result)
    return Named((f"lambda {variable}: ",), Expressions(scope).doc(body.until))
