"""Jobs of several nodes on this machine, with real torchrun agents: nodes that are lost and come back."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
from couler_py.backends.local.client import LocalClient

PROGRAM = Path(__file__).with_name("losing.py")


PATIENT = """#!/bin/sh
# Python, which an agent that comes back is when the others have done their ten steps without it: not before.
case "$*" in *torch.distributed.run*)
  for lost in {folder}/lost-*; do
    [ -e "$lost" ] || continue
    step=${{lost##*-}}
    tries=0
    until grep -qs "^$((step + 9)) 3$" {folder}/worlds || [ $tries = 600 ]; do tries=$((tries + 1)); sleep 0.2; done
  done
esac
exec {python} "$@"
"""


def patient(folder: Path) -> Path:
    """A program to run Python with in this folder: how long agents take to meet decides nothing then."""
    made = folder / "python"
    made.write_text(PATIENT.format(folder=shlex.quote(str(folder)), python=shlex.quote(sys.executable)))
    made.chmod(0o755)
    return made


def trained(tmp_path: Path, checkout: Path, name: str, losing: str, **options: Any) -> Any:
    folder = tmp_path / name
    folder.mkdir()
    return couler.distributed_job(
        "trainer:1",
        [str(patient(folder)), str(PROGRAM), str(folder), losing],
        name=name,
        outputs={"loss": float, "samples": int},
        env={"PYTHONPATH": str(checkout)},
        **options,
    )


@pytest.fixture
def undisturbed(tmp_path: Path, checkout: Path) -> Any:
    return trained(tmp_path, checkout, "undisturbed", "", nodes=1, processes=4)


@pytest.mark.timeout(420)
def test_nodes_are_lost_twice_and_come_back_and_the_training_is_the_same(
    tmp_path: Path, checkout: Path, undisturbed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))
    elastic = trained(tmp_path, checkout, "elastic", "10,30", nodes=4, elastic=(2, 4), max_restarts=5, health_timeout=6)

    @couler.workflow
    def both() -> dict[str, Any]:
        one, other = undisturbed(), elastic()
        couler.after(one, other)
        return {"loss": one.loss, "samples": one.samples, "elastic_loss": other.loss, "elastic_samples": other.samples}

    outputs = couler.run(both, check=True).outputs
    assert outputs["samples"] == outputs["elastic_samples"] == 60 * 4 * 8
    assert abs(outputs["loss"] - outputs["elastic_loss"]) < 1e-3
    worlds = [int(line.split()[1]) for line in (tmp_path / "elastic" / "worlds").read_text().splitlines()]
    assert worlds == [4] * 10 + [3] * 10 + [4] * 10 + [3] * 10 + [4] * 20


HANGS = """
import os, sys, time
from pathlib import Path
import torch.distributed as dist
dist.init_process_group("gloo")
first = Path(sys.argv[1], os.environ["RANK"])
if not first.exists():
    first.touch()
    if dist.get_rank() == 0:
        time.sleep(3600)
dist.barrier()
dist.destroy_process_group()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="who computes is read from /proc")
@pytest.mark.timeout(150)
def test_processes_that_wait_for_each_other_for_good_hang_and_all_begin_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))
    command = [sys.executable, "-c", HANGS, str(tmp_path)]
    job = couler.distributed_job("t:1", command, name="hangs", processes=2, max_restarts=1, health_timeout=2)

    @couler.workflow
    def main() -> None:
        job()

    run = couler.run(main, check=True)
    said = [line.text for line in LocalClient(tmp_path / "home").logs(run.id, "hangs")]
    assert "couler: no process has computed or written anything for 6 seconds: the job hangs" in said
