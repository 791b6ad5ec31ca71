"""Loops as calls of `couler.loop`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from couler_py.ir.model import Function, Graph, Loop, Task, Template
from couler_py.printer.calls import outputs_of
from couler_py.printer.expressions import Expressions, Result
from couler_py.printer.layout import Doc, Group, Named, call, keyword
from couler_py.printer.literal import quoted
from couler_py.printer.names import is_identifier
from couler_py.printer.options import UnsayableError

if TYPE_CHECKING:
    from couler_py.printer.graphs import GraphText

ITERATIONS = 50


def loop(graph: GraphText, task: Task, template: Template, expressions: Expressions) -> tuple[Doc, list[str]]:
    """The call of a loop, and the function of its body where that has several steps."""
    body = template.body
    assert isinstance(body, Loop)
    inner = graph.around.templates.get(body.body)
    if inner is None or not _plain(template):
        raise UnsayableError("settings of a loop", template.name)
    carried = [carry.input for carry in body.carry]
    if any(not is_identifier(name) for name in carried) or len(set(carried)) < len(carried):
        raise UnsayableError("a carried value that is no name", template.name)
    before: list[str] = []
    if isinstance(inner.body, Graph):
        function, before = graph.in_place(task, inner, tuple(carried))
        what: Doc = function
        named = function != template.name
    else:
        if inner.name not in graph.around.callees:
            raise UnsayableError("a loop over another loop", template.name)
        what = _step(graph, task, inner, carried, expressions)
        named = graph.base(task) == template.name and template.name not in (inner.name, f"{inner.name}-loop")
    if named and (task.name != template.name or task.display):
        raise UnsayableError("the name of a loop", template.name)
    given = graph.given.get(task.name)
    name = template.name if named else given
    more: list[Doc] = [keyword("until", _until(graph, body, inner, expressions))]
    if carried:
        more.append(keyword("initial", _initial(template, task, carried, expressions)))
    if carry := _carry(body, inner, graph):
        more.append(keyword("carry", carry))
    if body.max_iterations != ITERATIONS:
        more.append(keyword("max_iterations", repr(body.max_iterations)))
    if name is not None:
        more.append(keyword("name", quoted(name)))
    return call("couler.loop", what, *more), before


def base(task: Task, template: Template, templates: dict[str, Template]) -> str:
    """What the DSL names a loop by: its body, or the name that it is given."""
    body = template.body
    assert isinstance(body, Loop)
    inner = templates.get(body.body)
    if inner is None or isinstance(inner.body, Graph):
        return template.name
    plain = inner.body.name if isinstance(inner.body, Function) and _passed_itself(task, body) else ""
    for natural in (plain, f"{inner.name}-loop"):
        rest = template.name.removeprefix(natural)
        if natural and template.name.startswith(natural) and (not rest or re.fullmatch(r"-\d+", rest)):
            return natural
    return template.name


def _passed_itself(task: Task, body: Loop) -> bool:
    """Whether a loop can get the step itself as its body: what it carries is all that the step is given."""
    given = {argument.name for argument in task.arguments} | {file.name for file in task.artifacts}
    return given == {carry.input for carry in body.carry}


def _plain(template: Template) -> bool:
    bare = Template(template.name, template.body, template.inputs, template.outputs, source=template.source)
    return template == bare


def _step(graph: GraphText, task: Task, step: Template, carried: list[str], expressions: Expressions) -> Doc:
    from couler_py.printer.graphs import arguments, placed

    callee = graph.around.callees[step.name]
    body = step.body
    if isinstance(body, Function) and graph.base(task) == body.name:
        return callee.variable
    names = graph.names.inner()
    variables = {name: names.free(name) for name in carried}
    given = {name: variables.get(name, doc) for name, doc in arguments(task, expressions)}
    head = f"lambda {', '.join(variables.values())}: " if variables else "lambda: "
    return Named((head,), call(callee.variable, *placed(given, callee.places)))


def _initial(template: Template, task: Task, carried: list[str], expressions: Expressions) -> Doc:
    from couler_py.printer.graphs import arguments

    found = {name: doc for name, doc in arguments(task, expressions) if name in carried}
    if set(found) != set(carried):
        raise UnsayableError("a carried value without a first one", template.name)
    if len(carried) == 1 and not isinstance(found[carried[0]], Group):
        return found[carried[0]]
    return Group("{", tuple(Named((quoted(name), ": "), found[name]) for name in carried), "}")


def _carry(body: Loop, inner: Template, graph: GraphText) -> Doc | None:
    outputs = outputs_of(inner)
    single = graph.around.form(inner) == "one"
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


def _until(graph: GraphText, body: Loop, inner: Template, expressions: Expressions) -> Doc:
    variable = graph.names.inner().free("result")
    form = graph.around.form(inner)
    result = Result(variable, form, outputs_of(inner))

    scope = msgspec.structs.replace(expressions.scope, own=result)
    return Named((f"lambda {variable}: ",), Expressions(scope).doc(body.until))
