"""The steps in a workflow, with real processes: generated, prepared, trained, judged again, exported."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
import torch
from safetensors.torch import load_file

import couler_py as couler
from couler_py.steps import dlrm
from couler_py.steps.dlrm.data.shards import identity
from couler_py.steps.dlrm.folders import PROGRAM, load_model
from couler_py.steps.dlrm.planning.records import recorded
from tests.training.dlrm.toys import SHAPE

SMALL = msgspec.structs.replace(SHAPE, width=4)
TASK = dlrm.Task(batch=512, micro_batches=2, row_lr=0.2, dense_lr=0.01, save_every=4)


@pytest.mark.timeout(900)
def test_a_workflow_trains_on_two_processes_and_its_model_is_read_by_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))

    @couler.workflow
    def recommender():
        shards = dlrm.prepare(dlrm.generate(rows=6000, largest=500), holdout=0.2)
        planned = dlrm.plan(shards.train, workers=(2, 2), model=SMALL, task=TASK)
        checkpoints = str(tmp_path / "checkpoints")
        trained = dlrm.train(
            shards.train, shards.test, model=SMALL, workers=planned.workers, task=TASK, checkpoints=checkpoints
        )
        again = dlrm.evaluate(trained.model, shards.test)
        return {
            "auc": trained.auc, "again": again.auc, "rows": trained.rows, "model": trained.model,
            "shards": shards.train, "exported": dlrm.export(trained.model),
            "report": trained.report, "metrics": trained.metrics,
        }  # fmt: skip

    found = couler.run(recommender, check=True).outputs
    assert found["rows"] == 4800
    assert found["again"] == pytest.approx(found["auc"], abs=1e-6)
    assert found["auc"] > 0.6
    assert "Calibration" in Path(found["report"]).read_text()
    told = json.loads(Path(found["metrics"]).read_text())
    assert (told["ranks"], told["steps"], told["seen"][-1]["judged"]["rows"]) == (2, 10, 1200)
    [profile] = recorded(str(tmp_path / "home"))
    assert (profile.job, profile.allocation, profile.outcome) == ("train-dlrm", dlrm.Allocation(2), "Succeeded")
    assert profile.seconds == told["step_seconds"]
    assert (profile.features.rows, profile.features.data) == (4800, identity(found["shards"]))

    exported = Path(found["exported"])
    trainer = load_model(found["model"])
    program = torch.export.load(exported / PROGRAM).module()
    dense, embedded = torch.randn(5, 13), torch.randn(5, 26, 4)
    assert torch.allclose(program(dense, embedded), trainer.dense(dense, embedded), atol=1e-5)
    first = load_file(exported / "tables" / "00000.safetensors")["weight"]
    assert torch.equal(first, trainer.bags.weight("C1").detach())


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_worker_that_is_killed_comes_back_and_every_row_is_in_the_model_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))
    lost = msgspec.structs.replace(TASK, flash=False, emulated=dlrm.Emulated(lost=((1, 6),)))

    @couler.workflow
    def recommender():
        shards = dlrm.prepare(dlrm.generate(rows=6000, largest=500), holdout=0.2)
        trained = dlrm.train(
            shards.train, shards.test, model=SMALL, workers=2, least=1, task=lost, checkpoints="checkpoints"
        )
        return {"rows": trained.rows, "metrics": trained.metrics}

    found = couler.run(recommender, check=True).outputs
    told = json.loads(Path(found["metrics"]).read_text())
    assert (found["rows"], told["steps"], told["seen"][-1]["judged"]["rows"]) == (4800, 10, 1200)
    assert max(step for step, _ in told["lives"]) > 0


def test_a_folder_without_a_whole_model_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"has no model\.json: it is no recommender's folder"):
        load_model(tmp_path)
