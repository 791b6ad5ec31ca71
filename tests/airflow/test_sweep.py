"""A sweep on a real Airflow tries what it tries here, round after round; its steps are local processes."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest

import couler_py as couler
from couler_py.api import run
from tests.airflow import harness


@couler.step
def loss(x: float, kernel: str, gamma: float = 0.0) -> float:
    return x * x + gamma


@couler.workflow
def tuned():
    space = {
        "kernel": ["linear", "rbf"],
        "x": couler.space.real(-5, 5),
        "gamma": couler.space.real(1e-4, 10, log=True).only(kernel="rbf"),
    }
    return couler.sweep(loss, space, "loss", "minimize", trials=4, parallel=2, seed=3)


@pytest.fixture(autouse=True)
def no_naps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow's loop for one DAG sleeps a second whenever only states have to be passed on."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


def test_the_same_trials_are_made_there(airflow_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = couler.compile(tuned, to="airflow", operators="local").text
    [dag] = harness.load({"tuned": text}, airflow_home).values()
    there = harness.run(dag, couler.build(tuned), {})
    assert there.status == "Succeeded"
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))
    here = run(tuned).outputs
    assert (there.outputs["best"], there.outputs["value"]) == (here["best"], here["value"])
    tried = list(csv.DictReader(there.outputs["table"].splitlines()))
    assert tried == list(csv.DictReader(Path(here["table"]).read_text().splitlines()))
