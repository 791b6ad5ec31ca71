"""The client against a whole Airflow: deployed, started, watched, read, answered, mended and ended."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
from couler_py.backends.airflow.client import AirflowClient
from couler_py.backends.airflow.client.deploying import ImportFailedError
from couler_py.backends.base import Bundle, NotOffered, RunNotFoundError
from couler_py.backends.local.client import LocalClient
from couler_py.backends.rest.failures import RefusedError, UnauthorizedError
from tests.airflow import flows
from tests.airflow.live import Live, states
from tests.airflow.server import PASSWORD, SECRET, USER

# The first one starts a whole Airflow, beside whatever else runs.
pytestmark = [pytest.mark.xdist_group("live"), pytest.mark.timeout(900)]


def run_couler(*words: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("couler")
    return subprocess.run([program, *words], capture_output=True, text=True)


# ---- deploying


def test_a_new_version_is_read_and_the_old_one_kept(live: Live) -> None:
    first = Bundle("airflow", {"deployed.py": live.bundles["nightly"].text.replace('"nightly"', '"deployed"')})
    second = Bundle("airflow", {"deployed.py": first.text + "# changed\n"})
    done = live.client.deploy(first, live.server.dags)
    assert (done.dag, done.changed, done.old, done.outcome) == ("deployed", True, None, "read")
    again = live.client.deploy(first, live.server.dags)
    assert (again.changed, again.outcome) == (False, "read")
    done = live.client.deploy(second, live.server.dags)
    assert done.old is not None
    assert (done.path.read_text(), done.old.read_text()) == (second.text, first.text)
    assert not live.client.differs(second)
    assert live.client.differs(first)
    assert not list(live.server.dags.glob("*.part"))


def test_what_airflow_cannot_import_is_said_in_its_words(live: Live) -> None:
    broken = Bundle("airflow", {"broken.py": "from airflow.sdk import DAG\n\nimport no_such_module\n"})
    with pytest.raises(ImportFailedError, match="No module named 'no_such_module'"):
        live.client.deploy(broken, live.server.dags)
    (live.server.dags / "broken.py").unlink()


def test_deploying_makes_the_pools_that_are_missing(live: Live) -> None:
    done = live.client.deploy(live.bundles["modest"], live.server.dags, pools={"couler-tests": 1})
    assert live.api.pool("couler-tests")["slots"] == 1
    assert live.client.deploy(live.bundles["modest"], live.server.dags, pools={"couler-tests": 5}).pools == ()
    assert live.api.pool("couler-tests")["slots"] == 1
    assert done.pools in ((), ("couler-tests",))


def test_without_waiting_the_pools_are_made_all_the_same(live: Live) -> None:
    pools = {"couler-tests-unwaited": 2}
    done = live.client.deploy(live.bundles["modest"], live.server.dags, seconds=0, pools=pools)
    assert (done.pools, done.outcome) == (("couler-tests-unwaited",), "written")
    assert live.api.pool("couler-tests-unwaited")["slots"] == 2


def test_a_workflow_that_is_not_there_is_not_started(live: Live) -> None:
    with pytest.raises(NotOffered, match="no DAG 'unknown': `couler deploy"):
        live.client.submit(Bundle("airflow", {"unknown.py": ""}))


# ---- a run


def test_a_run_has_the_tasks_states_and_outputs_that_it_has_here(live: Live, tmp_path: Path) -> None:
    here = LocalClient(tmp_path)
    run = live.start("shapes", count=3)
    ours = here.submit(couler.compile(flows.shapes, to="local"), parameters={"count": 3}, runtime="process")
    *_, expected = here.watch(ours)
    seen = list(live.client.watch(run))
    last = seen[-1]
    assert states(last) == states(expected)
    assert last.outputs == expected.outputs == {"result": "625 9"}
    assert (last.status, last.workflow, last.parameters) == ("Succeeded", "shapes", {"count": 3})
    assert {each.status for each in seen[:-1]} <= {"Pending", "Running"}
    assert len(seen) > 2
    counted = {task.name: task.attempts for task in expected.tasks}
    assert {task.name: task.attempts for task in last.tasks} == counted

    squared = [line.text for line in live.client.logs(run, "square")]
    assert sorted(squared) == ["squaring 0", "squaring 1", "squaring 2"]
    assert [(line.task, line.text) for line in live.client.logs(run, "square[1]")] == [("square[1]", "squaring 1")]
    assert ("onExit/bye", "over") in [(line.task, line.text) for line in live.client.logs(run)]
    with pytest.raises(RunNotFoundError, match="no task 'cube'; it has numbers, square"):
        list(live.client.logs(run, "cube"))


def test_what_failed_runs_again_with_all_that_follows(live: Live, tmp_path: Path) -> None:
    run = live.start("mends", place=str(tmp_path))
    failed = live.ended(run)
    assert (failed.status, states(failed)) == ("Failed", {"before": "Succeeded", "fetch": "Failed", "say": "Blocked"})
    message = next(task.message for task in failed.tasks if task.name == "fetch")
    assert "No such file or directory" in message
    assert any("FileNotFoundError" in line.text for line in live.client.logs(run, "fetch"))
    (tmp_path / "there").write_text("mended")
    assert live.client.retry(run) == run
    followed = [line.text for line in live.client.logs(run, follow=True) if line.attempt == 0 and line.task == "say"]
    mended = live.ended(run)
    assert (mended.status, mended.outputs, followed) == ("Succeeded", {"result": "mended"}, ["mended"])
    assert (tmp_path / "ran").read_text().split() == ["before", "fetch", "fetch"]
    assert {task.name: task.attempts for task in mended.tasks}["fetch"] == 2


def test_a_stopped_run_ends_its_steps_and_runs_its_handlers_and_can_go_on(live: Live, tmp_path: Path) -> None:
    run = live.start("stops", place=str(tmp_path))
    live.until(run, "slow", "Running")
    with pytest.raises(NotOffered, match="has not ended yet"):
        live.client.retry(run)
    with pytest.raises(NotOffered, match="has not ended yet: `couler terminate"):
        live.client.delete(run)
    live.client.stop(run)
    (tmp_path / "go").touch()
    stopped = live.ended(run)
    assert stopped.status == "Stopped"
    assert states(stopped) == {"slow": "Succeeded", "after": "Stopped", "onExit/tidy": "Succeeded"}
    assert (tmp_path / "ran").read_text().split() == ["slow", "tidy"]
    live.client.retry(run)
    assert live.ended(run).status == "Succeeded"
    assert (tmp_path / "ran").read_text().split() == ["slow", "tidy", "after", "tidy"]


def test_a_stopped_fan_out_ends_the_items_that_run_and_each_has_its_lines(live: Live, tmp_path: Path) -> None:
    run = live.start("fans", place=str(tmp_path))
    for item in ("hold[0]", "hold[1]"):
        live.until(run, item, "Running")
    done = run_couler("stop", run)
    assert done.returncode == 0, done.stderr
    (tmp_path / "go").touch()
    stopped = live.ended(run)
    assert stopped.status == "Stopped"
    assert states(stopped) == {
        "hold": "Stopped",
        "hold[0]": "Succeeded",
        "hold[1]": "Succeeded",
        "hold[2]": "Stopped",
        "after": "Stopped",
        "onExit/tidy": "Succeeded",
    }
    assert sorted((tmp_path / "ran").read_text().split()) == ["a", "b", "tidy"]
    assert [(line.task, line.text) for line in live.client.logs(run, "hold")] == [
        ("hold[0]", "holding a"),
        ("hold[1]", "holding b"),
    ]
    one = run_couler("logs", run, "hold[1]")
    assert (one.returncode, one.stdout) == (0, "holding b\n"), one.stderr


def test_a_terminated_run_is_over_with_its_processes_and_can_be_forgotten(live: Live, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "slow.began")
    run = live.start("stops", place=str(tmp_path))
    process = os.pidfd_open(int((tmp_path / "slow.began").read_text()))
    assert run in [each.run for each in live.client.list()][:2]
    live.client.terminate(run)
    ended = live.client.status(run)
    assert (ended.status, states(ended)["slow"]) == ("Stopped", "Failed")
    assert select.select([process], [], [], 60.0)[0], "the step's process goes on"
    live.client.delete(run)
    with pytest.raises(RunNotFoundError, match="there is no run"):
        live.client.status(run)


def test_a_person_is_asked_and_answers(live: Live) -> None:
    run = live.start("asks")
    waiting = live.until(run, "approve", "Suspended")
    assert waiting.status == "Suspended"
    with pytest.raises(NotOffered, match="has no output 'sword'; its outputs are word, times"):
        live.client.resume(run, outputs={"sword": "x"})
    with pytest.raises(NotOffered, match="needs a value for its output 'word'"):
        live.client.resume(run)
    live.client.resume(run, outputs={"word": "yes"})
    answered = live.ended(run)
    assert (answered.status, answered.outputs) == ("Succeeded", {"result": "yes 2"})
    with pytest.raises(NotOffered, match="nothing in airflow:asks"):
        live.client.resume(run)


def test_a_run_is_started_again_with_another_parameter(live: Live, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("again")
    first = live.start("mends", place="nowhere")
    with pytest.raises(ValueError, match="no parameter 'plaice'; its parameters are place"):
        live.client.rerun(first, parameters={"plaice": "x"})
    live.client.terminate(first)
    again = live.ended(live.client.rerun(first, parameters={"place": str(tmp_path)}))
    assert (again.status, again.outputs) == ("Succeeded", {"result": "again"})


def test_a_paused_workflow_starts_nothing_until_it_goes_on(live: Live) -> None:
    live.client.pause("airflow:later")
    assert live.api.dag("later")["is_paused"] is True
    with pytest.raises(NotOffered, match="suspends no single run: `couler pause airflow:later`"):
        live.client.suspend("airflow:later/any")
    with pytest.raises(RunNotFoundError, match="no DAG 'unknown'"):
        live.client.pause("unknown")
    live.client.unpause("later")
    assert live.api.dag("later")["is_paused"] is False


# ---- who calls


def test_an_expired_token_is_renewed_where_a_password_is_known(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_AIRFLOW_TOKEN", expired(live))
    assert AirflowClient().status(some_run(live)).workflow
    monkeypatch.delenv("COULER_AIRFLOW_PASSWORD")
    with pytest.raises(UnauthorizedError, match=r"isn't accepted \(401\).*COULER_AIRFLOW_TOKEN, --token-file"):
        AirflowClient().status(some_run(live))


def test_a_wrong_password_is_said_without_it(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_AIRFLOW_PASSWORD", "canary-wrong")
    with pytest.raises(UnauthorizedError) as error:
        AirflowClient()
    assert f"log in as {USER} (POST /auth/token, Airflow at {live.server.url})" in str(error.value)
    assert "COULER_AIRFLOW_PASSWORD say them" in str(error.value)
    assert "canary" not in str(error.value)


def test_without_a_password_it_is_said_what_is_missing(
    live: Live, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))
    monkeypatch.delenv("COULER_AIRFLOW_PASSWORD")
    with pytest.raises(UnauthorizedError, match="wants to know who calls: COULER_AIRFLOW_TOKEN, --token-file"):
        AirflowClient()
    (tmp_path / "simple_auth_manager_passwords.json.generated").write_text(json.dumps({USER: PASSWORD}))
    assert AirflowClient().status(some_run(live)).workflow


def test_a_refused_call_says_which(live: Live) -> None:
    with pytest.raises(RefusedError, match=r"start a run of shapes \(POST /api/v2/dags/shapes/dagRuns.*count"):
        live.start("shapes", count="many")


def some_run(live: Live) -> str:
    return live.start("nightly")


def expired(live: Live) -> str:
    """A token of this server that was good an hour ago."""
    import jwt

    token = live.api.http._api.configuration.access_token
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    header = jwt.get_unverified_header(token)
    now = int(time.time())
    claims |= {"iat": now - 7200, "nbf": now - 7200, "exp": now - 3600}
    return jwt.encode(claims, SECRET, header["alg"], headers={"kid": header["kid"]} if "kid" in header else None)


# ---- the command line


def test_past_instants_run_once_each_by_the_command_line(live: Live, tmp_path: Path) -> None:
    file = f"{Path(flows.__file__)}:nightly"
    words = ("backfill", file, "--engine", "airflow", "--from", "2026-03-28", "--to", "2026-03-29", "--json")
    options = ("-O", "operators=local", "-O", f"artifacts={live.store}")
    done = run_couler(*words, "--parallel", "2", *options)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(each["at"], each["status"]) for each in found] == [
        ("2026-03-28T02:00:00+00:00", "Succeeded"),
        ("2026-03-29T01:00:00+00:00", "Succeeded"),
    ]
    again = run_couler(*words, *options)
    assert json.loads(again.stdout) == found
    assert live.client.status(found[1]["run"]).outputs == {"result": "2026-03-29T01:00:00+00:00"}
