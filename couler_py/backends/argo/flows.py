"""Where strings flow: which must reach a container as they are, and which marks of `ir.wire` they may begin with.

Both are fixed points over the same picture: inputs and outputs of templates, and what is handed on unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

from couler_py.ir import wire
from couler_py.ir.expr import Expr, First, Input, OrElse, TaskOutput
from couler_py.ir.expr import Literal as Constant
from couler_py.ir.model import Function, Graph, Loop, Template
from couler_py.ir.types import STR
from couler_py.ir.wire import BASE64_MARK, JSON_MARK

if TYPE_CHECKING:
    from couler_py.backends.argo.program import Program

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


def read_as_text(program: Program) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The string inputs and outputs whose text a container reads as it is, so that no mark may be in it.

    Starts at the string inputs of everything that isn't a Python step and goes back along the values.
    """
    plain: set[Place] = {
        ("input", template.name, parameter.name)
        for template in program.workflow.templates
        if not isinstance(template.body, Function | Graph | Loop)
        for parameter in template.inputs.parameters
        if parameter.type == STR
    }
    program.flows = [flow for template in program.workflow.templates for flow in _flows(program, template)]
    if plain:
        changed = True
        while changed:
            changed = False
            for flow in program.flows:
                if flow.target in plain:
                    for source in flow.sources:
                        if source not in plain:
                            plain.add(source)
                            changed = True
    inputs = {(template, name) for kind, template, name in plain if kind == "input"}
    return inputs, {(template, name) for kind, template, name in plain if kind == "output"}


def possible_marks(program: Program) -> dict[Place, tuple[str, ...]]:
    """By place, the marks that a string there may begin with."""
    found: dict[Place, set[str]] = {}
    for template in program.workflow.templates:
        if isinstance(template.body, Function):
            for output in template.outputs.parameters:
                read = (template.name, output.name) in program.plain_outputs
                found["output", template.name, output.name] = set() if read else {JSON_MARK}
        elif isinstance(template.body, Graph | Loop):
            if template.name in program.roots:
                for parameter in template.inputs.parameters:
                    found["input", template.name, parameter.name] = {JSON_MARK}
        else:
            for output in template.outputs.parameters:
                found["output", template.name, output.name] = {BASE64_MARK}  # where it is handed to a reader of ours
    changed = True
    while changed:
        changed = False
        for flow in program.flows:
            kind, template_name, name = flow.target
            plain = program.plain_inputs if kind == "input" else program.plain_outputs
            target = found.setdefault(flow.target, set())
            if (template_name, name) in plain:
                continue
            before = len(target)
            target |= flow.marks
            for source in flow.sources:
                target |= found.get(source, set())
            changed = changed or len(target) != before
    return {place: tuple(mark for mark in ALL_MARKS if mark in marks) for place, marks in found.items()}


def _flows(program: Program, template: Template) -> Iterator[Flow]:
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
        yield from _graph_flows(program, template, body)


def _graph_flows(program: Program, template: Template, graph: Graph) -> Iterator[Flow]:
    calls = {task.name: task.call for task in graph.tasks if isinstance(task.call, str)}
    mapped = {task.name for task in graph.tasks if task.each is not None}
    strings: dict[str, frozenset[str]] = {}
    for task in graph.tasks:
        if not task.arguments or not isinstance(task.call, str):
            continue
        known = strings.get(task.call)
        if known is None:
            callee = program.templates.get(task.call)
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
    else:  # computed, an item, a parameter of the run
        flow.marks.add(JSON_MARK)
