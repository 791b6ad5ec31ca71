"""The steps of data in a workflow: generated, prepared, with typed outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import couler_py as couler
from couler_py.steps import dlrm
from couler_py.steps.dlrm.data.shards import Dataset


def test_a_workflow_generates_and_prepares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @couler.workflow
    def data():
        found = dlrm.prepare(dlrm.generate(rows=500, files=3, largest=100), holdout=0.2, rows_per_file=300)
        return found.train, found.test, found.report, found.rows, found.quarantined

    monkeypatch.setenv("COULER_HOME", str(tmp_path))
    train, test, report, rows, quarantined = (value for _, value in sorted(couler.run(data).outputs.items()))
    with Dataset(train) as first, Dataset(test) as last:
        assert (len(first), len(last), rows, quarantined) == (400, 100, 500, 0)
    assert json.loads(Path(report).read_text())["rows"] == 500
