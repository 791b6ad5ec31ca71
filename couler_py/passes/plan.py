"""What a run of a workflow would do, as far as that is known without running it."""

from __future__ import annotations

from collections import Counter

import msgspec

from couler_py.ir.expr import Literal, Text
from couler_py.ir.graph import reachable, recursive, shape, templates_by_name
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
from couler_py.ir.possible import Possibilities
from couler_py.passes.entrypoint import entrypoint_of
from couler_py.passes.features import Place, counts_as_pod, used


class Count(msgspec.Struct, frozen=True):
    """How many, at least and at most; None where only the run will tell."""

    least: int
    most: int | None

    def __str__(self) -> str:
        if self.most is None:
            return f"{self.least:,} or more"
        return f"{self.most:,}" if self.least == self.most else f"{self.least:,} to {self.most:,}"


class Step(msgspec.Struct, frozen=True):
    """A template that is run as a program: its image and what it asks for."""

    name: str
    kind: str
    image: str
    resources: Resources
    retries: int = 0
    timeout: float | None = None
    cached: bool = False


class Plan(msgspec.Struct, frozen=True):
    """What a run would do.

    `levels` are the tasks of the entrypoint that can run at once, in order; `critical_path` the longest
    chain of steps through all nested graphs (each step counting one, a loop its body once); `tasks`
    the calls written down, and `pods` what a run starts: retries not counted.
    """

    workflow: str
    tasks: int
    pods: Count
    levels: tuple[tuple[str, ...], ...]
    critical_path: tuple[str, ...]
    steps: tuple[Step, ...]
    images: dict[str, int]
    features: dict[str, tuple[Place, ...]]
    cached: tuple[str, ...]
    recursive: tuple[str, ...]
    schedule: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """The most tasks of the entrypoint in one level."""
        return max(map(len, self.levels), default=0)


def plan(workflow: Workflow) -> Plan:
    """What a run of a workflow would do.

    Raises `CycleError` for a graph that can't run, and `DiagnosticError` for a workflow that begins nowhere.
    """
    entry = entrypoint_of(workflow)
    walker = _Walker(workflow)
    templates = templates_by_name(workflow)
    names = reachable(workflow)
    again = recursive(workflow)
    called = [templates[name] for name in names]
    steps = tuple(step for template in called if (step := _step(template)) is not None)
    return Plan(
        workflow=workflow.display or workflow.name,
        tasks=sum(len(template.body.tasks) for template in called if isinstance(template.body, Graph)),
        pods=walker.pods_of_run(),
        levels=_levels(entry),
        critical_path=walker.longest(workflow.entrypoint),
        steps=steps,
        images=dict(Counter(step.image for step in steps if step.image).most_common()),
        features=used(workflow),
        cached=tuple(template.name for template in called if template.cache is not None),
        recursive=tuple(name for name in names if name in again),
        schedule=workflow.schedule.crons if workflow.schedule else (),
    )


def _levels(template: Template) -> tuple[tuple[str, ...], ...]:
    if not isinstance(template.body, Graph):
        return ((template.display or template.name,),)
    rows: dict[int, list[str]] = {}
    for name, level in shape(template.body).levels().items():
        rows.setdefault(level, []).append(name)
    return tuple(tuple(rows[level]) for level in sorted(rows))


def _step(template: Template) -> Step | None:
    body = template.body
    match body:
        case Container(image=image, resources=resources) | Script(image=image, resources=resources):
            pass
        case Function(image=image, resources=resources):
            pass
        case DistributedJob(container=container):
            image, resources = container.image, container.resources
        case ContainerSet(containers=containers):
            image, resources = containers[0].image, containers[0].resources
        case _:
            return None
    return Step(
        template.display or template.name,
        str(body.__struct_config__.tag),
        "(computed)" if isinstance(image, Text) else image,
        resources,
        template.retry.limit if template.retry else 0,
        template.timeout,
        template.cache is not None,
    )


class _Walker:
    """Counts and paths through nested templates, each template once."""

    def __init__(self, workflow: Workflow):
        self._workflow = workflow
        self._templates = templates_by_name(workflow)
        self._recursive = recursive(workflow)
        self._possibilities = Possibilities(workflow)
        self._pods: dict[str, Count] = {}
        self._paths: dict[str, tuple[str, ...]] = {}

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
        times = _items(task.each)
        most = None if once.most is None or times.most is None else once.most * times.most
        return Count(0 if may_skip else once.least * times.least, most)

    def longest(self, name: str) -> tuple[str, ...]:
        """The longest chain of steps in a template, as paths of task names."""
        template = self._templates.get(name)
        if template is None or name in self._recursive:
            return (name,)
        if name not in self._paths:
            self._paths[name] = self._longest_in(template)
        return self._paths[name]

    def _longest_in(self, template: Template) -> tuple[str, ...]:
        if isinstance(template.body, Loop):
            return self.longest(template.body.body)
        if not isinstance(template.body, Graph):
            return (template.display or template.name,)
        graph = shape(template.body)
        inside = {task.name: self._inside(task) for task in template.body.tasks}
        length: dict[str, int] = {}
        before: dict[str, str | None] = {}
        for name in graph.order():
            best = max(graph.producers[name], key=lambda producer: length[producer], default=None)
            before[name] = best
            length[name] = len(inside[name]) + (length[best] if best is not None else 0)
        path: list[str] = []
        at = max(length, key=lambda name: length[name], default=None)
        while at is not None:
            path.extend(reversed(inside[at]))
            at = before[at]
        return tuple(reversed(path))

    def _inside(self, task: Task) -> tuple[str, ...]:
        template = self._templates.get(task.call) if isinstance(task.call, str) else None
        if template is None or template.name in self._recursive or not isinstance(template.body, Graph):
            return (task.name,)
        return tuple(f"{task.name}/{name}" for name in self.longest(template.name)) or (task.name,)


def _items(each: Each | None) -> Count:
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
