"""Which Python steps in a row can be one: see `joining.py`."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import msgspec
from msgspec.structs import replace

from couler_py.ir.expr import Expr, Item, TaskArtifact, TaskItems, TaskOutput, TaskStatus, walk
from couler_py.ir.graph import Shape, expressions, has_edges_alone, shape
from couler_py.ir.meaning import value_expressions
from couler_py.ir.model import Function, Graph, Task, Template
from couler_py.ir.pod import PodSettings
from couler_py.passes.situation import Situation

_TASKS = (TaskOutput, TaskArtifact, TaskItems, TaskStatus, Item)


class Chain(msgspec.Struct, frozen=True):
    """Tasks that follow each other and can be one, and their templates."""

    tasks: tuple[Task, ...]
    templates: tuple[Template, ...]


def chains(
    template: Template, known: Mapping[str, Template], situation: Situation, workflow: str, most: float
) -> tuple[Chain, ...]:
    """The chains of a graph that can be one task each, in the order of their first tasks."""
    graph = template.body
    assert isinstance(graph, Graph)
    if not has_edges_alone(graph):
        return ()
    found = shape(graph)
    tasks = {task.name: task for task in graph.tasks}
    read_outside = _read(node for expr in _outside(template) for node in walk(expr))
    can = {
        name: step
        for name, task in tasks.items()
        if (step := _step(task, known)) is not None and _short(step, situation, workflow, most)
    }
    # Its state would be Failed where it was Blocked by what failed before it.
    watched = {
        node.task
        for task in graph.tasks
        for expr in value_expressions(task)
        for node in walk(expr)
        if isinstance(node, TaskStatus)
    }
    after = {
        first: second
        for first in can
        if len(found.consumers[first]) == 1
        and (second := found.consumers[first][0]) in can
        and first not in read_outside
        and second not in watched
        and _follows(tasks[first], tasks[second], can, found)
    }
    chained: list[Chain] = []
    heads = [name for name in after if name not in set(after.values())]
    for head in heads:
        chained.extend(_runs(head, after, tasks, can))
    return tuple(chained)


def _runs(
    head: str, after: Mapping[str, str], tasks: Mapping[str, Task], can: Mapping[str, Template]
) -> Iterable[Chain]:
    """The chain from a task on, cut where the sources of two functions don't go together."""
    names = [head]
    while names[-1] in after:
        following = after[names[-1]]
        if not _together([can[name] for name in [*names, following]]):
            break
        names.append(following)
    if len(names) > 1:
        yield Chain(tuple(tasks[name] for name in names), tuple(can[name] for name in names))
    if names[-1] in after:
        yield from _runs(after[names[-1]], after, tasks, can)


def _outside(template: Template) -> Iterable[Expr]:
    """What reads tasks of a graph from outside of its tasks' own inputs: its outputs and hooks."""
    graph = template.body
    assert isinstance(graph, Graph)
    yield from expressions(replace(template, body=replace(graph, tasks=())))
    for task in graph.tasks:
        for hook in task.hooks:
            yield from (hook.when,) if hook.when is not None else ()
            yield from (argument.value for argument in hook.arguments)


def _read(nodes: Iterable[object]) -> set[str]:
    return {node.task for node in nodes if isinstance(node, TaskOutput | TaskArtifact | TaskItems | TaskStatus)}


def _step(task: Task, known: Mapping[str, Template]) -> Template | None:
    """The Python step that a task calls, where both say nothing that belongs to one step alone."""
    template = known.get(task.call) if isinstance(task.call, str) else None
    if template is None or not isinstance(template.body, Function) or template.body.links:
        return None
    if task.when is not None or task.each is not None or task.hooks or task.continue_on or task.extra is not None:
        return None
    if task.artifacts or template.inputs.artifacts:
        return None
    return template if bare(template) and not template.body.over else None


def bare(template: Template) -> bool:
    """Whether a step says nothing of retries, limits, caches, locks and the like, which belong to one step alone."""
    plain = Template(
        template.name,
        template.body,
        template.inputs,
        template.outputs,
        pod=template.pod,
        effects=template.effects,
        description=template.description,
        display=template.display,
        source=template.source,
    )
    return template == plain


def _short(template: Template, situation: Situation, workflow: str, most: float) -> bool:
    """Whether a step took no longer than so many seconds, as far as is known; what never ran counts as short."""
    seen = situation.history.find(workflow, template)
    return seen is None or not seen.seconds or median(seen.seconds) <= most


def _follows(first: Task, second: Task, can: Mapping[str, Template], found: Shape) -> bool:
    """Whether one task can go on where another ends, in the same process."""
    before, template = can[first.name], can[second.name]
    outputs = before.outputs
    if found.producers[second.name] != (first.name,):
        return False
    if outputs.artifacts or any(each.value is not None or each.global_name for each in outputs.parameters):
        return False
    # By order alone the second would run after a skipped first.
    if not any(edge.kind == "value" for edge in found.edges[second.name]):
        return False
    if any(edge.kind not in ("value", "order") for edge in found.edges[second.name]):
        return False
    for argument in second.arguments:
        if not isinstance(argument.value, TaskOutput) and any(
            isinstance(each, _TASKS) for each in walk(argument.value)
        ):
            return False
    return _surroundings(before) == _surroundings(template)


def _surroundings(template: Template) -> tuple[Function, PodSettings]:
    """What its pod is made of beside its source."""
    body = template.body
    assert isinstance(body, Function)
    return replace(body, name="", pieces=(), returns="none", links=()), template.pod


def _together(templates: Sequence[Template]) -> bool:
    """Whether sources can stand in one module: no name means two things."""
    defined: dict[str, str] = {}
    for template in templates:
        assert isinstance(template.body, Function)
        for piece in template.body.pieces:
            for name, meaning in _defined(piece.text):
                if defined.setdefault(name, meaning) != meaning:
                    return False
    return True


@functools.lru_cache(maxsize=4096)
def _defined(text: str) -> tuple[tuple[str, str], ...]:
    """The names that a piece of source defines in its module, and what each means there."""
    found: list[tuple[str, str]] = []
    for statement in ast.parse(text).body:
        match statement:
            case ast.Import(names=names):
                found += [(each.asname or each.name.partition(".")[0], each.name) for each in names]
            case ast.ImportFrom(module=module, names=names):
                found += [(each.asname or each.name, f"{module}.{each.name}") for each in names]
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.append((name, ast.dump(statement)))
            case _:
                stored = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
                found += [(name, ast.dump(statement)) for name in stored]
    return tuple(found)
