"""The verbs of runs on this machine, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from couler_py.backends.local.client import LocalClient
from tests.unit.cli.conftest import Couler

CHAIN = """
from pathlib import Path

import couler_py as couler

SERVICE = str(Path("service.txt").absolute())


@couler.step(cache=True)
def compute(c: int) -> int:
    print("computing")
    return c + 1


@couler.step
def upload(found: int) -> str:
    print("one")
    print("two")
    if not Path(SERVICE).exists():
        raise ConnectionError("the service is down")
    return f"uploaded {found}"


@couler.workflow
def main(c: int = 1):
    return upload(compute(c))
"""


@pytest.fixture
def chain(here: Path) -> Path:
    (here / "chain.py").write_text(CHAIN)
    return here


def run(couler: Couler, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(couler("run", "chain.py", "--json", *arguments).out)
    return found


@pytest.fixture
def failed(chain: Path, couler: Couler) -> str:
    return str(run(couler)["run"])


@pytest.fixture
def done(chain: Path, couler: Couler) -> str:
    (chain / "service.txt").touch()
    return str(run(couler)["run"])


def test_a_failed_run_says_which_task_its_last_lines_and_how_to_go_on(chain: Path, couler: Couler) -> None:
    result = couler("run", "chain.py")
    assert result.code == 1
    lines = [line.strip() for line in result.err.splitlines()]
    (run_id,) = {each.run for each in LocalClient().list()}
    assert "upload failed: exit code 1: ConnectionError: the service is down" in lines
    assert "│ two" in lines
    assert f"`couler logs {run_id} upload` shows all that it wrote" in lines
    assert any(line.startswith(f"`couler retry {run_id}` runs what failed again") for line in lines)
    assert result.err.rstrip().endswith("--with chain.py`")


@pytest.mark.parametrize("typed", ["@last", "@1", "main"])
def test_a_run_is_meant_by_the_beginning_of_its_name_or_how_long_ago_it_was(
    typed: str, done: str, couler: Couler
) -> None:
    assert json.loads(couler("show", typed, "--json").out)["run"] == done


def test_of_several_runs_it_is_said_which_may_be_meant(chain: Path, couler: Couler) -> None:
    (chain / "service.txt").touch()
    first, second = run(couler)["run"], run(couler)["run"]
    result = couler("status", "main")
    assert result.code == 4
    assert f"'main' may be {second}, {first}: type more of it" in result.err
    assert json.loads(couler("status", "@2", "--json").out)["run"] == first
    assert "there is no run @3" in couler("status", "@3").err


def test_a_run_that_is_not_there_is_named_with_one_that_is(done: str, couler: Couler) -> None:
    wrong = f"{done[:-1]}{'b' if done[-1] != 'b' else 'c'}"
    for verb in ("show", "logs", "stop", "resume", "retry", "rerun", "export", "delete", "report", "watch", "status"):
        result = couler(verb, wrong)
        assert result.code == 4, verb
        assert f"did you mean {done}?" in result.err, verb


def test_all_of_a_run_is_shown(done: str, couler: Couler) -> None:
    found = json.loads(couler("show", done, "--json").out)
    assert found["parameters"] == {"c": 1}
    assert found["tasks"]["compute"]["outputs"] == {"result": 2}
    assert [attempt["exit_code"] for attempt in found["tasks"]["upload"]["tries"]] == [0]
    text = couler("show", done).out
    assert "PARAMETER" in text
    assert "result = uploaded 2" in text


def test_of_one_task_its_attempts_and_outputs_are_shown(done: str, couler: Couler) -> None:
    assert "OUTPUT" in couler("show", done, "compute").out
    assert json.loads(couler("show", done, "compute", "--json").out)["outputs"] == {"result": 2}
    result = couler("show", done, "comput")
    assert (result.code, "has no task 'comput'; it has compute, upload" in result.err) == (4, True)


def test_whose_result_was_used_is_shown(done: str, couler: Couler) -> None:
    second = run(couler)
    assert second["tasks"]["compute"]["cached"] == f"{done}/compute"
    assert f"cached from {done}/compute" in couler("show", "@last").out
    assert couler("why", "@last", "compute").out == f"compute: taken from {done}/compute: the same content and inputs\n"


def test_why_a_step_was_computed_is_said(done: str, chain: Path, couler: Couler) -> None:
    (chain / "chain.py").write_text(CHAIN.replace("c + 1", "c + 2"))
    run(couler, "-p", "c=5")
    text = couler("why", "@last", "compute").out
    assert "the input 'c' was 1, is 5" in text
    assert "    -    return c + 1\n    +    return c + 2\n" in text
    assert json.loads(couler("why", "@last", "compute", "--json").out)["kind"] == "changed"


def test_a_retry_takes_the_code_as_it_is_now(failed: str, chain: Path, couler: Couler) -> None:
    (chain / "chain.py").write_text(CHAIN.replace("if not Path(SERVICE).exists():", "if False:"))
    result = couler("retry", failed, "--with", "chain.py")
    assert result.code == 0, result.err
    assert "note[CLR612]: goes on with the workflow as it is now; changed: upload" in result.err
    assert json.loads(couler("show", failed, "--json").out)["outputs"] == {"result": "uploaded 2"}


def test_a_retry_from_a_task_on(done: str, couler: Couler) -> None:
    before = json.loads(couler("show", done, "--json").out)["tasks"]
    assert couler("retry", done, "--from", "upload").code == 0
    after = json.loads(couler("show", done, "--json").out)["tasks"]
    assert before["compute"]["started"] == after["compute"]["started"]
    assert before["upload"]["started"] < after["upload"]["started"]
    assert couler("retry", done, "--from", "a", "--task", "b").code == 2
    assert "did you mean 'upload'?" in couler("retry", done, "--task", "uplod").err


def test_a_run_is_started_anew(done: str, couler: Couler) -> None:
    assert couler("rerun", done, "-p", "c=7").code == 0
    found = json.loads(couler("show", "@last", "--json").out)
    assert (found["parameters"], found["run"] != done) == ({"c": 7}, True)
    assert couler("rerun", done, "-p", "c=x").code == 2
    assert couler("rerun", done, "-p", "d=1").code == 2


def test_two_runs_are_shown_beside_each_other(done: str, couler: Couler) -> None:
    couler("rerun", done, "-p", "c=7")
    found = json.loads(couler("diff", "@2", "@1", "--json").out)
    assert found["parameters"] == [{"name": "c", "before": 1, "after": 7}]
    assert found["outputs"] == [{"name": "result", "before": "uploaded 2", "after": "uploaded 8"}]
    assert [task["task"] for task in found["tasks"]] == ["compute", "upload"]
    text = couler("diff", "@2", "@1").out
    assert "result: 2 → 8" in text
    assert "0 of 2 tasks ended alike" in text


def test_runs_are_chosen_by_name_status_and_time(done: str, chain: Path, couler: Couler) -> None:
    def listed(*arguments: str) -> list[str]:
        return [each["run"] for each in json.loads(couler("runs", "--json", *arguments).out)]

    (chain / "service.txt").unlink()
    wrong = run(couler)["run"]
    assert listed() == [wrong, done]
    assert listed("--limit", "1") == [wrong]
    assert listed("--status", "succeeded") == [done]
    assert listed("--name", "mai*") == [wrong, done]
    assert listed("--name", done) == [done]
    assert listed("--name", "other") == []
    assert listed("--since", "1h") == [wrong, done]
    assert couler("runs", "--name", "other").err == "no such runs\n"
    assert "--since: 'soon' is not a length of time" in couler("runs", "--since", "soon").err


def test_logs_of_a_task_and_its_last_lines(done: str, couler: Couler) -> None:
    assert couler("logs", done, "--task", "upload").out == "one\ntwo\n"
    assert couler("logs", done, "--tail", "1").out == "compute: computing\nupload: two\n"
    assert couler("logs", done, "upload", "--task", "compute").code == 2


def test_a_run_goes_to_a_folder_and_is_read_from_it(done: str, chain: Path, couler: Couler) -> None:
    for target in ("mailed", "mailed.tar.gz"):
        assert couler("export", done, "-o", target).code == 0
        typed = f"./{target}"
        assert json.loads(couler("show", typed, "--json").out)["outputs"] == {"result": "uploaded 2"}
        assert couler("logs", typed, "upload").out == "one\ntwo\n"
        assert couler("report", typed, "-o", "page.html").code == 0
        assert json.loads(couler("diff", done, typed, "--json").out)["outputs"] == []
        refused = couler("retry", typed)
        assert (refused.code, "can be looked at, and no more" in refused.err) == (2, True)
    assert (chain / "mailed" / "report.html").is_file()
    assert couler("export", done, "-o", "mailed").code == 2


def test_of_an_exported_run_nobody_is_told_to_retry(failed: str, couler: Couler) -> None:
    couler("export", failed, "-o", "mailed")
    text = couler("show", "./mailed").out
    assert "ConnectionError: the service is down" in text
    assert "couler retry" not in text


def test_what_is_kept_for_others_is_listed_shown_and_forgotten(done: str, couler: Couler) -> None:
    (entry,) = json.loads(couler("cache", "list", "--json").out)
    assert (entry["step"], entry["run"], entry["task"], entry["outputs"]) == ("compute", done, "compute", {"result": 2})
    assert "input:c" in couler("cache", "show", entry["key"][:8]).out
    assert couler("cache", "show", "nothing").code == 2
    assert couler("cache", "prune").code == 2
    assert json.loads(couler("cache", "prune", "--older-than", "1d", "--json").out)["keys"] == []
    assert json.loads(couler("cache", "prune", "--larger", "1", "--dry-run", "--json").out)["keys"] == [entry["key"]]
    assert json.loads(couler("cache", "prune", "--budget", "1MB", "--json").out)["keys"] == []
    assert json.loads(couler("cache", "clear", "--step", "other", "--json").out)["keys"] == []
    assert json.loads(couler("cache", "clear", "--json").out)["keys"] == [entry["key"]]
    assert json.loads(couler("cache", "list", "--json").out) == []


def test_runs_are_replayed_under_each_policy_here_and_from_a_trace(done: str, couler: Couler) -> None:
    run(couler)
    assert couler("cache", "replay", "-o", "trace.json").code == 0
    for given in ([], ["trace.json"]):
        (found,) = json.loads(couler("cache", "replay", *given, "--budget", "1MB", "--json").out)
        assert found["budget"] == 1_000_000
        again = {each["policy"]: each["again"] for each in found["policies"]}
        assert again["none"] > 0 == again["all"] == again["foresight"]
    assert "foresight" in couler("cache", "replay").out
    pytest.importorskip("scipy")
    shown = couler("cache", "replay", "--optimum").out.splitlines()[-1].split()
    assert (shown[:4], shown[-1]) == (["the", "least", "there", "is"], "0.00s")
    (found,) = json.loads(couler("cache", "replay", "--optimum", "--budget", "1MB", "--json").out)
    assert found["optimum"] == {"again": 0.0, "bound": 0.0}
    assert couler("cache", "replay", "missing.json").code == 2


def test_what_nothing_needs_is_freed(done: str, couler: Couler) -> None:
    second = run(couler)["run"]
    assert json.loads(couler("gc", "--dry-run", "--keep", "1", "--json").out)["runs"] == [done]
    found = json.loads(couler("gc", "--keep", "1", "--json").out)
    assert (found["runs"], found["freed"]["runs"]["count"]) == ([done], 1)
    assert [each["run"] for each in json.loads(couler("runs", "--json").out)] == [second]
    assert couler("gc", "--older-than", "soon").code == 2


def test_runs_that_are_named_by_their_place_are_all_found_before_one_goes(done: str, couler: Couler) -> None:
    second = run(couler)["run"]
    assert json.loads(couler("delete", "@1", "@2", "--json").out)["deleted"] == [second, done]
    assert json.loads(couler("runs", "--json").out) == []
