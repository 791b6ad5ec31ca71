"""The edge table, and who runs and how a graph ends by it, exactly as the design fixes them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given

from couler_py.ir.expr import Access, First, Literal, OrElse, TaskArtifact, TaskItems, TaskOutput, TaskStatus
from couler_py.ir.graph import shape
from couler_py.ir.meaning import (
    Edge,
    State,
    Verdict,
    decide,
    depends_holds,
    edges,
    outcome,
    verdict,
)
from couler_py.ir.model import (
    After,
    Argument,
    ArtifactArgument,
    DependsAll,
    DependsAny,
    DependsNot,
    DependsOn,
    Each,
    Graph,
    Sequence,
    Task,
    Workflow,
)
from tests.strategies import podless_workflows

STATES: tuple[State, ...] = ("Succeeded", "Skipped", "Failed", "Blocked")

TABLE: list[tuple[str, tuple[Verdict, Verdict, Verdict, Verdict]]] = [
    ("order", ("go", "go", "block", "block")),
    ("value", ("go", "skip", "block", "block")),
    ("on_failure", ("skip", "skip", "go", "go")),
    ("always", ("go", "go", "go", "go")),
]


@pytest.mark.parametrize(
    ("kind", "state", "expected"),
    [(kind, state, said) for kind, row in TABLE for state, said in zip(STATES, row, strict=True)],
)
def test_each_cell_of_the_edge_table(kind: str, state: State, expected: Verdict) -> None:
    assert verdict(Edge(kind, ("p",)), {"p": state}) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize(("left", "right"), list(itertools.product(STATES, STATES)))
def test_first_blocks_on_failure_else_goes_on_success_else_skips(left: State, right: State) -> None:
    ended = {left, right}
    expected = "block" if ended & {"Failed", "Blocked"} else "go" if "Succeeded" in ended else "skip"
    assert verdict(Edge("first", ("a", "b")), {"a": left, "b": right}) == expected


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (("go", "go"), "go"),
        (("go", "skip"), "skip"),
        (("skip", "block"), "block"),
        (("go", "block"), "block"),
        ((), "go"),
    ],
)
def test_a_block_wins_over_a_skip_and_a_skip_over_go(verdicts: tuple[Verdict, ...], expected: Verdict) -> None:
    producer: dict[Verdict, State] = {"go": "Succeeded", "skip": "Skipped", "block": "Failed"}
    states = {f"p{i}": producer[said] for i, said in enumerate(verdicts)}
    assert decide([Edge("value", (name,)) for name in states], states) == expected


def reading(*values: object, after: tuple[After, ...] = (), **more: object) -> Task:
    arguments = tuple(Argument(f"x{i}", value) for i, value in enumerate(values))  # type: ignore[arg-type]
    return Task("t", "work", arguments, after=after, **more)  # type: ignore[arg-type]


A, B = TaskOutput("a", "out"), TaskOutput("b", "out")


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (reading(A), [Edge("value", ("a",))]),
        (reading(A, A, Access(A, Literal(0))), [Edge("value", ("a",))]),
        (reading(OrElse(A, Literal(0))), [Edge("order", ("a",))]),
        (reading(OrElse(A, B)), [Edge("order", ("a",)), Edge("value", ("b",))]),
        (reading(OrElse(A, OrElse(B, Literal(0)))), [Edge("order", ("a",)), Edge("order", ("b",))]),
        (reading(First((A, B))), [Edge("first", ("a", "b"))]),
        (reading(OrElse(First((A, B)), Literal(0))), [Edge("order", ("a",)), Edge("order", ("b",))]),
        (reading(OrElse(A, Literal(0)), after=(After("a", "always"),)), [Edge("always", ("a",))]),
        (reading(A, after=(After("a", "always"),)), [Edge("always", ("a",)), Edge("value", ("a",))]),
        (reading(TaskStatus("a")), [Edge("order", ("a",))]),
        (reading(TaskStatus("a"), after=(After("a", "on_failure"),)), [Edge("on_failure", ("a",))]),
        (reading(TaskItems("a")), [Edge("value", ("a",))]),
        (reading(when=A), [Edge("value", ("a",))]),
        (reading(each=Each(A)), [Edge("value", ("a",))]),
        (reading(each=Each(Sequence(count=A))), [Edge("value", ("a",))]),
        (reading(artifacts=(ArtifactArgument("f", TaskArtifact("a", "f")),)), [Edge("value", ("a",))]),
        (reading(after=(After("a"), After("b", "on_failure"))), [Edge("order", ("a",)), Edge("on_failure", ("b",))]),
        (reading(depends=DependsAll((DependsOn("a"), DependsNot(DependsOn("b"))))),
         [Edge("order", ("a",)), Edge("order", ("b",))]),
    ],
)  # fmt: skip
def test_edges_of_a_task(task: Task, expected: list[Edge]) -> None:
    assert list(edges(task)) == expected


def ends(graph_edges: dict[str, list[Edge]], **states: State) -> State:
    return outcome(graph_edges, states)


ORDER_A = [Edge("order", ("a",))]
HANDLER_A = [Edge("on_failure", ("a",))]
ALWAYS_A = [Edge("always", ("a",))]


@pytest.mark.parametrize(
    ("graph_edges", "states", "expected"),
    [
        ({"a": []}, {"a": "Succeeded"}, "Succeeded"),
        ({"a": []}, {"a": "Failed"}, "Failed"),
        ({"a": []}, {"a": "Skipped"}, "Succeeded"),
        ({"a": [], "b": []}, {"a": "Succeeded", "b": "Failed"}, "Failed"),
        # a leaf that didn't run counts with the worst among its producers
        ({"a": [], "b": ORDER_A}, {"a": "Failed", "b": "Blocked"}, "Failed"),
        ({"a": [], "b": ORDER_A}, {"a": "Skipped", "b": "Skipped"}, "Succeeded"),
        # on_failure that succeeded absolves
        ({"a": [], "h": HANDLER_A}, {"a": "Failed", "h": "Succeeded"}, "Succeeded"),
        ({"a": [], "h": HANDLER_A}, {"a": "Failed", "h": "Failed"}, "Failed"),
        # a handler switched off by its own `when` doesn't
        ({"a": [], "h": HANDLER_A}, {"a": "Failed", "h": "Skipped"}, "Failed"),
        ({"a": [], "h": HANDLER_A}, {"a": "Succeeded", "h": "Skipped"}, "Succeeded"),
        # always never absolves
        ({"a": [], "c": ALWAYS_A}, {"a": "Failed", "c": "Succeeded"}, "Failed"),
        ({"a": [], "c": ALWAYS_A}, {"a": "Succeeded", "c": "Failed"}, "Failed"),
        ({"a": [], "c": ALWAYS_A}, {"a": "Succeeded", "c": "Succeeded"}, "Succeeded"),
        # an absolved failure stays absolved beside an always edge
        ({"a": [], "h": HANDLER_A, "c": ALWAYS_A}, {"a": "Failed", "h": "Succeeded", "c": "Succeeded"}, "Succeeded"),
        # what hangs on the failure besides is a leaf of its own
        ({"a": [], "h": HANDLER_A, "b": ORDER_A}, {"a": "Failed", "h": "Succeeded", "b": "Blocked"}, "Failed"),
        # the chain behind a blocked task can be absolved too
        (
            {"a": [], "b": ORDER_A, "h": [Edge("on_failure", ("b",))]},
            {"a": "Failed", "b": "Blocked", "h": "Succeeded"},
            "Succeeded",
        ),
    ],
)
def test_outcome_of_a_graph(graph_edges: dict[str, list[Edge]], states: dict[str, State], expected: State) -> None:
    assert outcome(graph_edges, states) == expected


@given(podless_workflows())
def test_a_graph_in_which_nothing_failed_succeeds(workflow: Workflow) -> None:
    graph = next(template.body for template in workflow.templates if template.name == "main")
    assert isinstance(graph, Graph)
    found = shape(graph).edges
    for state in ("Succeeded", "Skipped"):
        assert outcome(found, dict.fromkeys(found, state)) == "Succeeded"


@pytest.mark.parametrize(
    ("state", "holds"),
    [
        ("", {"Succeeded", "Skipped"}),
        ("Succeeded", {"Succeeded"}),
        ("Failed", {"Failed"}),
        ("Errored", {"Failed"}),
        ("Skipped", {"Skipped"}),
        ("Omitted", {"Blocked"}),
        ("Daemoned", {"Succeeded"}),
    ],
)
def test_a_leaf_of_an_imported_depends(state: str, holds: set[str]) -> None:
    leaf = DependsOn("a", state)  # type: ignore[arg-type]
    assert {ended for ended in STATES if depends_holds(leaf, {"a": ended})} == holds


def test_depends_combines_its_operands() -> None:
    a, b = DependsOn("a", "Failed"), DependsOn("b", "Failed")
    states: dict[str, State] = {"a": "Failed", "b": "Succeeded"}
    assert depends_holds(DependsAny((a, b)), states)
    assert not depends_holds(DependsAll((a, b)), states)
    assert depends_holds(DependsNot(b), states)
