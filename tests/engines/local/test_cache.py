"""The cache of steps: what counts as the same, who made what is used, and several who want the same at once."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from couler_py.backends.local import execute
from couler_py.backends.local.api import load, retry
from couler_py.backends.local.lifecycle import prepare
from couler_py.ir.expr import Literal, TaskOutput
from couler_py.ir.model import (
    Argument,
    Cache,
    Each,
    OutputArtifact,
    Outputs,
    RetryPolicy,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import EnvVar, PodSettings, Resources
from couler_py.ir.storage import SecretRef
from couler_py.ir.types import INT, STR
from couler_py.store.home import open_home
from couler_py.store.secrets import write_secret
from tests.engines.local.conftest import Drivers
from tests.engines.local.flows import flow, graph, python, shell


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def one(step: Template, **arguments: Any) -> Workflow:
    """A workflow of one call."""
    given = tuple(Argument(name, Literal(value)) for name, value in arguments.items())
    return flow(step, graph(Task("a", step.name, given)))


def with_body(step: Template, **changes: Any) -> Template:
    return msgspec.structs.replace(step, body=msgspec.structs.replace(step.body, **changes))


def counting(witness: Path, **options: Any) -> Template:
    """A cached step that notes each time it really ran."""
    return shell("step", f"echo ran >> {witness}; echo 5", inputs=["x"], output=INT, cache=Cache(), **options)


@pytest.fixture
def witness(tmp_path: Path) -> Path:
    return tmp_path / "witness"


SAME: dict[str, Callable[[Template], Template]] = {
    "itself": lambda step: step,
    "retries": lambda step: msgspec.structs.replace(step, retry=RetryPolicy(3)),
    "time limits": lambda step: msgspec.structs.replace(step, timeout=60.0, deadline=90.0),
    "more memory": lambda step: with_body(step, resources=Resources(memory="10Mi")),
    "another place": lambda step: msgspec.structs.replace(step, pod=PodSettings(node_selector=(("disk", "ssd"),))),
    "another rule": lambda step: msgspec.structs.replace(step, cache=Cache(max_age=3600.0)),
}


@pytest.mark.parametrize("what", SAME)
def test_what_changes_no_output_makes_no_other_key(what: str, home: Path, witness: Path) -> None:
    step = counting(witness)
    execute(one(step, x="1"), home=home)
    assert execute(one(SAME[what](step), x="1"), home=home).tasks["a"].cached
    assert lines(witness) == ["ran"]


OTHER: dict[str, Callable[[Template], Template]] = {
    "its command": lambda step: with_body(step, args=("-c", "echo 5")),
    "its image": lambda step: with_body(step, image="busybox:1.36"),
    "a variable": lambda step: with_body(step, env=(EnvVar("MODE", "fast"),)),
    "its version": lambda step: msgspec.structs.replace(step, cache=Cache(version="2")),
    "where it works": lambda step: with_body(step, working_dir="/tmp"),
}


@pytest.mark.parametrize("what", OTHER)
def test_what_may_change_an_output_makes_another_key(what: str, home: Path, witness: Path) -> None:
    step = counting(witness)
    execute(one(step, x="1"), home=home)
    assert not execute(one(OTHER[what](step), x="1"), home=home).tasks["a"].cached


def test_a_variable_that_was_not_declared_is_no_part_of_a_key(
    home: Path, witness: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for value in ("1", "2"):
        monkeypatch.setenv("TEST_UNDECLARED", value)
        execute(one(counting(witness), x="1"), home=home)
    assert lines(witness) == ["ran"]


def test_of_a_secret_only_the_name_counts(home: Path, witness: Path) -> None:
    step = with_body(counting(witness), env=(EnvVar("TOKEN", SecretRef("service", "token")),))
    for value in ("first-value", "second-value"):
        write_secret(open_home(home), "service", {"token": value})
        execute(one(step, x="1"), home=home)
    assert lines(witness) == ["ran"]
    with closing(sqlite3.connect(home / "couler.sqlite")) as connection:
        kept = str(connection.execute("SELECT parts FROM cache").fetchall())
    assert "secret service/token" in kept
    assert "first-value" not in kept


def test_a_result_is_not_used_where_it_would_have_been_refused(home: Path, witness: Path) -> None:
    """What a container reads as it is may hold no braces; a cached result is held to that as a fresh one is."""
    source = f"def make() -> str:\n    open({str(witness)!r}, 'a').write('ran\\n')\n    return '{{{{x}}}}'"
    step = python("make", source, output=STR, cache=Cache())
    assert execute(flow(step, graph(Task("a", "make"))), home=home).status == "Succeeded"
    reader = shell("read", "true", inputs=["x"])
    reader = msgspec.structs.replace(
        reader,
        inputs=msgspec.structs.replace(
            reader.inputs, parameters=(msgspec.structs.replace(reader.inputs.parameters[0], type=STR),)
        ),
    )
    reads = Task("b", "read", (Argument("x", TaskOutput("a", "result")),))
    record = execute(flow(step, reader, graph(Task("a", "make"), reads)), home=home)
    assert record.tasks["a"].cached == ""
    assert record.tasks["a"].state == "Failed"
    assert lines(witness) == ["ran", "ran"]


def test_calls_that_want_the_same_at_once_compute_it_once(home: Path, witness: Path) -> None:
    step = counting(witness)
    items = Each(Literal([1, 2, 3, 4, 5, 6]))
    record = execute(flow(step, graph(Task("a", "step", (Argument("x", Literal("same")),), each=items))), home=home)
    assert record.status == "Succeeded", record.message
    assert lines(witness) == ["ran"]
    assert [bool(record.tasks[f"a[{index}]"].cached) for index in range(6)].count(True) == 5


def slow(tmp_path: Path, witness: Path) -> Workflow:
    """A step that says it has begun, and ends when it is let go."""
    script = f"echo ran >> {witness}; until test -e {tmp_path}/go; do sleep 0.02; done; echo 5"
    return one(shell("step", script, inputs=["x"], output=INT, cache=Cache()), x="1")


def test_runs_that_want_the_same_at_once_compute_it_once(
    home: Path, tmp_path: Path, witness: Path, drivers: Drivers
) -> None:
    first = drivers.run(slow(tmp_path, witness))
    first.until(kind="task", path="a", state="Running")
    second = drivers.run(slow(tmp_path, witness))
    second.until(kind="note")
    said = f"waits for {first.run}, which computes the same"
    while said not in [task.message for task in load(second.run, home=home).tasks.values()]:
        time.sleep(0.01)
    (tmp_path / "go").touch()
    assert first.finish()["status"] == second.finish()["status"] == "Succeeded"
    assert lines(witness) == ["ran"]


def test_who_was_killed_keeps_nobody_waiting(home: Path, tmp_path: Path, witness: Path, drivers: Drivers) -> None:
    first = drivers.run(slow(tmp_path, witness))
    first.until(kind="task", path="a", state="Running")
    second = drivers.run(slow(tmp_path, witness))
    second.until(kind="note")
    first.kill()
    second.until(kind="task", path="a", state="Running")
    (tmp_path / "go").touch()
    assert second.finish()["status"] == "Succeeded"


def test_a_suspended_run_keeps_nobody_waiting(home: Path, witness: Path) -> None:
    workflow = one(counting(witness), x="1")
    prepared = prepare(workflow, home=home)
    prepared.engine.context.gate.suspend()

    async def both() -> None:
        resting = asyncio.create_task(prepared.drive())
        while prepared.run.status != "Suspended":
            await asyncio.sleep(0.01)
        other = await prepare(workflow, home=home).drive()
        assert other.status == "Succeeded"
        prepared.engine.context.gate.resume()
        assert (await resting).status == "Succeeded"

    asyncio.run(both())


def test_a_hit_is_counted_and_dated(home: Path, witness: Path) -> None:
    first = execute(one(counting(witness), x="1"), home=home)
    assert execute(one(counting(witness), x="1"), home=home).tasks["a"].cached == f"{first.id}:a"
    with closing(sqlite3.connect(home / "couler.sqlite")) as connection:
        step, hits, used, created = connection.execute("SELECT step, hits, used, created FROM cache").fetchone()
    assert (step, hits) == ("step", 1)
    assert used > created


def test_a_result_whose_files_were_cut_short_is_none(home: Path, tmp_path: Path) -> None:
    file = f"{tmp_path}/made.txt"
    step = shell("make", f"echo ran >> {tmp_path}/witness; echo content > {file}", cache=Cache())
    step = msgspec.structs.replace(step, outputs=Outputs(artifacts=(OutputArtifact("f", path=file),)))
    execute(one(step), home=home)
    (blob,) = [path for path in (home / "artifacts").glob("??/*") if path.read_text() == "content\n"]
    blob.chmod(0o644)
    blob.write_text("con")
    assert execute(one(step), home=home).status == "Succeeded"
    assert lines(tmp_path / "witness") == ["ran", "ran"]


def test_a_cached_step_that_is_retried_keeps_its_success_alone(home: Path, witness: Path) -> None:
    """Failures are kept of none; asked for by name, it runs again, and what it gives then is what is kept."""
    script = f'echo x >> {witness}; [ "$COULER_RUN_ATTEMPT" = 1 ] && wc -l < {witness}'
    step = shell("late", script, output=INT, cache=Cache(), retry=RetryPolicy(1))
    workflow = flow(step, graph(Task("a", "late"), outputs={"n": TaskOutput("a", "result")}))
    first = execute(workflow, home=home)
    assert (first.outputs, first.tasks["a"].attempts, first.tasks["a"].cached) == ({"n": 2}, 2, "")
    second = execute(workflow, home=home)
    assert (second.outputs, second.tasks["a"].attempts) == ({"n": 2}, 0)
    assert second.tasks["a"].cached == f"{first.id}:a"
    again = retry(second.id, home=home, only=["a"])
    assert (again.outputs, again.tasks["a"].cached) == ({"n": 4}, "")
    assert execute(workflow, home=home).outputs == {"n": 4}
    assert len(lines(witness)) == 4


def test_a_cached_step_that_fails_each_time_is_kept_of_no_time(home: Path, witness: Path) -> None:
    step = shell("never", f"echo x >> {witness}; exit 3", cache=Cache(), retry=RetryPolicy(1))
    workflow = flow(step, graph(Task("a", "never")))
    assert [execute(workflow, home=home).tasks["a"].attempts for _ in range(2)] == [2, 2]
    assert len(lines(witness)) == 4
