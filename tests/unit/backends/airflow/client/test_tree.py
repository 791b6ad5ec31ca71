"""The workflow's tasks out of the DAG's."""

from __future__ import annotations

from typing import Any

import pytest

from couler_py.backends.airflow.client.status import run_phase, run_status, task_statuses
from couler_py.backends.airflow.client.tree import phase_of, places
from couler_py.backends.airflow.names import task_ids
from couler_py.ir.model import Graph, Task

OK, NO, SKIP, BLOCK = "success", "failed", "skipped", "upstream_failed"
RUN = {"dag_id": "d", "dag_run_id": "r", "state": "running"}


def instance(task_id: str, state: str | None = OK, index: int = -1, operator: str = "PythonOperator") -> dict[str, Any]:
    started = None if state in (None, "scheduled", "queued", SKIP, BLOCK) else "2026-01-01T00:00:00+00:00"
    return {
        "id": f"{task_id}{index}",
        "task_id": task_id,
        "map_index": index,
        "state": state,
        "operator_name": operator,
        "try_number": 0 if started is None else 1,
        "start_date": started,
        "end_date": "2026-01-01T00:00:02+00:00" if state in (OK, NO) else None,
    }


def gate(task_id: str, state: str = OK) -> dict[str, Any]:
    return instance(task_id, state, operator="EmptyOperator")


def paths(*instances: dict[str, Any]) -> dict[str, str]:
    return {place.path: place.phase for place in places(instances)}


def test_gates_and_the_runs_last_tasks_are_none_of_the_workflows() -> None:
    found = paths(
        instance("a"), gate("b__order"), gate("b__order_2"), gate("b__none_failed"), instance("b"), instance("result"),
        gate("on_exit.ended"), instance("on_exit.tell"), gate("finish"),
    )  # fmt: skip
    assert found == {"a": "Succeeded", "b": "Succeeded", "onExit/tell": "Succeeded"}


def test_a_task_of_a_person_that_is_called_like_a_gate_stays() -> None:
    assert list(paths(instance("b"), instance("b__order"), gate("c__order"))) == ["b", "b__order", "c__order"]


def test_what_splitting_added_is_nobodys_and_no_task_of_a_person_is_called_so() -> None:
    graph = Graph((Task("a", "work"), Task("a__of_split", "work"), Task("all", "nothing"), Task("b", "stand-in")))
    ids = task_ids(graph, entry=False, helpers={"nothing", "stand-in"})
    assert list(paths(*(instance(each) for each in ids.values()))) == ["a", ids["a__of_split"]]
    assert (ids["all"], ids["b"]) == ("all__of_split", "b__of_split")


@pytest.mark.parametrize(
    ("start", "end", "phase"),
    [
        (None, None, "Pending"),
        ("queued", None, "Pending"),
        ("running", None, "Running"),
        (OK, None, "Running"),
        (OK, OK, "Succeeded"),
        (OK, NO, "Failed"),
        (OK, BLOCK, "Failed"),
        (NO, BLOCK, "Failed"),
        (SKIP, SKIP, "Skipped"),
        (BLOCK, BLOCK, "Blocked"),
        (BLOCK, NO, "Blocked"),
    ],
)
def test_a_graph_stands_as_its_first_and_last_task_say(start: str | None, end: str | None, phase: str) -> None:
    assert paths(instance("g.start", start), instance("g.x", None), instance("g.end", end)) == {
        "g": phase,
        "g/x": "Pending",
    }


def test_items_are_numbered_whether_they_are_steps_or_graphs() -> None:
    steps = [instance("m.start"), instance("m.each", OK, 1), instance("m.each", NO, 0), instance("m.end", NO)]
    assert paths(*steps) == {"m": "Failed", "m[0]": "Failed", "m[1]": "Succeeded"}
    graphs = [instance("m.start"), instance("m.end")] + [
        instance(f"m.each.{name}", OK, index) for name in ("start", "x", "end") for index in (0, 1)
    ]
    assert list(paths(*graphs)) == ["m", "m[0]", "m[0]/x", "m[1]", "m[1]/x"]
    written_out = [instance(f"m.each_{index}.{name}") for name in ("start", "x", "end") for index in (0, 1)]
    assert list(paths(instance("m.start"), *written_out, instance("m.end"))) == [
        "m", "m[0]", "m[0]/x", "m[1]", "m[1]/x",
    ]  # fmt: skip


def test_items_that_nobody_knows_yet_are_left_out() -> None:
    unexpanded = [instance("m.each.start", None), instance("m.each.x", None), instance("m.each.end", None)]
    assert paths(instance("m.start", "running"), *unexpanded, instance("m.end", None)) == {"m": "Running"}


