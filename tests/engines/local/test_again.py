"""Runs worked on again: from a task on, some tasks alone, with other code, or anew with other parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from couler_py.backends.base import RunNotFoundError
from couler_py.backends.local import execute
from couler_py.backends.local.api import load, retry
from couler_py.backends.local.client import LocalClient
from couler_py.backends.local.runs.again import choose
from couler_py.ir.expr import Compare, Literal, Own, TaskOutput
from couler_py.ir.model import After, Argument, Cache, Carry, Each, Loop, Parameter, Task, Template, Workflow
from couler_py.ir.types import INT
from couler_py.store.records import TaskRecord
from tests.engines.local.flows import flow, graph, shell


@pytest.fixture
def witness(tmp_path: Path) -> Path:
    return tmp_path / "witness"


def ran(witness: Path) -> list[str]:
    """The steps that ran since the last look."""
    found = witness.read_text().split() if witness.exists() else []
    witness.unlink(missing_ok=True)
    return sorted(found)


def step(name: str, witness: Path, script: str = "", **options: Any) -> Template:
    return shell(name, f"echo {name} >> {witness}; {script}echo 5", output=INT, **options)


def chain(witness: Path, *, last: str = "") -> Workflow:
    """a, then b, then c; d beside them."""
    steps = [step(name, witness) for name in "abd"]
    tasks = [Task("a", "a"), Task("b", "b", after=(After("a"),)), Task("c", "c", after=(After("b"),)), Task("d", "d")]
    return flow(*steps, step("c", witness, last), graph(*tasks))


def test_from_a_task_on_everything_that_follows_runs_again(home: Path, witness: Path) -> None:
    record = execute(chain(witness), home=home)
    assert ran(witness) == ["a", "b", "c", "d"]
    again = retry(record.id, home=home, start=["b"])
    assert again.status == "Succeeded", again.message
    assert ran(witness) == ["b", "c"]


def test_from_a_task_on_runs_what_failed_elsewhere_too(home: Path, witness: Path) -> None:
    record = execute(chain(witness, last="false || exit 3; "), home=home)
    assert record.status == "Failed"
    ran(witness)
    retry(record.id, home=home, start=["d"])
    assert ran(witness) == ["c", "d"]


def test_some_tasks_alone_leave_what_failed_elsewhere(home: Path, witness: Path) -> None:
    record = execute(chain(witness, last="exit 3; "), home=home)
    ran(witness)
    again = retry(record.id, home=home, only=["d"])
    assert again.status == "Failed"
    assert ran(witness) == ["d"]


def test_what_is_asked_for_is_not_taken_from_the_cache(home: Path, witness: Path) -> None:
    workflow = flow(step("a", witness, cache=Cache()), graph(Task("a", "a")))
    record = execute(workflow, home=home)
    retry(record.id, home=home, start=["a"])
    assert ran(witness) == ["a", "a"]
    assert execute(workflow, home=home).tasks["a"].cached


def test_inside_a_graph_what_follows_the_graph_runs_again_too(home: Path, witness: Path) -> None:
    inner = graph(Task("x", "x"), Task("y", "y"), name="inner", outputs={"n": TaskOutput("x", "result")})
    after = Task("after", "after", after=(After("inner"),))
    steps = [step(name, witness) for name in ("x", "y", "after", "beside")]
    record = execute(flow(*steps, inner, graph(Task("inner", "inner"), after, Task("beside", "beside"))), home=home)
    ran(witness)
    retry(record.id, home=home, start=["inner/x"])
    assert ran(witness) == ["after", "x"]


def test_of_a_fan_out_one_item_runs_again(home: Path, witness: Path) -> None:
    mapped = Task("map", "work", each=Each(Literal([1, 2, 3])))
    after = Task("after", "after", after=(After("map"),))
    record = execute(flow(step("work", witness), step("after", witness), graph(mapped, after)), home=home)
    ran(witness)
    retry(record.id, home=home, start=["map[1]"])
    assert ran(witness) == ["after", "work"]


def test_of_a_loop_later_iterations_run_again(home: Path, witness: Path) -> None:
    body = shell("body", f'echo "round$1" >> {witness}; echo $(($1 + 1))', inputs=["n"], output=INT)
    until = Compare(">=", Own("result"), Literal(4))
    loop = Template("loop", Loop("body", until, (Carry("result", "n"),)), inputs=body.inputs)
    record = execute(flow(body, loop, graph(Task("loop", "loop", (Argument("n", Literal(1)),)))), home=home)
    assert record.status == "Succeeded", record.message
    assert ran(witness) == ["round1", "round2", "round3"]
    retry(record.id, home=home, start=["loop#2"])
    assert ran(witness) == ["round2", "round3"]


def test_a_step_that_is_the_whole_run_runs_again(home: Path, witness: Path) -> None:
    whole = step("whole", witness)
    record = execute(Workflow("whole", "whole", (whole,)), home=home)
    retry(record.id, home=home, start=["whole"])
    assert ran(witness) == ["whole", "whole"]


def test_a_task_that_is_not_there_is_named_with_one_that_is(home: Path, witness: Path) -> None:
    record = execute(chain(witness), home=home)
    ran(witness)
    with pytest.raises(RunNotFoundError, match=r"the run has no task 'dd'; did you mean 'd'\?"):
        retry(record.id, home=home, start=["dd"])
    assert ran(witness) == []
    assert load(record.id, home=home).status == "Succeeded"


def test_with_other_code_changed_steps_and_what_follows_them_run_again(home: Path, witness: Path) -> None:
    record = execute(chain(witness, last="exit 3; "), home=home)
    ran(witness)
    mended = chain(witness)
    again = retry(record.id, home=home, workflow=mended)
    assert again.status == "Succeeded", again.message
    assert ran(witness) == ["c"]
    changed = msgspec.structs.replace(mended, templates=(step("a", witness, "true; "), *mended.templates[1:]))
    retry(record.id, home=home, workflow=changed)
    assert ran(witness) == ["a", "b", "c"]


def test_other_code_inside_a_graph_that_succeeded_is_seen(home: Path, witness: Path) -> None:
    def nested(script: str) -> Workflow:
        inner = graph(Task("x", "x"), name="inner")
        return flow(
            step("x", witness, script), step("y", witness), inner, graph(Task("inner", "inner"), Task("y", "y"))
        )

    record = execute(nested(""), home=home)
    ran(witness)
    retry(record.id, home=home, workflow=nested("true; "))
    assert ran(witness) == ["x"]


def test_with_other_code_a_run_keeps_the_parameters_that_there_still_are(home: Path, witness: Path) -> None:
    def with_parameters(*names: str) -> Workflow:
        parameters = tuple(Parameter(name, INT, default=1) for name in names)
        return msgspec.structs.replace(chain(witness), parameters=parameters)

    record = execute(with_parameters("x", "y"), {"x": 7, "y": 8}, home=home)
    again = retry(record.id, home=home, workflow=with_parameters("y", "z"))
    assert again.parameters == {"y": 8, "z": 1}
    assert load(record.id, home=home).parameters == {"y": 8, "z": 1}


def test_another_workflow_is_no_code_of_a_run(home: Path, witness: Path) -> None:
    record = execute(chain(witness), home=home)
    other = msgspec.structs.replace(chain(witness), name="other")
    with pytest.raises(ValueError, match="is a run of 'flow', and this is 'other'"):
        retry(record.id, home=home, workflow=other)


def test_a_run_is_started_anew_with_other_parameters(home: Path, witness: Path) -> None:
    parameters = (Parameter("x", INT), Parameter("y", INT, default=2))
    workflow = msgspec.structs.replace(chain(witness), parameters=parameters)
    record = execute(workflow, {"x": 1}, home=home)
    client = LocalClient(home)
    run = client.rerun(record.id, parameters={"y": 5})
    *_, last = client.watch(run)
    assert (last.status, last.parameters, run != record.id) == ("Succeeded", {"x": 1, "y": 5}, True)


def test_what_follows_a_task_is_found_in_time_linear_in_the_graph(witness: Path) -> None:
    tasks = [Task("t0", "a"), *(Task(f"t{n}", "a", after=(After(f"t{n - 1}"),)) for n in range(1, 2000))]
    workflow = flow(step("a", witness), graph(*tasks))
    records = {task.name: TaskRecord(task.name, "container", "a", "Succeeded") for task in tasks}
    chosen = choose(workflow, records, ["t0"], [])
    assert len(chosen.whole) == 2000
