"""Jobs in one pipeline of processes, and replicas as processes; one launch does all checks."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from couler_py.steps import lora
from couler_py.steps.lora.jobs import Queue
from couler_py.steps.lora.piped import on_stages
from couler_py.steps.models.decoder import build
from couler_py.steps.models.folders import save
from tests.training.conftest import Launch
from tests.training.lora import toys


def test_what_a_job_learns_in_a_pipeline_or_by_replicas_is_what_it_learns_alone(ranks: Launch, tmp_path: Path) -> None:
    ranks("tests.training.lora.piping", 3, str(tmp_path))


@pytest.mark.soak
def test_the_step_starts_its_stages_and_tells_what_became_of_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(build(toys.SHAPE), tmp_path / "base")
    bad = toys.job(tmp_path, "bad", 2, optimizer=lora.Optimizer("sgd", lr=1e30), clip=None)
    still = toys.job(tmp_path, "still", 3, scaler=lora.Scaler(2.0**1000))
    queue = msgspec.json.encode(Queue((toys.job(tmp_path, "good", 1), bad, still))).decode()
    told = on_stages(tmp_path / "base", None, None, queue, "", "", 2, 3)
    assert told.finished == ["good", "still"]
    assert "take a lower learning rate" in told.failed["bad"]
    assert 0 < told.bubble < 1
    assert (told.adapters / "good" / "adapter_model.safetensors").is_file()
    assert not (told.adapters / "bad").exists()
    assert told.losses.keys() == {"good"}, "one never moved, and has no loss of a step"
