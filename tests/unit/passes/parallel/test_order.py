"""Order that no value needs: which edges are listed, which can go, what that saves, and that results stay the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from couler_py.ir import expr as e
from couler_py.ir.graph import shape
from couler_py.ir.model import (
    After,
    Argument,
    External,
    Graph,
    Inputs,
    OutputParameter,
    Outputs,
    Parameter,
    Suspend,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container, VolumeMount
from couler_py.passes.history import History, Observed, work_of
from couler_py.passes.parallel import apply, ordering
from couler_py.passes.parallel.ordering import MOST_PAIRS
from couler_py.passes.situation import Note, Situation
from tests.conformance.interpreter import interpret
from tests.conformance.random_graphs import random_workflow
from tests.strategies import podless_workflows

BODY = Container("alpine")
STEP = Template("step", BODY, Inputs((Parameter("x", default=""),)), Outputs((OutputParameter("out", path="/out"),)))
WRITES = replace(STEP, name="writes", effects=("db",))
DROP = Situation(options={"drop_order_edges": True})


def flow(*tasks: Task, templates: tuple[Template, ...] = ()) -> Workflow:
    return Workflow("flow", "main", (Template("main", Graph(tasks)), STEP, WRITES, *templates))


def after(name: str, *producers: str, call: str = "step", kind: str = "order", **more: object) -> Task:
    return Task(name, call, after=tuple(After(each, kind) for each in producers), **more)  # type: ignore[arg-type]


def edges(workflow: Workflow) -> set[str]:
    body = workflow.templates[0].body
    assert isinstance(body, Graph)
    return {
        f"{producer} {name}" for name, producers in shape(body).producers.items() for producer in producers
    }  # fmt: skip


def left(*tasks: Task, templates: tuple[Template, ...] = ()) -> set[str]:
    return edges(apply(flow(*tasks, templates=templates), DROP).workflow)


CHAIN = (after("a"), after("b", "a"), after("c", "b"))


def test_nothing_changes_unless_it_is_asked_for() -> None:
    made = flow(*CHAIN)
    assert apply(made, Situation()).workflow == made


def test_each_edge_is_offered_with_what_it_saves_and_all_of_them_together() -> None:
    assert apply(flow(*CHAIN), Situation()).notes == (
        Note("main", "could drop 2 order edges", "no value needs them", "2 steps of the critical path"),
        Note("b", "needn't wait for a", "no value needs it", "1 step of the critical path"),
        Note("c", "needn't wait for b", "no value needs it", "1 step of the critical path"),
    )


def test_what_it_saves_is_in_seconds_where_earlier_runs_took_some() -> None:
    seen = Observed("flow", "step", work_of(STEP), seconds=(1.0, 2.0, 9.0))
    [note] = apply(flow(after("a"), after("b", "a")), Situation(history=History.of(seen))).notes
    assert note.saves == "2 s of the critical path"


def test_edges_go_when_asked() -> None:
    assert left(*CHAIN) == set()


def test_an_edge_beside_a_value_is_not_order_alone() -> None:
    reads = Task("b", "step", (Argument("x", e.TaskOutput("a", "out")),), after=(After("a"),))
    assert apply(flow(after("a"), reads), DROP).notes == ()


def test_steps_with_effects_keep_their_order_also_through_others() -> None:
    tasks = (after("w", call="writes"), after("a", "w"), after("b", "a"), after("r", "b", call="writes"))
    assert left(*tasks) == {"w a", "w r", "b r"}
    kept = {note.place: note.why for note in apply(flow(*tasks), DROP).notes if note.what.startswith("keeps")}
    assert kept == {"a": "w: it declares effects (db)", "r": "r: it declares effects (db)"}


def test_what_waits_or_speaks_to_others_or_shares_a_volume_keeps_its_order() -> None:
    wait = Template("wait", Suspend(60.0))
    shares = Template("shares", Container("alpine", mounts=(VolumeMount("v", "/v"),)))
    tasks = (after("a", call="wait"), after("b", "a"), after("c", call="shares"), after("d", "c"))
    assert left(*tasks, templates=(wait, shares)) == {"a b", "c d"}
    assert left(after("a"), Task("b", External("t", "x"), after=(After("a"),))) == {"a b"}


def test_an_edge_stays_where_somebody_looks_at_how_what_follows_ended() -> None:
    assert left(*CHAIN, after("h", "c", kind="on_failure")) == {"a b", "b c", "c h"}
    status = e.Compare("==", e.TaskStatus("c"), e.Literal("Succeeded"))
    assert left(*CHAIN, Task("h", "step", when=status)) == {"a b", "b c", "c h"}


def test_effects_inside_a_nested_graph_count() -> None:
    inner = Template("inner", Graph((Task("x", "writes"),)))
    assert left(after("a"), after("b", "a", call="inner"), templates=(inner,)) == {"a b"}


def same(workflow: Workflow) -> None:
    """A run that succeeds gives the same; one that fails still fails, and nothing that succeeded is lost."""
    changed = apply(workflow, DROP).workflow
    before, now = interpret(workflow), interpret(changed)
    assert now.state == before.state
    if before.state == "Succeeded":
        assert (now.tasks, now.outputs) == (before.tasks, before.outputs)
    else:
        kept = {path: state for path, state in now.tasks.items() if before.tasks.get(path, "Blocked") != "Blocked"}
        assert kept == {path: state for path, state in before.tasks.items() if state != "Blocked"}
    assert apply(changed, DROP).workflow == changed


@settings(max_examples=150, deadline=None)
@given(podless_workflows())
def test_results_stay_the_same(workflow: Workflow) -> None:
    same(workflow)


def test_results_of_many_random_graphs_stay_the_same_and_most_of_them_change() -> None:
    found = [random_workflow(seed) for seed in range(400)]
    for workflow in found:
        same(workflow)
    assert sum(apply(workflow, DROP).workflow != workflow for workflow in found) > 100


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_tasks_with_effects_stay_in_order(data: st.DataObject) -> None:
    number = data.draw(st.integers(2, 9))
    tasks = []
    for i in range(number):
        producers = data.draw(st.sets(st.integers(0, i - 1))) if i else set()
        call = data.draw(st.sampled_from(["step", "step", "writes"]))
        tasks.append(after(f"t{i}", *(f"t{each}" for each in sorted(producers)), call=call))
    writes = [task.name for task in tasks if task.call == "writes"]
    assert {pair for pair in above(left(*tasks)) if pair[0] in writes and pair[1] in writes} == {
        pair for pair in above(edges(flow(*tasks))) if pair[0] in writes and pair[1] in writes
    }


def test_in_large_graphs_the_first_thousand_edges_are_told_one_by_one() -> None:
    tasks = [after("t0"), *(after(f"t{i}", "t0") for i in range(1, 1_501)), after("w", "t1", call="writes")]
    notes = apply(flow(*tasks), Situation()).notes
    assert len(notes) == 1_002
    assert notes[-1] == Note("main", "501 more order edges, 1 of which stay", "1,000 are told one by one")


def test_what_many_tasks_with_effects_come_before_keeps_its_order() -> None:
    many = [after(f"w{i}", call="writes") for i in range(MOST_PAIRS + 1)]
    chain = [after("a", *(task.name for task in many)), after("b", "a"), after("last", "b", call="writes")]
    assert left(*many, *chain) == edges(flow(*many, *chain))
    assert left(*many, *chain[:2]) == edges(flow(*many, chain[0]))


def test_where_there_is_no_room_to_look_tasks_with_effects_get_edges_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tasks = (after("v", call="writes"), after("w", "v", call="writes"), after("a", "v"), after("b", "a"))
    late = after("r", "w", "b", call="writes")
    assert left(*tasks, late) == {"v w", "v a", "w r", "b r"}
    monkeypatch.setattr(ordering, "LOOKED_AT", 0)
    assert left(*tasks, late) == {"v w", "v a", "w r", "b r", "v r"}


def above(found: set[str]) -> set[tuple[str, str]]:
    """All pairs of tasks of which the second comes after the first."""
    pairs = {(early, late) for early, late in map(str.split, found)}
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs |= more
    return pairs
