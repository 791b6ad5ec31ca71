"""`dlrm.plan`: what it is asked travels as data, and `couler plan` says what it will decide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import couler_py as couler
from couler_py.cli.app import group
from couler_py.ir.expr import Literal, TaskOutput
from couler_py.ir.model import Graph
from couler_py.steps import dlrm
from couler_py.steps.dlrm.planning.allocation import Load, Space
from couler_py.steps.dlrm.planning.performance import Fit, points
from couler_py.steps.dlrm.planning.planned import lines, planned, report
from couler_py.steps.dlrm.planning.step import Asked

TASK = dlrm.Task(batch=2048, micro_batches=8)
LOAD = Load("ranks", 2048, 26 * 16.0, 1.0)
TRUTH = Fit("ranks", (1e-4, 1e-8, 0.005, 0.01), 4, 1.0, 0.0, 0)
MEASURED = [
    dlrm.Measured(each, LOAD, float(TRUTH.seconds(LOAD, points([each]))[0]))
    for each in (dlrm.Allocation(1), dlrm.Allocation(2), dlrm.Allocation(4), dlrm.Allocation(6))
]


@couler.workflow
def recommender() -> float:
    chosen = dlrm.plan(Path("train"), cores=8, workers=(1, 8), task=TASK, measured=MEASURED)
    return dlrm.train(Path("train"), Path("test"), workers=chosen.workers, task=TASK).auc


def asked(**options: Any) -> str:
    return msgspec.json.encode(Asked("train-dlrm", TASK, Space((1, 8), (0, 0), (1,), ()), dlrm.Goal(), **options))


def test_what_is_asked_travels_and_the_plan_goes_to_the_training() -> None:
    [graph] = [each.body for each in couler.build(recommender).templates if isinstance(each.body, Graph)]
    plan, train = graph.tasks
    [text] = [each.value for each in plan.arguments if each.name == "asked"]
    assert isinstance(text, Literal)
    told = msgspec.json.decode(text.value, type=Asked)
    assert (told.job, told.space.cores, told.measured) == ("train-dlrm", 8, tuple(MEASURED))
    given = {each.name: each.value for each in train.arguments}
    assert given["processes"] == TaskOutput(plan.name, "workers")


def test_the_plan_for_measured_ranks_is_the_fastest_of_the_model(tmp_path: Path) -> None:
    found = planned(asked(measured=tuple(MEASURED)), home=str(tmp_path))
    speeds = {n: float(TRUTH.throughput(LOAD, points([dlrm.Allocation(n)]))[0]) for n in range(1, 9)}
    assert found.allocation.workers == max(speeds, key=lambda n: speeds[n]) == 8
    assert found.rows_per_second == pytest.approx(speeds[8])
    assert lines(found)[0].startswith("8 workers of 1 core")
    page = report(found)
    assert "What speed costs" in page
    assert "% slower" in page


def test_a_store_that_can_not_be_read_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "couler.sqlite").write_bytes(b"no database" * 100)
    found = planned(asked(measured=tuple(MEASURED)), home=str(tmp_path))
    assert (found.decisions[0].choice, found.allocation.workers) == ("no earlier runs", 8)
    assert "is damaged" in found.decisions[0].why


def test_the_plan_of_a_run_is_told_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / "flow.py").write_text(
        "from pathlib import Path\n\n"
        "import couler_py as couler\n"
        "from couler_py.steps import dlrm\n\n\n"
        "@couler.workflow\n"
        "def recommender():\n"
        "    return dlrm.plan(Path('shards'), cores=4, workers=(1, 4)).workers\n"
    )
    with pytest.raises(SystemExit) as ended:
        group().main(["plan", "flow.py", "--engine", "local", "--json"], prog_name="couler")
    assert not ended.value.code
    [told] = json.loads(capsys.readouterr().out)["decisions"]
    assert told["place"] == "recommender/dlrm-plan"
    assert told["lines"][1].startswith("warm start: 1 worker of 1 core, because none of 0 known jobs is like it")
    assert any(line.startswith("probe: ") for line in told["lines"])


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: dlrm.plan("data", workers=(1, 8), task=dlrm.Task(batch=64, micro_batches=4)), "4 micro-batches"),
        (lambda: dlrm.plan("data", model="huge"), "no model is called 'huge'"),
        (lambda: dlrm.plan("data", workers=(3, 2)), "from 3 to 2 nodes"),
    ],
)
def test_what_makes_no_sense_is_said_where_it_is_written(make, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        make()


def test_a_training_on_planned_workers_says_its_micro_batches() -> None:
    @couler.workflow
    def unsaid() -> float:
        return dlrm.train(Path("train"), Path("test"), workers=dlrm.plan(Path("train")).workers).auc

    with pytest.raises(ValueError, match="say how many micro-batches the task has"):
        couler.build(unsaid)
