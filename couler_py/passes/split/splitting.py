"""A workflow's graph as parts: what is in each, which it waits for, and what goes from one to another."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from couler_py.ir.graph import Shape, shape, templates_by_name
from couler_py.ir.model import Graph, Task, Workflow
from couler_py.ir.possible import Possibilities
from couler_py.passes.split.atoms import kept_whole, together
from couler_py.passes.split.budget import Budget, SplitError
from couler_py.passes.split.choosing import Choice, choose
from couler_py.passes.split.problem import Problem
from couler_py.passes.split.uses import uses_of


class Weights(msgspec.Struct, frozen=True):
    """What the tasks of a graph weigh on an engine, by name; see `Problem` for the words.

    `measures` names what is measured, in the order of all tuples here. `kinds` is what a task needs that others of its
    part may need too, `shared` what that weighs. `most` is how many parts there may be.
    """

    measures: tuple[str, ...]
    limits: tuple[int | None, ...]
    sizes: Mapping[str, tuple[int, ...]]
    fixed: tuple[int, ...]
    entering: tuple[int, ...]
    leaving: tuple[int, ...]
    kinds: Mapping[str, str] = {}
    shared: Mapping[str, tuple[int, ...]] = {}
    most: int | None = None


class Crossing(msgspec.Struct, frozen=True, gc=False):
    """A task that a part reads although it is in another one."""

    task: str
    reader: str


class Part(msgspec.Struct, frozen=True):
    """Some tasks of the graph, in program order, and the parts that they wait for, all of which come before it."""

    name: str
    tasks: tuple[str, ...]
    after: tuple[str, ...]


class Splitting(msgspec.Struct, frozen=True):
    """The parts of a graph in an order in which they can run, what crosses their borders, and how they were chosen."""

    parts: tuple[Part, ...]
    crossings: tuple[Crossing, ...]
    choice: Choice


def not_split(workflow: Workflow) -> str:
    """Why the graph that a workflow starts with has to stay whole; empty where it can be split."""
    template = templates_by_name(workflow).get(workflow.entrypoint)
    if template is None or not isinstance(template.body, Graph):
        return "the workflow doesn't start with a graph"
    graph = shape(template.body)
    return kept_whole(workflow, template, graph, Possibilities(workflow, {template.name: graph}).of_graph(template))


def split(workflow: Workflow, budget: Budget, weights: Weights, times: Mapping[str, float] | None = None) -> Splitting:
    """The graph that a workflow starts with in parts within their limits; `times` are the seconds of its tasks.

    The same workflow gives the same parts. Raises `SplitError` for a graph that has to stay whole, and for a task that
    is over the limits alone.
    """
    if reason := not_split(workflow):
        raise SplitError(f"{workflow.display or workflow.name} can't be split: {reason}")
    template = templates_by_name(workflow)[workflow.entrypoint]
    assert isinstance(template.body, Graph)
    graph = shape(template.body)
    tasks = {task.name: task for task in template.body.tasks}
    groups = together(tasks, graph)
    problem = _problem(groups, tasks, graph, weights, times or {})
    if large := problem.too_large():
        inside = groups[large[0]]
        what = (
            f"{', '.join(inside[:3])} must be in one part, and" if len(inside) > 1 else f"{inside[0]} can't be in any:"
        )
        raise SplitError(
            f"{what} with what stands there for the tasks that it reads it is more than a part may have "
            f"({_limits(weights)}): give more room, or put what belongs together into a graph of its own"
        )
    try:
        choice = choose(problem, budget.slots, budget.start, weights.most)
    except ValueError as error:
        raise SplitError(
            f"{workflow.display or workflow.name} can't be split: {error}; give parts more room, or put what belongs "
            "together into graphs of their own"
        ) from None
    return _splitting(choice, groups, tasks, graph)


def _limits(weights: Weights) -> str:
    pairs = zip(weights.measures, weights.limits, strict=True)
    return ", ".join(f"{limit:,} {name}" for name, limit in pairs if limit is not None)


def _problem(
    groups: Sequence[tuple[str, ...]],
    tasks: Mapping[str, Task],
    graph: Shape,
    weights: Weights,
    times: Mapping[str, float],
) -> Problem:
    place = {name: number for number, group in enumerate(groups) for name in group}
    before: list[dict[int, None]] = [{} for _ in groups]
    for reader, producers in graph.producers.items():
        own = place[reader]
        for producer in producers:
            if place[producer] != own:
                before[own][place[producer]] = None
    after: list[list[int]] = [[] for _ in groups]
    for number, producers_of in enumerate(before):
        for producer_number in producers_of:
            after[producer_number].append(number)
    kinds = {key: number for number, key in enumerate(weights.shared)}
    carried = _carried(groups, place, tasks, graph)
    return Problem(
        names=[group[0] for group in groups],
        before=[list(each) for each in before],
        after=after,
        sizes=tuple(
            [sum(weights.sizes[name][measure] for name in group) for group in groups]
            for measure in range(len(weights.measures))
        ),
        limits=weights.limits,
        kinds=[kinds.get(weights.kinds.get(group[0], ""), -1) if len(group) == 1 else -1 for group in groups],
        shared=list(weights.shared.values()),
        fixed=weights.fixed,
        entering=weights.entering,
        leaving=weights.leaving,
        carried=carried,
        times=[max(times.get(name, 1.0) for name in group) for group in groups],
    )


STATE, VALUE, FILE = 16, 64, 1024
"""Bytes taken for a state, a value and a file that are handed over, where nothing is known of them."""


def _carried(
    groups: Sequence[tuple[str, ...]], place: Mapping[str, int], tasks: Mapping[str, Task], graph: Shape
) -> list[int]:
    found = [0] * len(groups)
    read: dict[str, dict[str, int]] = {}
    for task in tasks.values():
        uses = uses_of(task, graph)
        for name, outputs in uses.outputs.items():
            if place[name] == place[task.name]:
                continue
            slots = read.setdefault(name, {"": STATE})
            slots.update(dict.fromkeys(outputs, VALUE))
            slots.update({f"file {each}": FILE for each in uses.files.get(name, ())})
    for name, slots in read.items():
        found[place[name]] += sum(slots.values())
    return found


def _splitting(choice: Choice, groups: Sequence[tuple[str, ...]], tasks: Mapping[str, Task], graph: Shape) -> Splitting:
    number = {name: choice.chosen.parts[index] for index, group in enumerate(groups) for name in group}
    members: dict[int, list[str]] = {}
    for name in tasks:
        members.setdefault(number[name], []).append(name)
    names = {each: f"part-{_caller(inside)}" for each, inside in members.items()}
    crossings: dict[Crossing, None] = {}
    after: dict[str, dict[str, None]] = {name: {} for name in names.values()}
    for name in tasks:
        own = names[number[name]]
        for producer in graph.producers[name]:
            if names[number[producer]] != own:
                crossings[Crossing(producer, own)] = None
                after[own][names[number[producer]]] = None
    inside_of = {names[each]: tuple(inside) for each, inside in members.items()}
    parts = [Part(name, inside_of[name], tuple(after[name])) for name in _order(after)]
    return Splitting(tuple(parts), tuple(crossings), choice)


def _caller(tasks: Sequence[str]) -> str:
    """The task after which a part is called: one that most edits leave in it."""
    return min(tasks, key=lambda name: hashlib.sha256(name.encode()).digest())


def _order(after: Mapping[str, Mapping[str, None]]) -> list[str]:
    readers: dict[str, list[str]] = {name: [] for name in after}
    waiting = {name: len(before) for name, before in after.items()}
    for name, before in after.items():
        for each in before:
            readers[each].append(name)
    found = [name for name, count in waiting.items() if not count]
    for name in found:
        for reader in readers[name]:
            waiting[reader] -= 1
            if not waiting[reader]:
                found.append(reader)
    return found
