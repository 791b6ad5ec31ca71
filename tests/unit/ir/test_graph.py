"""Questions about graphs, against networkx on random ones, and by hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.ir import Graph, Suspend, Task, Template, Workflow
from couler_py.ir.expr import First, TaskOutput
from couler_py.ir.graph import (
    CycleError,
    Shape,
    reachable,
    readers,
    recursive,
    shape,
    shape_of,
    strongly_connected,
)
from couler_py.ir.meaning import Edge, graph_edges
from couler_py.ir.model import After, Argument, Hook, Loop


@st.composite
def any_edges(draw: st.DrawFn) -> dict[str, list[str]]:
    """Producers of each node, circles included."""
    names = [f"n{i}" for i in range(draw(st.integers(1, 8)))]
    return {name: draw(st.lists(st.sampled_from(names), max_size=3, unique=True)) for name in names}


def shape_by(producers: dict[str, list[str]]) -> Shape:
    return shape_of({name: tuple(Edge("order", (p,)) for p in found) for name, found in producers.items()})


def digraph(producers: dict[str, list[str]]) -> nx.DiGraph[str]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(producers)
    graph.add_edges_from((producer, name) for name, found in producers.items() for producer in found)
    return graph


@given(any_edges())
def test_an_order_or_a_circle(producers: dict[str, list[str]]) -> None:
    found, truth = shape_by(producers), digraph(producers)
    if nx.is_directed_acyclic_graph(truth):
        order = found.order()
        assert sorted(order) == sorted(producers)
        place = {name: i for i, name in enumerate(order)}
        assert all(place[a] < place[b] for a, b in truth.edges)
    else:
        with pytest.raises(CycleError) as raised:
            found.order()
        cycle = raised.value.cycle
        assert cycle[0] == cycle[-1]
        assert len(set(cycle)) == len(cycle) - 1
        assert all(truth.has_edge(a, b) for a, b in itertools.pairwise(cycle))


@given(any_edges())
def test_levels_are_longest_paths(producers: dict[str, list[str]]) -> None:
    truth = digraph(producers)
    if nx.is_directed_acyclic_graph(truth):
        generations = {name: i for i, names in enumerate(nx.topological_generations(truth)) for name in names}
        assert shape_by(producers).levels() == generations


@given(any_edges())
def test_leaves_are_what_nobody_waits_for(producers: dict[str, list[str]]) -> None:
    truth = digraph(producers)
    assert shape_by(producers).leaves() == tuple(name for name in producers if truth.out_degree(name) == 0)


@given(any_edges())
def test_strongly_connected_groups_callees_first(calls: dict[str, list[str]]) -> None:
    groups = strongly_connected({name: tuple(found) for name, found in calls.items()})
    truth = digraph(calls)
    assert {frozenset(group) for group in groups} == {frozenset(one) for one in nx.strongly_connected_components(truth)}
    place = {name: i for i, group in enumerate(groups) for name in group}
    assert all(place[callee] <= place[caller] for caller, callees in calls.items() for callee in callees)


@given(any_edges())
def test_recursive_templates_are_those_on_circles(calls: dict[str, list[str]]) -> None:
    templates = tuple(
        Template(name, Graph(tuple(Task(f"t{i}", callee) for i, callee in enumerate(callees))))
        for name, callees in calls.items()
    )
    truth = digraph(calls)
    expected = {name for name in calls if any(nx.has_path(truth, name, p) for p in truth.predecessors(name))}
    assert recursive(Workflow("w", "n0", templates)) == expected


@given(any_edges())
def test_reachable_templates(calls: dict[str, list[str]]) -> None:
    templates = tuple(
        Template(name, Graph(tuple(Task(f"t{i}", callee) for i, callee in enumerate(callees))))
        for name, callees in calls.items()
    )
    truth = digraph(calls).reverse()
    assert set(reachable(Workflow("w", "n0", templates))) == {"n0"} | nx.descendants(truth, "n0")


def test_the_circle_names_its_members_once_from_the_first() -> None:
    with pytest.raises(CycleError, match="wait for each other: b -> c -> d -> b"):
        shape_by({"a": [], "b": ["a", "d"], "c": ["b"], "d": ["c"]}).order()


def test_an_edge_to_nowhere_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="gone"):
        shape(Graph((Task("a", "t", after=(After("gone"),)),)))


def test_leaves_of_the_outcome_dont_see_always_edges() -> None:
    tasks = (Task("a", "t"), Task("b", "t", after=(After("a"),)), Task("c", "t", after=(After("b", "always"),)))
    found = shape(Graph(tasks))
    assert found.leaves() == ("c",)
    assert found.leaves_of_outcome() == ("b", "c")


def test_groups_wait_for_the_group_before() -> None:
    tasks = (Task("a", "t"), Task("b", "t"), Task("c", "t"))
    graph = Graph(tasks, form="steps", groups=(("a", "b"), ("c",)))
    assert graph_edges(graph)["c"] == (Edge("order", ("a",)), Edge("order", ("b",)))


def test_readers_of_outputs() -> None:
    b = Task("b", "t", (Argument("x", First((TaskOutput("a", "out"), TaskOutput("a", "more")))),))
    c = Task("c", "t", after=(After("a"),))
    assert readers(Graph((Task("a", "t"), b, c))) == {"a": (b,), "b": (), "c": ()}


def test_loops_and_hooks_are_calls() -> None:
    templates = (
        Template("main", Graph((Task("a", "loop", hooks=(Hook("exit", "hooked"),)),))),
        Template("loop", Loop("body", TaskOutput("x", "y"))),
        Template("body", Suspend()),
        Template("hooked", Suspend()),
        Template("unused", Suspend()),
    )
    assert reachable(Workflow("w", "main", templates)) == ("main", "loop", "body", "hooked")


class Counted(dict[str, tuple[str, ...]]):
    """A mapping that counts how often something is looked up in it."""

    looked = 0

    def __getitem__(self, key: str) -> tuple[str, ...]:
        Counted.looked += 1
        return super().__getitem__(key)


def layers(width: int, depth: int) -> Iterator[tuple[str, list[str]]]:
    for layer in range(depth):
        for i in range(width):
            below = [] if layer == 0 else [f"n{layer - 1}-{i}", f"n{layer - 1}-{(i + 1) % width}"]
            yield f"n{layer}-{i}", below


@pytest.mark.parametrize(("width", "depth"), [(1, 3000), (3000, 1), (50, 60)])
def test_the_order_looks_at_each_task_once(width: int, depth: int) -> None:
    plain = shape_by(dict(layers(width, depth)))
    counted = Shape(plain.edges, plain.producers, Counted(plain.consumers))
    Counted.looked = 0
    assert len(counted.order()) == width * depth
    assert Counted.looked == width * depth
