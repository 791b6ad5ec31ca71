"""How many steps a run will have, as far as its workflow says."""

from __future__ import annotations

from collections import Counter

from couler_py.backends.base import Expected
from couler_py.ir.expr import Literal
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Each, Graph, Inline, Loop, Sequence, Task, Template, Workflow
from couler_py.passes.entrypoint import entrypoint_of

DEEPEST = 20  # templates inside templates; one that calls itself has no number of tasks


def expected(workflow: Workflow) -> Expected:
    """The steps of a run, without the handlers that come after it."""
    counter = _Counter(workflow)
    entry = entrypoint_of(workflow)
    if isinstance(entry.body, Graph | Loop):
        counter.inside(entry, 1, 0)
    else:
        counter.steps[entry.name] += 1
    return Expected(dict(counter.steps), counter.unknown)


class _Counter:
    def __init__(self, workflow: Workflow):
        self._templates = templates_by_name(workflow)
        self.steps: Counter[str] = Counter()
        self.unknown = False

    def inside(self, template: Template, times: int, depth: int) -> None:
        """Count what is in a graph that is run so many times."""
        if isinstance(template.body, Loop) or depth > DEEPEST:
            self.unknown = True
            return
        assert isinstance(template.body, Graph)
        if template.body.targets:
            self.unknown = True
        for task in template.body.tasks:
            self._task(task, times, depth)

    def _task(self, task: Task, times: int, depth: int) -> None:
        called = self._called(task)
        many = times
        if task.each is not None:
            items = _items(task.each)
            if items is None:
                self.unknown = True
                return
            many = times * items
        if called is not None and isinstance(called.body, Graph | Loop):
            # What a condition keeps from starting has no tasks inside.
            self.unknown = self.unknown or task.when is not None
            self.inside(called, many, depth + 1)
        elif called is not None:
            self.steps[called.name] += many

    def _called(self, task: Task) -> Template | None:
        if isinstance(task.call, Inline):
            return task.call.template
        return self._templates.get(task.call) if isinstance(task.call, str) else None


def _items(each: Each) -> int | None:
    items = each.items
    if isinstance(items, Literal) and isinstance(items.value, list):
        return len(items.value)
    if isinstance(items, Sequence) and isinstance(items.count, Literal) and isinstance(items.count.value, int):
        return items.count.value
    return None
