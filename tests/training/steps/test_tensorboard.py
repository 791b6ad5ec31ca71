"""Metrics of steps as events of TensorBoard, read back by its own reader."""

from __future__ import annotations

from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util.tensor_util import make_ndarray

import couler_py as couler
from couler_py.ir.scalars import write_scalar


@couler.step
def learn() -> int:
    for step in (10, 20):
        couler.log_metric("loss", 1 / step, step=step)
    couler.log_metric("score", 0.5)
    couler.log_metric("score", 0.75)
    return 1


def scalars(folder: Path, name: str) -> list[tuple[int, float]]:
    events = EventAccumulator(str(folder))
    events.Reload()
    assert events.SummaryMetadata(name).plugin_data.plugin_name == "scalars"
    found = [(event.step, float(make_ndarray(event.tensor_proto))) for event in events.Tensors(name)]
    return [(step, round(value, 6)) for step, value in found]


def test_what_a_step_logs_is_written_where_tensorboard_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))
    logged = learn.with_options(env={"COULER_TENSORBOARD": str(tmp_path / "events")})

    @couler.workflow
    def main() -> dict[str, object]:
        return {"done": logged()}

    couler.run(main, check=True)
    assert scalars(tmp_path / "events", "loss") == [(10, 0.1), (20, 0.05)]
    assert scalars(tmp_path / "events", "score") == [(0, 0.5), (1, 0.75)]


def test_each_rank_writes_to_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_TENSORBOARD", str(tmp_path))
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    write_scalar("loss", 0.25, 3)
    assert scalars(tmp_path / "rank-1", "loss") == [(3, 0.25)]
