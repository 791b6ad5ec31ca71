"""Where strings flow: which must reach a container as they are, and which marks of `ir.wire` they may begin with.

Both are fixed points over the same picture: inputs and outputs of templates, and what is handed on unchanged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal, TypeAlias

from couler_py.ir import wire
from couler_py.ir.expr import Expr, First, Input, Item, LastRetry, OrElse, Published, Run, TaskOutput, WorkflowParameter
from couler_py.ir.expr import Literal as Constant
from couler_py.ir.model import Function, Graph, Handler, Loop, Template
from couler_py.ir.types import STR
from couler_py.ir.wire import BASE64_MARK, JSON_MARK

PlaceKind: TypeAlias = Literal["input", "output"]
Place: TypeAlias = tuple[PlaceKind, str, str]
"""An input or output of a template: the kind, the template's name, its own name."""

ALL_MARKS = (JSON_MARK, BASE64_MARK)


class Flow:
    """What one place may hold: values of other places handed on, and marks that the way itself adds."""

    __slots__ = ("marks", "sources", "target")

    def __init__(self, target: Place, sources: list[Place], marks: set[str]):
        self.target = target
        self.sources = sources
        self.marks = marks


def flows(templates: Mapping[str, Template], handlers: Iterable[Handler] = ()) -> list[Flow]:
    """How strings are handed on between the templates of a workflow, and to its handlers."""
    found = [flow for template in templates.values() for flow in _flows(templates, template)]
    for handler in handlers:
        for argument in handler.arguments:
            flow = Flow(("input", handler.call, argument.name), [], set())
            _add(argument.value, "", {}, set(), flow)
            found.append(flow)
    return found


def read_as_text(templates: Mapping[str, Template], known: list[Flow]) -> set[Place]:
    """The string inputs and outputs whose text a container reads as it is, so that no mark may be in it.

    Starts at the string inputs of everything that isn't a Python step and goes back along the values.
    """
    plain: set[Place] = {
        ("input", template.name, parameter.name)
        for template in templates.values()
        if not isinstance(template.body, Function | Graph | Loop)
        for parameter in template.inputs.parameters
        if parameter.type == STR
    }
    if not plain:
        return plain
    sources: dict[Place, list[Place]] = {}
    for flow in known:
        sources.setdefault(flow.target, []).extend(flow.sources)
    left = list(plain)
    while left:
        for source in sources.get(left.pop(), ()):
            if source not in plain:
                plain.add(source)
                left.append(source)
    return plain


def plain_outputs(templates: Mapping[str, Template]) -> dict[str, list[str]]:
    """By the name of a Python step's template, its outputs whose text a container reads as it is."""
    plain = read_as_text(templates, flows(templates))
    found: dict[str, list[str]] = {}
    for template in templates.values():
        if isinstance(template.body, Function):
            names = [each.name for each in template.outputs.parameters if ("output", template.name, each.name) in plain]
            if names:
                found[template.name] = names
    return found


def possible_marks(
    templates: Mapping[str, Template], known: list[Flow], plain: Collection[Place], roots: Collection[str]
) -> dict[Place, tuple[str, ...]]:
    """By place, the marks that a string there may begin with. `roots` are the templates that a run itself calls."""
    found: dict[Place, set[str]] = {}
    for template in templates.values():
        if isinstance(template.body, Function):
            for output in template.outputs.parameters:
                place: Place = ("output", template.name, output.name)
                found[place] = set() if place in plain else {JSON_MARK}
        elif isinstance(template.body, Graph | Loop):
            if template.name in roots:
                for parameter in template.inputs.parameters:
                    found["input", template.name, parameter.name] = {JSON_MARK}
        else:
            for output in template.outputs.parameters:
                found["output", template.name, output.name] = {BASE64_MARK}  # where it is handed to a reader of ours
    changed = True
    while changed:
        changed = False
        for flow in known:
            target = found.setdefault(flow.target, set())
            if flow.target in plain:
                continue
            before = len(target)
            target |= flow.marks
            for source in flow.sources:
                target |= found.get(source, set())
            changed = changed or len(target) != before
    return {place: tuple(mark for mark in ALL_MARKS if mark in marks) for place, marks in found.items()}


def _flows(templates: Mapping[str, Template], template: Template) -> Iterator[Flow]:
    body = template.body
    if isinstance(body, Loop):
        for parameter in template.inputs.parameters:
            yield Flow(("input", body.body, parameter.name), [("input", template.name, parameter.name)], set())
        for carry in body.carry:
            source: Place = ("output", body.body, carry.output)
            yield Flow(("input", body.body, carry.input), [source], set())
            yield Flow(("input", template.name, carry.input), [source], set())
        for output in template.outputs.parameters:
            inner = getattr(output.value, "name", output.name)
            yield Flow(("output", template.name, output.name), [("output", body.body, inner)], set())
    elif isinstance(body, Graph):
        yield from _graph_flows(templates, template, body)


def _graph_flows(templates: Mapping[str, Template], template: Template, graph: Graph) -> Iterator[Flow]:
    calls = {task.name: task.call for task in graph.tasks if isinstance(task.call, str)}
    mapped = {task.name for task in graph.tasks if task.each is not None}
    strings: dict[str, frozenset[str]] = {}
    for task in graph.tasks:
        if not task.arguments or not isinstance(task.call, str):
            continue
        known = strings.get(task.call)
        if known is None:
            callee = templates.get(task.call)
            names = () if callee is None else callee.inputs.parameters
            known = strings[task.call] = frozenset(each.name for each in names if each.type == STR)
        if not known:
            continue
        for argument in task.arguments:
            if argument.name in known:
                flow = Flow(("input", task.call, argument.name), [], set())
                _add(argument.value, template.name, calls, mapped, flow)
                if flow.sources or flow.marks:
                    yield flow
    for output in template.outputs.parameters:
        if output.value is not None and output.type == STR:
            flow = Flow(("output", template.name, output.name), [], set())
            _add(output.value, template.name, calls, mapped, flow)
            yield flow


def _add(expr: Expr, graph: str, calls: dict[str, str], mapped: set[str], flow: Flow) -> None:
    """Add what an expression hands on to its flow."""
    if isinstance(expr, Constant):
        if not isinstance(expr.value, str) or not wire.travels_raw(expr.value):
            flow.marks.add(JSON_MARK)
    elif isinstance(expr, Input):
        flow.sources.append(("input", graph, expr.name))
    elif isinstance(expr, TaskOutput) and expr.task in calls and expr.task not in mapped:
        flow.sources.append(("output", calls[expr.task], expr.name))
    elif isinstance(expr, TaskOutput):
        flow.marks.update(ALL_MARKS)
    elif isinstance(expr, OrElse):
        flow.marks.add(JSON_MARK)
        _add(expr.value, graph, calls, mapped, flow)
        _add(expr.default, graph, calls, mapped, flow)
    elif isinstance(expr, First):
        flow.marks.add(JSON_MARK)
        for option in expr.options:
            _add(option, graph, calls, mapped, flow)
    elif isinstance(expr, Item | LastRetry | Published | Run | WorkflowParameter):  # also as the engine says it
        flow.marks.update(ALL_MARKS)
    else:  # computed
        flow.marks.add(JSON_MARK)
