"""The steps of data in a workflow: generated, prepared, a training planned on it, with typed outputs."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

import couler_py as couler
from couler_py.steps import dlrm
from couler_py.steps.dlrm.data.shards import Dataset
from couler_py.steps.dlrm.planning.deciding import Decided

TASK = dlrm.Task(batch=64, micro_batches=8)


def test_a_workflow_generates_prepares_and_plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @couler.workflow
    def data():
        found = dlrm.prepare(dlrm.generate(rows=500, files=3, largest=100), holdout=0.2, rows_per_file=300)
        planned = dlrm.plan(found.train, cores=4, workers=(1, 8), task=TASK)
        return found.train, found.test, found.report, found.rows, found.quarantined, planned.plan, planned.workers

    monkeypatch.setenv("COULER_HOME", str(tmp_path))
    made = couler.run(data, check=True).outputs
    train, test, report, rows, quarantined, plan, workers = (value for _, value in sorted(made.items()))
    with Dataset(train) as first, Dataset(test) as last:
        assert (len(first), len(last), rows, quarantined) == (400, 100, 500, 0)
        tables = sum(each.rows for each in first.index.tables)
    assert json.loads(Path(report).read_text())["rows"] == 500
    decided = msgspec.json.decode(Path(plan).read_bytes(), type=Decided)
    assert workers == decided.allocation.workers <= 4
    assert [each.stage for each in decided.decisions] == ["warm start", "probe", "memory"]
    shared = decided.decisions[-1].inputs["GiB that are shared"]
    assert shared == pytest.approx(tables * (TASK.shape.width + 1) * 4 / 2**30)
