"""How long tasks take, and the longest path through a graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median

from couler_py.ir.expr import Literal
from couler_py.ir.graph import Shape, recursive, shape, templates_by_name
from couler_py.ir.model import Graph, Inline, Loop, Task, Template, Workflow
from couler_py.passes.history import History


class Weights:
    """What each task of a graph weighs: seconds, where earlier runs say it of all of them; else steps."""

    def __init__(self, workflow: Workflow, history: History):
        self._workflow = workflow
        self._templates = templates_by_name(workflow)
        self._recursive = recursive(workflow)
        self._history = history
        self._steps: dict[str, float] = {}
        self._medians: dict[str, float | None] = {}

    def of(self, graph: Graph) -> tuple[dict[str, float], bool]:
        """The weight of each task, and whether they are seconds (the medians of what calls took)."""
        seconds = {task.name: self._seconds(task) for task in graph.tasks}
        if all(each is not None for each in seconds.values()):
            return {name: each or 0.0 for name, each in seconds.items()}, True
        return {task.name: self._of_call(task) for task in graph.tasks}, False

    def _seconds(self, task: Task) -> float | None:
        template = self._called(task)
        if template is None:
            return None
        if template.name not in self._medians:  # many tasks call the same
            seen = self._history.find(self._workflow.name, template)
            self._medians[template.name] = median(seen.seconds) if seen is not None and seen.seconds else None
        known = self._medians[template.name]
        return None if known is None else known * _rounds(task)

    def _called(self, task: Task) -> Template | None:
        if isinstance(task.call, Inline):
            return task.call.template
        return self._templates.get(task.call) if isinstance(task.call, str) else None

    def _of_call(self, task: Task) -> float:
        template = self._called(task)
        return _rounds(task) * (self._of_template(template) if template is not None else 1.0)

    def _of_template(self, template: Template) -> float:
        if template.name in self._recursive:
            return 1.0
        if template.name not in self._steps:
            self._steps[template.name] = self._longest_in(template)
        return self._steps[template.name]

    def _longest_in(self, template: Template) -> float:
        body = template.body
        if isinstance(body, Loop):
            inside = self._templates.get(body.body)
            return self._of_template(inside) if inside is not None else 1.0
        if not isinstance(body, Graph) or not body.tasks:
            return 1.0
        return longest(shape(body), {task.name: self._of_call(task) for task in body.tasks})


def _rounds(task: Task) -> int:
    """How many times over a fan-out is worked on, where its items and its bound are written down."""
    each = task.each
    if each is None or each.parallel is None or not isinstance(each.items, Literal):
        return 1
    return max(1, math.ceil(len(each.items.value) / each.parallel)) if isinstance(each.items.value, list) else 1


def longest(graph: Shape, weights: Mapping[str, float], order: Sequence[str] | None = None) -> float:
    """The weight of the heaviest path through a graph. Raises `CycleError`."""
    ends: dict[str, float] = {}
    for name in order if order is not None else graph.order():
        ends[name] = weights[name] + max((ends[producer] for producer in graph.producers[name]), default=0.0)
    return max(ends.values(), default=0.0)


def said(saved: float, seconds: bool) -> str:
    """An amount of the critical path in words; "" for none.

    >>> said(2.0, False), said(0.25, True)
    ('2 steps of the critical path', '0.25 s of the critical path')
    """
    if saved <= 0:
        return ""
    if seconds:
        return f"{saved:.3g} s of the critical path"
    return f"{saved:g} {'step' if saved == 1 else 'steps'} of the critical path"
