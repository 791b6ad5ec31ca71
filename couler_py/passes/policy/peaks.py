"""How much a workflow can ask for at one time, and of how many tasks it is made, as far as the IR says."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from couler_py.ir.expr import Literal
from couler_py.ir.graph import CycleError, shape, templates_by_name
from couler_py.ir.model import (
    ContainerSet,
    DistributedJob,
    Each,
    Function,
    Graph,
    Inline,
    Loop,
    Script,
    Sequence,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container, Resources
from couler_py.passes.policy.amounts import amount

NOTHING = Decimal(0)


class Asked(msgspec.Struct, frozen=True):
    """An amount of everything: processors, bytes of memory, GPUs."""

    cpu: Decimal = NOTHING
    memory: Decimal = NOTHING
    gpu: Decimal = NOTHING

    def plus(self, other: Asked) -> Asked:
        return Asked(self.cpu + other.cpu, self.memory + other.memory, self.gpu + other.gpu)

    def times(self, count: int) -> Asked:
        return Asked(self.cpu * count, self.memory * count, self.gpu * count)

    def most(self, other: Asked) -> Asked:
        return Asked(max(self.cpu, other.cpu), max(self.memory, other.memory), max(self.gpu, other.gpu))

    def least(self, other: Asked) -> Asked:
        return Asked(min(self.cpu, other.cpu), min(self.memory, other.memory), min(self.gpu, other.gpu))


def of_step(template: Template) -> Asked:
    """What one step asks for, its sidecars and nodes included."""
    body = template.body
    match body:
        case Container() | Script() | Function():
            found = _of(body.resources)
        case DistributedJob():
            found = Asked()
            for container, nodes in body.asking:
                found = found.plus(_of(container.resources).times(nodes))
        case ContainerSet():
            found = Asked()
            for each in body.containers:
                found = found.plus(_of(each.resources))
        case _:
            return Asked()
    for each in template.pod.sidecars:
        found = found.plus(_of(each.resources))
    return found


def _of(given: Resources) -> Asked:
    cpu = given.cpu if not given.cpu_limit else given.cpu_limit
    memory = given.memory if not given.memory_limit else given.memory_limit
    return Asked(amount(cpu) or NOTHING, amount(memory) or NOTHING, Decimal(given.gpu))


class Peaks:
    """Of one workflow: each template is looked at once."""

    def __init__(self, workflow: Workflow):
        self._workflow = workflow
        self._templates = templates_by_name(workflow)
        self._known: dict[str, tuple[Asked, Asked]] = {}
        self._open: set[str] = set()

    def of_run(self) -> Asked:
        """What a run can ask for at one time: the largest level of its graphs, of which all tasks run at once."""
        peak, largest = self._of(self._workflow.entrypoint)
        if self._workflow.parallelism is not None:
            peak = peak.least(largest.times(self._workflow.parallelism))
        return peak

    def _of(self, name: str) -> tuple[Asked, Asked]:
        """Of a template: the most at one time, and the most that one step in it asks for."""
        if name not in self._known:
            template = self._templates.get(name)
            if template is None or name in self._open:
                return Asked(), Asked()
            self._open.add(name)
            self._known[name] = self._of_template(template)
            self._open.discard(name)
        return self._known[name]

    def _of_template(self, template: Template) -> tuple[Asked, Asked]:
        body = template.body
        if isinstance(body, Loop):
            return self._of(body.body)
        if not isinstance(body, Graph):
            asked = of_step(template)
            return asked, asked
        levels: dict[int, Asked] = {}
        largest = Asked()
        for task, level in self._levels(body):
            peak, most = self._of_call(task)
            levels[level] = levels.get(level, Asked()).plus(peak.times(at_once(task.each)))
            largest = largest.most(most)
        peak = Asked()
        for each in levels.values():
            peak = peak.most(each)
        if template.parallelism is not None:
            peak = peak.least(largest.times(template.parallelism))
        return peak, largest

    def _levels(self, graph: Graph) -> list[tuple[Task, int]]:
        if graph.form == "steps":
            places = {name: number for number, group in enumerate(graph.groups) for name in group}
            return [(task, places.get(task.name, 0)) for task in graph.tasks]
        try:
            found = shape(graph).levels()
        except (CycleError, KeyError):
            return [(task, 0) for task in graph.tasks]
        return [(task, found[task.name]) for task in graph.tasks]

    def _of_call(self, task: Task) -> tuple[Asked, Asked]:
        if isinstance(task.call, str):
            return self._of(task.call)
        if isinstance(task.call, Inline):
            return self._of_template(task.call.template)
        return Asked(), Asked()


def at_once(each: Each | None) -> int:
    """How many items of a fan-out can run at one time."""
    if each is None:
        return 1
    count = each.max_items
    items = each.items
    if isinstance(items, Literal) and isinstance(items.value, list):
        count = len(items.value)
    elif isinstance(items, Sequence) and isinstance(items.count, Literal) and isinstance(items.count.value, int):
        count = items.count.value
    return max(count if each.parallel is None else min(each.parallel, count), 0)


def tasks_of(workflow: Workflow) -> int:
    """The calls that are written in a workflow, those in templates inside tasks included."""
    return sum(_tasks(template) for template in workflow.templates)


def _tasks(template: Template) -> int:
    if not isinstance(template.body, Graph):
        return 0
    inline = (task.call.template for task in template.body.tasks if isinstance(task.call, Inline))
    return len(template.body.tasks) + sum(map(_tasks, inline))
