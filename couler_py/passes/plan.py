"""What a run of a workflow would do, as far as that is known without running it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from couler_py.ir.expr import Text
from couler_py.ir.graph import Shape, reachable, recursive, shape, templates_by_name
from couler_py.ir.model import (
    ContainerSet,
    DistributedJob,
    Function,
    Graph,
    Loop,
    Script,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container, Resources
from couler_py.passes.counting import Count, Counting
from couler_py.passes.entrypoint import entrypoint_of
from couler_py.passes.features import Place, used


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

    `levels` are the tasks of the entrypoint that can run at once, in order; `width` the most steps of one level that
    run at once, fan-outs with their items, calls of graphs with their own widest level, within the bounds that are
    written down (None where only the run will tell); `critical_path` the longest chain of steps through all nested
    graphs (each step counting one, a loop its body once); `tasks` the calls written down, and `pods` what a run starts:
    retries not counted.
    """

    workflow: str
    tasks: int
    pods: Count
    levels: tuple[tuple[str, ...], ...]
    width: int | None
    critical_path: tuple[str, ...]
    steps: tuple[Step, ...]
    images: dict[str, int]
    features: dict[str, tuple[Place, ...]]
    cached: tuple[str, ...]
    recursive: tuple[str, ...]
    schedule: tuple[str, ...] = ()


def plan(workflow: Workflow) -> Plan:
    """What a run of a workflow would do.

    Raises `CycleError` for a graph that can't run, and `DiagnosticError` for a workflow that begins nowhere.
    """
    entry = entrypoint_of(workflow)
    shapes = {each.name: shape(each.body) for each in workflow.templates if isinstance(each.body, Graph)}
    counting = Counting(workflow, shapes)
    templates = templates_by_name(workflow)
    names = reachable(workflow)
    again = recursive(workflow)
    called = [templates[name] for name in names]
    steps = tuple(step for template in called if (step := _step(template)) is not None)
    return Plan(
        workflow=workflow.display or workflow.name,
        tasks=sum(len(template.body.tasks) for template in called if isinstance(template.body, Graph)),
        pods=counting.pods_of_run(),
        levels=_levels(entry, shapes),
        width=counting.width_of_run(),
        critical_path=_Paths(workflow, shapes).longest(workflow.entrypoint),
        steps=steps,
        images=dict(Counter(step.image for step in steps if step.image).most_common()),
        features=used(workflow, shapes),
        cached=tuple(template.name for template in called if template.cache is not None),
        recursive=tuple(name for name in names if name in again),
        schedule=workflow.schedule.crons if workflow.schedule else (),
    )


def _levels(template: Template, shapes: Mapping[str, Shape]) -> tuple[tuple[str, ...], ...]:
    if not isinstance(template.body, Graph):
        return ((template.display or template.name,),)
    rows: dict[int, list[str]] = {}
    for name, level in shapes[template.name].levels().items():
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


class _Paths:
    """The longest paths through nested templates, each template once."""

    def __init__(self, workflow: Workflow, shapes: Mapping[str, Shape]):
        self._templates = templates_by_name(workflow)
        self._recursive = recursive(workflow)
        self._shapes = shapes
        self._paths: dict[str, tuple[str, ...]] = {}

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
        graph = self._shapes[template.name]
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
