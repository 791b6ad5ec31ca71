"""A workflow as a flat list of what runs: each leaf with everything that the facts ask about it.

Graphs in graphs and loops are opened, so that it makes no difference how somebody cut a workflow into pieces. What an
inner input stands for is filled in, and a parameter of the workflow that has a default counts as that default. What
calls itself is opened once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from benchmarks.nl.fans import Fan, Path, length, listed
from benchmarks.nl.values import flat, joined, literals, texts
from couler_py.ir import expr as ir
from couler_py.ir.expr import Expr
from couler_py.ir.graph import shape, templates_by_name
from couler_py.ir.meaning import graph_edges
from couler_py.ir.model import Argument, Graph, Handler, Inline, Loop, Sequence, Task, Template, Workflow

MOST = 2000  # leaves: no description means more

_NO_VALUES = ("name", "pieces", "links", "resources", "returns", "future", "packages")  # of a body
_WORDS_OF_KIND = {
    "suspend": "approve wait",
    "http": "http request call",
    "distributed_job": "distributed train",
}


@dataclass(frozen=True)
class Repeat:
    """A loop around a leaf, called at `path`."""

    path: Path
    until: Expr
    most: int


@dataclass
class Unit:
    """A leaf: one call of a template that is neither a graph nor a loop.

    `before` are the places of the units that it comes after; `failing` of those whose failure makes it run.
    References in `whens` are to the full paths of tasks, joined by "/".
    """

    path: Path
    names: str
    about: str
    template: Template
    values: list[Any]
    whens: tuple[Expr, ...] = ()
    fans: tuple[Fan, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    before: set[int] = field(default_factory=set)
    failing: set[int] = field(default_factory=set)
    moment: str = ""  # of a handler: "exit", "success" or "failure"


@dataclass(frozen=True)
class _Around:
    """What holds for everything in a template where it is called."""

    path: Path = ()
    names: tuple[str, ...] = ()
    inputs: dict[str, Expr] = field(default_factory=dict)
    whens: tuple[Expr, ...] = ()
    fans: tuple[Fan, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    stack: tuple[str, ...] = ()
    parallel: int | None = None
    values: tuple[Any, ...] = ()


def units(workflow: Workflow) -> list[Unit]:
    """The leaves of a workflow in program order, handlers last."""
    return _Opening(workflow).all()


class _Opening:
    def __init__(self, workflow: Workflow):
        self.workflow = workflow
        self.templates = templates_by_name(workflow)
        self.parameters: dict[str, Expr] = {
            parameter.name: ir.Literal(parameter.default)
            for parameter in workflow.parameters
            if parameter.default is not msgspec.UNSET
        }
        self.found: list[Unit] = []
        self.lists: dict[Path, Fan] = {}

    def all(self) -> list[Unit]:
        self.template(self.workflow.entrypoint, _Around(parallel=self.workflow.parallelism))
        main = set(range(len(self.found)))
        for handler in self.workflow.handlers:
            first = len(self.found)
            around = _Around(path=(f"on {handler.name}",), names=(handler.name,))
            when = () if handler.when is None else (self.resolved(handler.when, around),)
            given = self.arguments(handler.arguments, around)
            self.template(handler.call, replace(around, inputs=given, whens=when))
            for unit in self.found[first:]:
                unit.moment = moment(handler)
                unit.before |= main
        return self.found

    def template(self, call: str | Template, around: _Around) -> None:
        template = self.templates.get(call) if isinstance(call, str) else call
        if template is None or template.name in around.stack or len(self.found) >= MOST:
            return
        inputs = {
            parameter.name: ir.Literal(parameter.default)
            for parameter in template.inputs.parameters
            if parameter.default is not msgspec.UNSET
        }
        around = replace(around, inputs={**inputs, **around.inputs}, stack=(*around.stack, template.name))
        match template.body:
            case Graph() as graph:
                self.graph(graph, replace(around, parallel=template.parallelism or around.parallel))
            case Loop() as loop:
                repeat = Repeat(around.path, self.resolved(loop.until, around), loop.max_iterations)
                self.template(loop.body, replace(around, repeats=(*around.repeats, repeat)))
            case _:
                self.leaf(template, around)

    def graph(self, graph: Graph, around: _Around) -> None:
        order = shape(graph).order()
        tasks = {task.name: task for task in graph.tasks}
        edges = graph_edges(graph)
        inside: dict[str, set[int]] = {}
        earlier: dict[str, set[int]] = {}
        for name in order:
            first = len(self.found)
            self.task(tasks[name], around)
            inside[name] = set(range(first, len(self.found)))
            earlier[name] = set().union(*(inside[p] | earlier[p] for edge in edges[name] for p in edge.tasks))
            failing = set().union(*(inside[p] for edge in edges[name] if edge.kind == "on_failure" for p in edge.tasks))
            failing |= set().union(*(inside.get(p, set()) for p in _failed(tasks[name].when)))
            for place in inside[name]:
                self.found[place].before |= earlier[name]
                self.found[place].failing |= failing

    def task(self, task: Task, around: _Around) -> None:
        path = (*around.path, task.name)
        fans = around.fans
        if task.each is not None:
            fan = self.fan(task, around)
            self.lists[path] = fan
            fans = (*fans, fan)
        inner = replace(
            around,
            path=path,
            names=(*around.names, task.name, task.display),
            inputs=self.arguments(task.arguments, around),
            whens=(*around.whens, *(() if task.when is None else (self.resolved(task.when, around),))),
            fans=fans,
            values=(*around.values, *(text for given in task.artifacts for text in texts(given.storage))),
        )
        if isinstance(task.call, str):
            self.template(task.call, inner)
        elif isinstance(task.call, Inline):
            self.template(task.call.template, inner)

    def leaf(self, template: Template, around: _Around) -> None:
        own = [template.name, template.display, getattr(template.body, "name", "")]
        kind = str(template.body.__struct_config__.tag)
        self.found.append(
            Unit(
                path=around.path,
                names=" ".join([*around.names[-2:], *own, _WORDS_OF_KIND.get(kind, "")]),
                about=" ".join([*around.names[:-2], template.description]),
                template=template,
                values=[*self.values(template, around)],
                whens=around.whens,
                fans=around.fans,
                repeats=around.repeats,
            )
        )

    def values(self, template: Template, around: _Around) -> Iterator[Any]:
        for value in around.inputs.values():
            yield from literals(value)
        for fan in around.fans:
            yield from flat(fan.values)
        yield from around.values
        for taken in template.inputs.artifacts:
            yield from texts(taken.storage)
        for left in template.outputs.artifacts:
            yield from texts(left.storage)
        yield from texts(self.filled(template.body, around))

    def filled(self, body: Any, around: _Around) -> Any:
        """The body as plain data, with the values that are known filled into its texts. Python is no data."""
        filled = [self.text(getattr(body, n), around) for n in body.__struct_fields__ if n not in _NO_VALUES]
        command = [*getattr(body, "command", ()), *getattr(body, "args", ())]
        return [*filled, self.text(tuple(command), around), ""]

    def text(self, value: Any, around: _Around) -> Any:
        if isinstance(value, ir.Text):
            return joined(self.resolved(value, around))
        if isinstance(value, tuple):
            return [self.text(one, around) for one in value]
        if isinstance(value, msgspec.Struct):
            return [self.text(getattr(value, name), around) for name in value.__struct_fields__]
        return value

    def arguments(self, given: Iterable[Argument], around: _Around) -> dict[str, Expr]:
        return {argument.name: self.resolved(argument.value, around) for argument in given}

    def resolved(self, value: Expr, around: _Around) -> Expr:
        def change(one: Expr) -> Expr:
            match one:
                case ir.Input(name=name):
                    return around.inputs.get(name, one)
                case ir.WorkflowParameter(name=name):
                    return self.parameters.get(name, one)
                case ir.TaskOutput(task=task, name=name):
                    return ir.TaskOutput("/".join((*around.path, task)), name)
                case ir.TaskItems(task=task):
                    return ir.TaskItems("/".join((*around.path, task)))
                case ir.TaskStatus(task=task):
                    return ir.TaskStatus("/".join((*around.path, task)))
                case _:
                    return one

        return ir.rewrite(value, change)

    def fan(self, task: Task, around: _Around) -> Fan:
        each = task.each
        assert each is not None
        bound = each.parallel or around.parallel
        if not isinstance(each.items, Sequence):
            return listed(self.resolved(each.items, around), bound, self.lists)
        numbers = (each.items.count, each.items.start, each.items.end)
        return Fan(count=length(*(one and self.resolved(one, around) for one in numbers)), parallel=bound)


def moment(handler: Handler) -> str:
    """When a handler runs: one for every end that asks for the status itself runs at that end."""
    if handler.on == "exit" and isinstance(handler.when, ir.Compare):
        sides = (handler.when.left, handler.when.right)
        status = next((side.value for side in sides if isinstance(side, ir.Literal)), "")
        if any(isinstance(side, ir.Run) and side.field == "status" for side in sides):
            failure = (status == "Succeeded") == (handler.when.op == "!=")
            return "failure" if failure else "success"
    return handler.on


def _failed(when: Expr | None) -> Iterator[str]:
    """The tasks of whose failure a condition asks."""
    for node in ir.walk(when):
        if isinstance(node, ir.Compare):
            sides = (node.left, node.right)
            if any(isinstance(s, ir.Literal) and s.value == "Failed" for s in sides) and node.op == "==":
                yield from (side.task for side in sides if isinstance(side, ir.TaskStatus))
