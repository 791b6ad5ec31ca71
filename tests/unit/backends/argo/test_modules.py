"""Modules of large graphs nested: nothing about a run changes but how the documents are cut."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import pairwise

from hypothesis import event, given, settings
from hypothesis import strategies as st

from couler_py.backends.argo import compile_workflow
from couler_py.backends.argo.lower import nest_modules
from couler_py.ir import Workflow
from couler_py.ir.expr import Literal, OrElse
from couler_py.ir.graph import shape, templates_by_name
from couler_py.ir.meaning import State
from couler_py.ir.model import Graph, Task
from tests.conformance.interpreter import interpret
from tests.conformance.podless import OFF, ON, act, said, workflow
from tests.conformance.random_graphs import random_workflow


def flat(workflow: Workflow, modules: frozenset[str], found: Mapping[str, State]) -> dict[str, State]:
    """States by the paths that tasks have without modules; what is in a module that didn't run is as the module."""
    templates = templates_by_name(workflow)
    states: dict[str, State] = {}

    def collect(graph: Graph, inside: str, shown: str, end: State | None) -> None:
        for task in graph.tasks:
            called = templates.get(str(task.call))
            state = end or found[inside + task.name]
            nested = called is not None and called.name in modules
            if nested and called is not None and isinstance(called.body, Graph):
                ran = state in ("Succeeded", "Failed")
                collect(called.body, f"{inside}{task.name}/", shown, None if ran else state)
                continue
            states[shown + task.name] = state
            if end is not None or called is None:
                continue
            if task.each is not None:
                for path, each in found.items():
                    if path.startswith(f"{inside}{task.name}["):
                        states[shown + path.removeprefix(inside)] = each
            elif isinstance(called.body, Graph) and state in ("Succeeded", "Failed"):
                collect(called.body, f"{inside}{task.name}/", f"{shown}{task.name}/", None)

    entrypoint = templates[workflow.entrypoint].body
    assert isinstance(entrypoint, Graph)
    collect(entrypoint, "", "", None)
    return states


def path_length(workflow: Workflow, modules: frozenset[str], name: str) -> int:
    """The number of tasks on the longest way through a graph, those of modules counted each."""
    templates = templates_by_name(workflow)
    graph = templates[name].body
    assert isinstance(graph, Graph)
    found = shape(graph)
    tasks = {task.name: task for task in graph.tasks}
    lengths: dict[str, int] = {}
    for each in found.order():
        call = str(tasks[each].call)
        own = path_length(workflow, modules, call) if call in modules else 1
        lengths[each] = own + max((lengths[producer] for producer in found.producers[each]), default=0)
    return max(lengths.values(), default=0)


def sizes(workflow: Workflow) -> list[int]:
    return [len(template.body.tasks) for template in workflow.templates if isinstance(template.body, Graph)]


def put_together(seed: int, tasks: int) -> Workflow:
    """A graph of parts side by side and parts in a row, most with edges of one kind, and a few edges across."""
    chance = random.Random(seed)
    made: list[Task] = []

    def part(count: int, before: tuple[str, ...], kind: str) -> tuple[str, ...]:
        if count == 1:
            return one(before, kind)
        sizes = shares(count)
        if chance.random() < 0.5:
            return tuple(name for size in sizes for name in part(size, before, kind))
        for size in sizes:
            before = part(size, before, chance.choice(("order", "value", kind)))
        return before

    def one(before: tuple[str, ...], kind: str) -> tuple[str, ...]:
        words = {kind: " ".join(before)}
        if made and chance.random() < 0.05:
            words.setdefault(chance.choice(("on_failure", "always", "or_else", "value")), chance.choice(made).name)
        if "always" in words:
            words = {"always": words["always"], "order": " ".join(before)}
        when = chance.choice((ON, OFF)) if chance.random() < 0.07 and "always" not in words else None
        made.append(act(f"t{len(made)}", chance.choice("SSSSSSSSSF"), when=when, **words))  # type: ignore[arg-type]
        return (made[-1].name,)

    def shares(count: int) -> list[int]:
        cuts = sorted(chance.sample(range(1, count), min(count - 1, chance.randint(1, 4))))
        return [last - first for first, last in pairwise((0, *cuts, count))]

    last = part(tasks, (), "order")
    return workflow(*made, outputs={"r": OrElse(said(last[-1]), Literal("-"))})


def same_but_for_cuts(given: Workflow, most: int) -> int:
    """Hold a workflow against itself with modules nested; gives how many there are."""
    nested, modules = nest_modules(given, most)
    before, after = interpret(given), interpret(nested)
    assert (after.state, after.outputs) == (before.state, before.outputs)
    assert flat(nested, modules, after.tasks) == before.tasks
    for template in given.templates:
        if isinstance(template.body, Graph):
            assert path_length(nested, modules, template.name) == path_length(given, frozenset(), template.name)
    return len(modules)


@given(st.integers(0, 10**9), st.integers(2, 5))
@settings(max_examples=200, deadline=None)
def test_nesting_changes_no_state_no_output_and_no_longest_path_of_any_graph(seed: int, most: int) -> None:
    same_but_for_cuts(random_workflow(seed, tasks=14), most)


@given(st.integers(0, 10**9), st.integers(6, 40), st.integers(2, 6))
@settings(max_examples=400, deadline=None)
def test_nesting_changes_nothing_of_graphs_that_are_put_together(seed: int, tasks: int, most: int) -> None:
    event("modules" if same_but_for_cuts(put_together(seed, tasks), most) else "none")


def wide(count: int) -> list[Task]:
    return [act(f"w{number}", value="start") for number in range(count)]


def chain(count: int, first: str) -> list[Task]:
    names = [first, *(f"c{number}" for number in range(count))]
    return [act(name, value=before) for before, name in pairwise(names)]


def large() -> Workflow:
    """450 tasks: one, 300 that wait for it, one that waits for those, and 148 one after the other."""
    middle = wide(300)
    end = act("join", order=" ".join(task.name for task in middle))
    return workflow(act("start"), *middle, end, *chain(148, "join"), outputs={"r": said("c147")})


def test_wide_and_long_graphs_fit_an_installation() -> None:
    nested, modules = nest_modules(large())
    assert max(sizes(nested)) <= 200
    assert len(modules) <= 5
    assert compile_workflow(large()).diagnostics == ()


def test_graphs_that_fit_are_left_as_they_are() -> None:
    given = workflow(act("start"), *wide(150))
    assert nest_modules(given) == (given, frozenset())
