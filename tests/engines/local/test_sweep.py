"""Sweeps as they run: killed and gone on with, stopped early, with trials that fail."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

import couler_py as couler
from couler_py.dsl.sweeps import study
from couler_py.dsl.sweeps.planning import planned
from couler_py.ir.model import Workflow
from couler_py.ir.sweep import plain
from tests.engines.local.conftest import Drivers, processes_of

SPACE = {
    "kernel": ["linear", "rbf"],
    "x": couler.space.real(-5, 5),
    "gamma": couler.space.real(1e-4, 10, log=True).only(kernel="rbf"),
}


@couler.step
def loss(x: float, kernel: str, witness: str, gamma: float = 0.0) -> float:
    with open(witness, "a") as file:
        file.write(f"{x!r}\n")
    return x * x + gamma


def tune(witness: Path) -> Workflow:
    @couler.workflow
    def tuned():
        given = {"witness": str(witness)}
        return couler.sweep(loss, SPACE, "loss", "minimize", trials=6, parallel=2, given=given, seed=3)

    return couler.build(tuned)


def uninterrupted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """The trials of `tune`, by its functions alone."""
    folder.mkdir()
    monkeypatch.chdir(folder)
    plan = plain(
        planned(
            loss, SPACE, "loss", "minimize", 6, 2, "tpe",
            given={"witness": ""}, seed=3, first=(), tolerate=0, rungs=(1, None, 3), sampler=None, going_on=False,
        )
    )  # fmt: skip
    found = study.start(plan)
    while not found.done:
        values = [point["values"] for point in found.points]
        outcomes = [
            {"values": [each["x"] ** 2 + each["gamma"]], "stopped": False, "rungs": [], "curve": []} for each in values
        ]
        found = study.tell(found.state, found.points, outcomes)
    return json.loads(found.state.read_text())["trials"]


def test_a_sweep_that_is_killed_goes_on_and_loses_no_trial(
    drivers: Drivers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness = tmp_path / "witness"
    driver = drivers.run(tune(witness))
    driver.until(path="sweep-rounds#2/sweep-trial[0]", state="Succeeded")
    driver.kill()
    driver = drivers.resume(driver.run)
    driver.until(path="sweep-rounds#3/sweep-tell", state="Running")
    driver.kill()
    summary = drivers.resume(driver.run).finish()
    assert summary["status"] == "Succeeded"
    trials = uninterrupted(tmp_path / "alone", monkeypatch)
    tried = Counter(map(float, witness.read_text().split()))
    assert set(tried) == {trial["values"]["x"] for trial in trials}
    assert tried.total() <= len(trials) + 1  # one may have been at work when its engine was killed
    best = min(trials, key=lambda trial: trial["metrics"])
    assert summary["outputs"]["value"] == best["metrics"][0]
    assert json.loads(Path(summary["outputs"]["study"]).read_text())["trials"] == trials
    assert processes_of(drivers.home) == {}


@couler.step
def learn(x: float) -> None:
    for step in range(1, 28):
        couler.log_metric("loss", x * x + 1 / step, step)


@couler.workflow
def stopping():
    space = {"x": couler.space.real(-5, 5)}
    return couler.sweep(learn, space, "loss", "minimize", trials=12, parallel=4, algorithm="asha", max_step=27)


def test_trials_that_others_were_better_than_end_early(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(home))
    run = couler.run(stopping)
    rows = list(csv.DictReader(Path(run.outputs["table"]).read_text().splitlines()))
    assert len(rows) == 12
    assert {row["state"] for row in rows[:4]} == {"complete"}
    stopped = [row for row in rows if row["state"] == "stopped"]
    assert stopped
    assert {row["last step"] for row in stopped} <= {"1", "3", "9"}
    assert {row["last step"] for row in rows if row["state"] == "complete"} == {"27"}
    assert run.outputs["value"] == min(float(row["loss"]) for row in rows if row["state"] == "complete")
    page = Path(run.outputs["page"]).read_text()
    for title in ("History", "What matters", "Settings of each trial", "What trials logged"):
        assert f"<h2>{title}</h2>" in page
    assert "http://" not in page.replace("http://www.w3.org", "")


@couler.step
def picky(x: int) -> float:
    assert x != 2, "never two"
    return float(x)


@couler.workflow
def grid():
    return couler.sweep(picky, {"x": [1, 2, 3]}, "score", "maximize", parallel=3, algorithm="grid", tolerate=1)


def test_a_trial_that_fails_is_left_out(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(home))
    run = couler.run(grid)
    rows = list(csv.DictReader(Path(run.outputs["table"]).read_text().splitlines()))
    assert [(row["x"], row["state"]) for row in rows] == [("1", "complete"), ("2", "lost"), ("3", "complete")]
    assert run.outputs["best"] == {"x": 3}
