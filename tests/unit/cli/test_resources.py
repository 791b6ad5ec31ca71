"""`couler resources`: what steps used and what to ask for, of all runs, a workflow, or one run."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.cli.conftest import Couler


def test_of_all_runs_of_one_and_of_a_workflow(flow: str, couler: Couler) -> None:
    run = json.loads(couler("run", flow, "--json").out)["run"]
    for what in ([], [run], ["@last"], [flow]):
        [found] = json.loads(couler("resources", *what, "--json").out)["steps"]
        assert (found["step"], found["attempts"]) == ("greet", 1)
        assert found["memory"] >= found["used_memory"] > 1_000_000


def test_steps_of_several_workflows_are_told_with_theirs(flow: str, here: Path, couler: Couler) -> None:
    other = here / "other.py"
    other.write_text(Path(flow).read_text().replace('"hello"', '"bye"').replace("def hello", "def goodbye"))
    couler("run", flow)
    couler("run", str(other))
    assert couler("resources").out.splitlines()[0].startswith("WORKFLOW")
    assert {each["workflow"] for each in json.loads(couler("resources", "--json").out)["steps"]} == {"hello", "goodbye"}
    assert couler("resources", "@last").out.splitlines()[0].startswith("STEP")


def test_what_comes_from_few_attempts_is_marked(flow: str, couler: Couler) -> None:
    couler("run", flow)
    shown = couler("resources")
    assert shown.out.splitlines()[0].split() == [
        "STEP", "ATTEMPTS", "RAN", "MEMORY", "USED", "BETTER", "CPU", "USED", "BETTER", "IN", "VAIN",
    ]  # fmt: skip
    assert shown.out.splitlines()[-1].startswith("? is from fewer than 3 attempts")


def test_before_the_first_run_nothing_is_known(flow: str, couler: Couler) -> None:
    assert couler("resources", flow).out == "nothing is known of any step yet: run it once\n"


def test_a_step_is_sized_where_that_is_asked_for(flow: str, couler: Couler) -> None:
    for _ in range(3):
        couler("run", flow)
    assert "memory" not in couler("compile", flow, "--to", "local").out
    sized = couler("compile", flow, "--to", "local", "--right-size").out
    assert '"memory": "64Mi"' in sized
    assert json.loads(couler("run", flow, "--right-size", "--json").out)["outputs"] == {"result": "hello world"}
    assert "resources changed" in " ".join(couler("plan", flow, "--right-size").out.split())


def test_a_run_that_isn_t_there_is_refused(flow: str, couler: Couler) -> None:
    assert couler("resources", "nobody").code == 4
