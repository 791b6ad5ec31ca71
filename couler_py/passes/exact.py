"""Which outputs an engine takes apart, and so must not hold an integer that its own language can't say.

The expression languages of engines read numbers inside JSON as doubles: beyond 2**53 they would go on rounded, and
nothing would tell. A value that is only handed on, and one whose expression its own Python step computes, keeps every
digit.
"""

from __future__ import annotations

from collections.abc import Mapping

from couler_py.ir.expr import (
    LEAVES,
    AllOf,
    AnyOf,
    Expr,
    First,
    Input,
    Literal,
    NonFinite,
    Not,
    OrElse,
    Own,
    Published,
    Record,
    TaskOutput,
    Text,
    Zip,
    children,
    walk,
)
from couler_py.ir.model import Function, Graph, Loop, Sequence, Task, Template
from couler_py.ir.types import ANY, Scalar, Type
from couler_py.passes.flows import Place

HANDED_ON = (Input, TaskOutput, Own, Published)
ELSEWHERE = (OrElse, First, *(leaf for leaf in LEAVES if leaf not in (TaskOutput, Literal, NonFinite)))
"""What no step can compute from its own outputs."""


def exact_outputs(templates: Mapping[str, Template]) -> dict[str, list[str]]:
    """By the name of a Python step's template, its outputs that engines take apart."""
    taken = taken_apart(templates)
    found: dict[str, list[str]] = {}
    for template in templates.values():
        if isinstance(template.body, Function):
            names = [each.name for each in template.outputs.parameters if ("output", template.name, each.name) in taken]
            if names:
                found[template.name] = names
    return found


def taken_apart(templates: Mapping[str, Template]) -> set[Place]:
    """The inputs and outputs whose values an engine takes apart, there or further on."""
    reading = _Reading(templates)
    for template in templates.values():
        reading.template(template)
    left = list(reading.taken)
    while left:
        for source in reading.sources.get(left.pop(), ()):
            if source not in reading.taken:
                reading.taken.add(source)
                left.append(source)
    return reading.taken


class _Reading:
    """What is handed on and what is taken apart, template by template."""

    def __init__(self, templates: Mapping[str, Template]):
        self.templates = templates
        self.sources: dict[Place, set[Place]] = {}
        self.taken: set[Place] = set()
        self.published: dict[str, Place] = {}
        self.types: dict[Place, Type] = {}
        for template in templates.values():
            for parameter in template.inputs.parameters:
                self.types["input", template.name, parameter.name] = parameter.type
            for output in template.outputs.parameters:
                place: Place = ("output", template.name, output.name)
                self.types[place] = output.type
                if output.global_name:
                    self.published[output.global_name] = place

    def template(self, template: Template) -> None:
        body = template.body
        if isinstance(body, Loop):
            self._loop(template, body)
        elif isinstance(body, Graph):
            scope = _Scope(self, template, body)
            for task in body.tasks:
                self._task(task, scope)
            for output in template.outputs.parameters:
                if output.value is not None:
                    self._read(output.value, scope, ("output", template.name, output.name))

    def _loop(self, template: Template, loop: Loop) -> None:
        for parameter in template.inputs.parameters:
            self._hand_on(("input", template.name, parameter.name), ("input", loop.body, parameter.name))
        for carry in loop.carry:
            self._hand_on(("output", loop.body, carry.output), ("input", loop.body, carry.input))
        for output in template.outputs.parameters:
            inner = getattr(output.value, "name", output.name)
            self._hand_on(("output", loop.body, inner), ("output", template.name, output.name))
        body = self.templates.get(loop.body)
        if body is not None and not isinstance(body.body, Function):
            self._read(loop.until, _Scope(self, body, None), None)

    def _task(self, task: Task, scope: _Scope) -> None:
        if task.each is not None and not isinstance(task.each.items, Sequence):
            self._take(task.each.items, scope, strict=True)
        if task.when is not None:
            self._read(task.when, scope, None)
        for argument in task.arguments:
            target: Place | None = ("input", task.call, argument.name) if isinstance(task.call, str) else None
            self._read(argument.value, scope, target)

    def _hand_on(self, source: Place, target: Place) -> None:
        self.sources.setdefault(target, set()).add(source)

    def _read(self, expr: Expr, scope: _Scope, target: Place | None) -> None:
        """Note an expression whose value goes to `target`, or is only looked at."""
        if isinstance(expr, HANDED_ON):
            place = scope.place(expr)
            if place is not None and target is not None:
                self._hand_on(place, target)
        elif isinstance(expr, OrElse | First | Record | Text):
            for part in children(expr):
                self._read(part, scope, target)
        elif isinstance(expr, AllOf | AnyOf | Not):
            for part in children(expr):
                self._read(part, scope, None)
        elif not scope.computed_by_a_step(expr):
            self._take(expr, scope, strict=any(isinstance(node, Record | Zip) for node in walk(expr)))

    def _take(self, expr: Expr, scope: _Scope, *, strict: bool) -> None:
        """Note what an expression reads as taken apart; numbers on their own are exact, but not inside a list."""
        for node in walk(expr):
            place = scope.place(node)
            if place is None:
                continue
            type_ = self.types.get(place, ANY)
            if strict or scope.mapped(node) or type_ == ANY or not isinstance(type_, Scalar):
                self.taken.add(place)


class _Scope:
    """What the names in the expressions of one template are."""

    def __init__(self, reading: _Reading, template: Template, graph: Graph | None):
        self.reading = reading
        self.name = template.name
        tasks = () if graph is None else graph.tasks
        self.calls = {task.name: task.call for task in tasks if isinstance(task.call, str)}
        self.fan_outs = {task.name for task in tasks if task.each is not None}

    def place(self, node: Expr) -> Place | None:
        """Where the value that a node stands for comes from, if that is a place."""
        match node:
            case Input(name=name):
                return ("input", self.name, name)
            case TaskOutput(task=task, name=name) if task in self.calls:
                return ("output", self.calls[task], name)
            case Own(name=name):
                return ("output", self.name, name)
            case Published(name=name):
                return self.reading.published.get(name)
            case _:
                return None

    def mapped(self, node: Expr) -> bool:
        return isinstance(node, TaskOutput) and node.task in self.fan_outs

    def computed_by_a_step(self, expr: Expr) -> bool:
        """Whether the expression is over one Python step, whose runner computes it."""
        nodes = list(walk(expr))
        tasks = {node.task for node in nodes if isinstance(node, TaskOutput)}
        if len(tasks) != 1 or any(isinstance(node, ELSEWHERE) for node in nodes):
            return False
        task = tasks.pop()
        callee = self.reading.templates.get(self.calls.get(task, ""))
        return task not in self.fan_outs and callee is not None and isinstance(callee.body, Function)
