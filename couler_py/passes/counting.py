"""How many pods a run starts, and how many steps can run at once."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from couler_py.ir.expr import Literal
from couler_py.ir.graph import Shape, recursive, templates_by_name
from couler_py.ir.model import DistributedJob, Each, Graph, Inline, Loop, Sequence, Task, Template, Workflow
from couler_py.ir.possible import Possibilities
from couler_py.passes.features import counts_as_pod


class Count(msgspec.Struct, frozen=True):
    """How many, at least and at most; None where only the run will tell."""

    least: int
    most: int | None

    def __str__(self) -> str:
        if self.most is None:
            return f"{self.least:,} or more"
        return f"{self.most:,}" if self.least == self.most else f"{self.least:,} to {self.most:,}"


class Counting:
    """Counts through nested templates, each template once. `shapes` are those of its graphs, by template."""

    def __init__(self, workflow: Workflow, shapes: Mapping[str, Shape]):
        self._workflow = workflow
        self._templates = templates_by_name(workflow)
        self._recursive = recursive(workflow)
        self._shapes = shapes
        self._possibilities = Possibilities(workflow, shapes)
        self._pods: dict[str, Count] = {}
        self._widths: dict[str, int | None] = {}

    def pods_of_run(self) -> Count:
        counts = [self._pods_of(self._workflow.entrypoint)]
        for handler in self._workflow.handlers:
            count = self._pods_of(handler.call)
            counts.append(count if handler.on == "exit" and handler.when is None else Count(0, count.most))
        return _sum(counts)

    def _pods_of(self, name: str) -> Count:
        template = self._templates.get(name)
        if template is None:
            return Count(0, None)
        if name in self._recursive:
            return Count(1, None)
        if name not in self._pods:
            self._pods[name] = self._pods_in(template)
        return self._pods[name]

    def _pods_in(self, template: Template) -> Count:
        body = template.body
        if isinstance(body, Graph):
            skippable = self._skippable(template, body)
            return _sum([self._pods_of_task(task, task.name in skippable) for task in body.tasks])
        if isinstance(body, Loop):
            once = self._pods_of(body.body)
            return Count(once.least, None if once.most is None else once.most * body.max_iterations)
        if isinstance(body, DistributedJob):
            least, most = body.elastic or (body.nodes, body.nodes)
            return Count(least, most)
        number = int(counts_as_pod(template))
        return Count(number, number)

    def _skippable(self, template: Template, graph: Graph) -> frozenset[str]:
        if self._templates.get(template.name) is not template:
            # An inline template has no name of its own that what is possible could be known by.
            guarded = [
                task
                for task in graph.tasks
                if task.when is not None or any(edge.kind == "on_failure" for edge in task.after)
            ]
            return frozenset(task.name for task in guarded)
        possible = self._possibilities.of_graph(template)
        return frozenset(name for name, state in possible.items() if state.skipped)

    def _pods_of_task(self, task: Task, may_skip: bool) -> Count:
        if isinstance(task.call, Inline):
            once = self._pods_in(task.call.template)
        elif isinstance(task.call, str):
            once = self._pods_of(task.call)
        else:
            return Count(0, None)
        times = items_of(task.each)
        most = None if once.most is None or times.most is None else once.most * times.most
        return Count(0 if may_skip else once.least * times.least, most)

    def width_of_run(self) -> int | None:
        """The most steps that the entrypoint runs at once, as far as levels say it; None where only the run will."""
        return _least(self._width(self._workflow.entrypoint), self._workflow.parallelism)

    def _width(self, name: str) -> int | None:
        template = self._templates.get(name)
        if template is None or name in self._recursive:
            return None
        if name not in self._widths:
            self._widths[name] = _least(self._width_in(template), template.parallelism)
        return self._widths[name]

    def _width_in(self, template: Template) -> int | None:
        body = template.body
        if isinstance(body, Loop):
            return self._width(body.body)
        if not isinstance(body, Graph):
            return 1
        found = self._shapes.get(template.name)
        if found is None:  # an inline template stands outside
            return None
        tasks = {task.name: task for task in body.tasks}
        rows: dict[int, int | None] = {}
        for name, level in found.levels().items():
            rows[level] = _plus(rows.get(level, 0), self._width_of_task(tasks[name]))
        return None if None in rows.values() else max((each for each in rows.values() if each), default=0)

    def _width_of_task(self, task: Task) -> int | None:
        once = self._width(task.call) if isinstance(task.call, str) else None
        if task.each is None:
            return once
        times = _least(items_of(task.each).most, task.each.parallel)
        return None if once is None or times is None else once * times


def items_of(each: Each | None) -> Count:
    """Over how many items a task fans out; a plain task over one."""
    if each is None:
        return Count(1, 1)
    items = each.items
    if isinstance(items, Literal) and isinstance(items.value, list):
        return Count(len(items.value), len(items.value))
    if isinstance(items, Sequence) and isinstance(items.count, Literal) and isinstance(items.count.value, int):
        return Count(items.count.value, items.count.value)
    return Count(0, each.max_items)


def _sum(counts: list[Count]) -> Count:
    most = [count.most for count in counts]
    return Count(sum(count.least for count in counts), None if None in most else sum(m for m in most if m is not None))


def _plus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _least(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)
