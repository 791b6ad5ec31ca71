"""What only Airflow's scheduler enforces, on a real one: how many run at once, who is first, delays, waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.airflow.live import Live, states

# The first one starts a whole Airflow, beside whatever else runs.
pytestmark = [pytest.mark.xdist_group("live"), pytest.mark.timeout(900)]


def let_others_pass(live: Live) -> None:
    """Have a run begin and end: what Airflow's scheduler would have started before it, it has started."""
    live.ended(live.start("nightly"))


def test_at_most_so_many_tasks_of_a_workflow_run_at_once(live: Live, tmp_path: Path) -> None:
    run = live.start("two_at_once", place=str(tmp_path))
    for item in ("hold[0]", "hold[1]"):
        live.until(run, item, "Running")
    let_others_pass(live)
    items = {f"hold[{number}]": status for number, status in enumerate(["Running", "Running", "Pending", "Pending"])}
    assert states(live.client.status(run)) == {"hold": "Running"} | items
    assert sorted(each.name for each in tmp_path.glob("*.began")) == ["a.began", "b.began"]
    (tmp_path / "go").touch()
    assert live.ended(run).status == "Succeeded"
    assert sorted((tmp_path / "ran").read_text().split()) == ["a", "b", "c", "d"]


def test_a_mutex_holds_among_workflows_and_the_urgent_one_is_next(live: Live, tmp_path: Path) -> None:
    live.client.deploy(live.bundles["modest"], live.server.dags, pools={"couler-tests": 1})
    place = str(tmp_path)
    first = live.start("modest", place=place, name="first", release="go")
    live.until(first, "alone", "Running")
    second = live.start("modest", place=place, name="second", release="go")
    third = live.start("urgent", place=place, name="third", release="go")
    let_others_pass(live)
    now = [states(live.client.status(run))["alone"] for run in (first, second, third)]
    assert now == ["Running", "Pending", "Pending"]
    assert (tmp_path / "order").read_text().split() == ["first", "begins"]
    (tmp_path / "go").touch()
    assert [live.ended(run).status for run in (first, second, third)] == ["Succeeded"] * 3
    order = (tmp_path / "order").read_text().splitlines()
    assert order == [f"{name} {what}" for name in ("first", "third", "second") for what in ("begins", "ends")]


def test_an_attempt_waits_for_its_delay(live: Live, tmp_path: Path) -> None:
    ended = live.ended(live.start("later", place=str(tmp_path)))
    assert (ended.status, ended.tasks[0].attempts) == ("Succeeded", 2)
    assert ended.outputs["result"] >= 8


def test_a_wait_ends_by_itself(live: Live) -> None:
    run = live.start("waits")
    assert live.until(run, "pause", "Suspended").status == "Suspended"
    ended = live.ended(run)
    assert (ended.status, states(ended)) == ("Succeeded", {"pause": "Succeeded", "say": "Succeeded"})
    pause = next(task for task in ended.tasks if task.name == "pause")
    assert pause.seconds is not None
    assert pause.seconds >= 6


def test_a_run_waits_for_the_one_before_where_two_are_forbidden(live: Live, tmp_path: Path) -> None:
    first = live.start("one_run", place=str(tmp_path), name="first")
    live.until(first, "hold", "Running")
    second = live.start("one_run", place=str(tmp_path), name="second")
    (tmp_path / "second").touch()
    let_others_pass(live)
    assert live.client.status(second).status == "Pending"
    assert not (tmp_path / "second.began").exists()
    (tmp_path / "first").touch()
    assert [live.ended(run).status for run in (first, second)] == ["Succeeded", "Succeeded"]
    assert (tmp_path / "ran").read_text().split() == ["first", "second"]
