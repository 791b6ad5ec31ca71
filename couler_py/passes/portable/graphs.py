"""Graphs by what Argo means by them, in the IR's own terms: `depends` for every task that waits for others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from couler_py.ir.model import Depends, DependsAll, DependsAny, DependsNot, DependsOn, DependsState, Graph, Task

_STATES: dict[str, DependsState] = {"failed": "Failed", "error": "Errored"}


def as_dag(graph: Graph) -> Graph:
    """The graph with each task's dependencies as a tree: a bare name is Succeeded, Skipped or Daemoned.

    A group of steps waits for all of the group before. What `continueOn` forgives is among the states, too. A task that
    nobody waits for keeps its own: there it decides how the graph ends.
    """
    tasks = {task.name: task for task in graph.tasks}
    waits = {task.name: _tree(task) for task in graph.tasks}
    for before, group in zip(graph.groups, graph.groups[1:], strict=False):
        for name in group:
            waits[name] = _all([DependsOn(earlier) for earlier in before])
    waited = {name for tree in waits.values() if tree is not None for name in _names(tree)}
    made = tuple(
        msgspec.structs.replace(
            task,
            after=(),
            depends=_said(waits[name], tasks),
            continue_on=() if name in waited and graph.form == "dag" else task.continue_on,
        )
        for name, task in tasks.items()
    )
    return Graph(made, targets=graph.targets)


def _tree(task: Task) -> Depends | None:
    return task.depends if task.depends is not None else _all([DependsOn(after.task) for after in task.after])


def _all(operands: Sequence[Depends]) -> Depends | None:
    return None if not operands else operands[0] if len(operands) == 1 else DependsAll(tuple(operands))


def _names(tree: Depends) -> set[str]:
    match tree:
        case DependsOn(task=task):
            return {task}
        case DependsNot(operand=operand):
            return _names(operand)
        case DependsAll(operands=operands) | DependsAny(operands=operands):
            return set[str]().union(*map(_names, operands))


def _said(tree: Depends | None, tasks: Mapping[str, Task]) -> Depends | None:
    match tree:
        case DependsOn(task=name, state="") if name in tasks and tasks[name].continue_on:
            forgiven = [DependsOn(name, _STATES[each]) for each in tasks[name].continue_on]
            return DependsAny((tree, *forgiven))
        case DependsNot(operand=operand):
            inner = _said(operand, tasks)
            assert inner is not None
            return DependsNot(inner)
        case DependsAll(operands=operands):
            return DependsAll(tuple(each for operand in operands if (each := _said(operand, tasks)) is not None))
        case DependsAny(operands=operands):
            return DependsAny(tuple(each for operand in operands if (each := _said(operand, tasks)) is not None))
    return tree
