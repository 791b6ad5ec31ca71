"""Runs that go on at the same time share the machine."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from couler_py.backends.local import execute
from couler_py.ir.model import After, Task, Template
from couler_py.ir.pod import Container, Resources
from tests.engines.local.conftest import Drivers, processes_of
from tests.engines.local.flows import flow, graph, shell

USAGE = """
import json, pathlib, sys
from couler_py.store.ledger import Ledger

with Ledger(pathlib.Path(sys.argv[1])).opened() as table:
    print(json.dumps(table.usage()))
"""


@pytest.fixture(autouse=True)
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of the test's own."""
    monkeypatch.setenv("COULER_LEDGER", str(tmp_path / "ledger"))


def free(name: str, script: str) -> Template:
    """A step that takes nothing of the machine, and so never waits for its share."""
    return Template(name, Container("busybox", ("sh",), ("-c", script), resources=Resources(cpu="0")))


def test_three_equal_runs_get_a_third_of_the_machine_each(
    drivers: Drivers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the ledger says of each when one of them has done twelve steps, and all have more to do."""
    monkeypatch.setenv("COULER_CPUS", "2")
    go, ready, usage = tmp_path / "go", tmp_path / "ready", tmp_path / "usage"
    os.mkfifo(ready)
    begin = free("begin", f"echo x > {ready}; until [ -e {go} ]; do sleep 0.01; done")
    step = shell("step", f"[ -e {usage}/all ] || sleep 0.1")
    write = f"{sys.executable} -c '{USAGE}' {tmp_path}/ledger > {usage}/some && mv {usage}/some {usage}/all"
    look = free("look", f"! mkdir {usage} || {{ {write}; }}")
    steps = [Task(f"t{n}", "step", after=(After("begin"),)) for n in range(30)]
    twelve = Task("look", "look", after=tuple(After(task.name) for task in steps[:12]))
    workflow = flow(begin, step, look, graph(Task("begin", "begin"), *steps, twelve))
    runs = [drivers.run(workflow)]
    ready.read_text()
    runs += [drivers.run(workflow), drivers.run(workflow)]
    said = ""
    while said.count("x") < 2:  # one look may see both
        said += ready.read_text()
    go.touch()
    assert [run.finish()["status"] for run in runs] == ["Succeeded"] * 3
    used = list(json.loads((usage / "all").read_text()).values())
    assert len(used) == 3
    assert used == pytest.approx([sum(used) / 3] * 3, rel=0.2)


def test_what_a_killed_engine_left_running_keeps_its_share(
    drivers: Drivers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_CPUS", "1")
    ready, end, witness = tmp_path / "ready", tmp_path / "end", tmp_path / "witness"
    os.mkfifo(ready)
    os.mkfifo(end)
    first = drivers.run(flow(shell("a", f"echo > {ready}; cat {end}; echo a >> {witness}"), graph(Task("a", "a"))))
    first.until(kind="id")
    ready.read_text()
    first.kill()
    second = drivers.run(flow(shell("b", f"echo b >> {witness}"), graph(Task("b", "b"))))
    second.until(kind="task", path="b", state="Pending")
    end.write_text("")
    assert second.finish()["status"] == "Succeeded"
    assert witness.read_text().split() == ["a", "b"]
    assert drivers.resume(first.run).finish()["status"] == "Succeeded"
    assert witness.read_text().split() == ["a", "b"]
    assert processes_of(drivers.home) == {}


def gpu(name: str, script: str, **options: object) -> Template:
    """A step that asks for the one GPU, and for nothing else."""
    body = Container("busybox", ("sh",), ("-c", script), resources=Resources(cpu="0", gpu=1))
    return Template(name, body, **options)  # type: ignore[arg-type]


def test_a_daemon_has_its_gpu_until_its_graph_ends(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    server = gpu("server", "while true; do sleep 0.05; done", daemon=True)
    trainer = gpu("trainer", '[ "$CUDA_VISIBLE_DEVICES" = 0 ]')
    inner = graph(Task("server", "server"), Task("client", "client", after=(After("server"),)), name="inner")
    main = graph(Task("inner", "inner"), Task("train", "trainer", after=(After("inner"),)))
    record = execute(flow(server, free("client", "true"), trainer, inner, main), home=home)
    assert record.status == "Succeeded", record.message
    inner = graph(Task("server", "server"), Task("train", "trainer", after=(After("server"),)))
    record = execute(flow(server, trainer, inner), home=home)
    assert record.status == "Failed"
    assert record.tasks["train"].message == "it asks for 1 GPUs, and of 1 daemons keep 1"


def test_steps_go_on_beside_daemons_that_have_all_processors(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_CPUS", "1")
    body = Container("busybox", ("sh",), ("-c", "while true; do sleep 0.05; done"), resources=Resources(cpu="1"))
    main = graph(Task("server", "server"), Task("client", "client", after=(After("server"),)))
    record = execute(flow(Template("server", body, daemon=True), shell("client", "true"), main), home=home)
    assert record.status == "Succeeded", record.message