def test_turns_of_a_loop_are_numbered_and_those_left_out_do_not_show() -> None:
    turns = [
        instance(f"l.turn_{number}.{name}", state)
        for number, state in ((1, OK), (2, OK), (3, SKIP), (4, None))
        for name in ("start", "x", "end")
    ]
    assert list(paths(instance("l.start"), *turns, instance("l.end"))) == ["l", "l#1", "l#1/x", "l#2", "l#2/x"]


def test_what_is_inside_an_item_has_the_items_index() -> None:
    found = [
        instance("m.start"), instance("m.end", NO),
        *(instance(f"m.each.{name}", OK, 0) for name in ("start", "g.start", "g.x", "g.end", "end")),
        *(instance(f"m.each.{name}", NO, 1) for name in ("start", "g.start", "g.x", "g.end", "end")),
    ]  # fmt: skip
    assert paths(*found) == {
        "m": "Failed", "m[0]": "Succeeded", "m[0]/g": "Succeeded", "m[0]/g/x": "Succeeded",
        "m[1]": "Failed", "m[1]/g": "Failed", "m[1]/g/x": "Failed",
    }  # fmt: skip


def test_tasks_that_a_newer_version_removed_do_not_show() -> None:
    assert paths(instance("a"), instance("b", "removed")) == {"a": "Succeeded"}


@pytest.mark.parametrize(
    ("state", "operator", "phase"),
    [
        (None, "PythonOperator", "Pending"),
        ("scheduled", "PythonOperator", "Pending"),
        ("up_for_retry", "PythonOperator", "Running"),
        ("up_for_reschedule", "PythonSensor", "Suspended"),
        ("running", "PythonSensor", "Suspended"),
        ("awaiting_input", "Approval", "Suspended"),
        ("deferred", "Approval", "Suspended"),
        ("deferred", "KubernetesPodOperator", "Running"),
        (BLOCK, "PythonOperator", "Blocked"),
    ],
)
def test_what_airflows_states_are_here(state: str | None, operator: str, phase: str) -> None:
    assert phase_of(instance("a", state, operator=operator)) == phase


@pytest.mark.parametrize(
    ("run", "states", "phase"),
    [
        ({"state": "queued"}, (), "Pending"),
        ({"state": "success"}, (), "Succeeded"),
        ({"state": "failed"}, (), "Failed"),
        ({"state": "failed", "note": "stopped by couler"}, (), "Stopped"),
        ({"state": "running"}, (OK, "awaiting_input", None), "Suspended"),
        ({"state": "running"}, ("awaiting_input", "running"), "Running"),
        ({"state": "running"}, (OK, None), "Running"),
    ],
)
def test_how_a_run_stands(run: dict[str, Any], states: tuple[str | None, ...], phase: str) -> None:
    assert run_phase(run, [instance(str(number), state) for number, state in enumerate(states)]) == phase


def test_only_what_ran_has_attempts_and_times() -> None:
    instances = [instance("a"), instance("b", SKIP), instance("g.start"), instance("g.x", NO), instance("g.end", BLOCK)]
    instances[0]["try_number"] = 3
    found = {
        task.name: (task.status, task.attempts, task.seconds)
        for task in task_statuses(RUN, instances, lambda instance: 1767225590.0)
    }
    assert found == {
        "a": ("Succeeded", 3, 12.0),
        "b": ("Skipped", 0, None),
        "g": ("Failed", 1, None),
        "g/x": ("Failed", 1, 2.0),
    }


def test_what_was_marked_as_failed_before_it_began_was_stopped() -> None:
    run = RUN | {"state": "failed", "note": "stopped by couler"}
    marked = instance("b", NO) | {"pid": None, "try_number": 0, "start_date": None}
    found = task_statuses(run, [instance("a"), marked], lambda instance: None)
    assert [(task.name, task.status) for task in found] == [("a", "Succeeded"), ("b", "Stopped")]


def test_a_fan_out_of_a_stopped_run_was_stopped_where_nothing_of_it_failed() -> None:
    run = RUN | {"state": "failed", "note": "stopped by couler"}
    left_out = {"pid": None, "try_number": 0, "start_date": None}
    begun = [instance("m.start"), instance("m.each", index=0), instance("m.each", NO, 1) | left_out]
    never = [instance(f"n.{each}", NO) | left_out for each in ("start", "end")]

    def found(end: dict[str, Any]) -> dict[str, str]:
        return {task.name: task.status for task in task_statuses(run, [*begun, end, *never], lambda instance: None)}

    items = {"m[0]": "Succeeded", "m[1]": "Stopped"}
    assert found(instance("m.end", NO) | left_out) == {"m": "Stopped", **items, "n": "Stopped"}
    assert found(instance("m.end", NO) | {"pid": 7}) == {"m": "Failed", **items, "n": "Stopped"}


def test_a_note_of_a_persons_is_the_message_of_a_run() -> None:
    assert run_status(RUN | {"note": "looked at"}).message == "looked at"
    assert run_status(RUN | {"note": "started by couler"}).message == ""
