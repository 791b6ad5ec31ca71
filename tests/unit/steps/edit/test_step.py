"""The step that trains in rounds: what it is told travels as data, and what makes no sense is said at once."""

from __future__ import annotations

import msgspec
import pytest

import couler_py as couler
from couler_py.ir.model import Graph
from couler_py.steps import edit
from couler_py.steps.edit.settings import Penalty, preset
from couler_py.steps.edit.task import Inner, Task
from couler_py.steps.models.config import PRESETS


def test_settings_become_one_task_that_every_rank_reads() -> None:
    @couler.workflow
    def rounds() -> None:
        edit.train(
            edit.prepare(), method="edit", sync_every=8, warmup=4, penalty=Penalty(clip=1.0), replicas=2, shards=2,
            steps=20, gpu=4, image="train:1",
        )  # fmt: skip

    graphs = [each.body for each in couler.build(rounds).templates if isinstance(each.body, Graph)]
    [train] = [task for graph in graphs for task in graph.tasks if task.name == "train-edit"]
    [text] = [each.value for each in train.arguments if each.name == "task"]
    told = msgspec.json.decode(text.value, type=Task)  # type: ignore[union-attr]
    assert told == Task(
        preset("edit", sync_every=8, warmup=4, penalty=Penalty(clip=1.0)),
        PRESETS["tiny"],
        replicas=2,
        shards=2,
        steps=20,
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"method": "sgd"}, "no preset is called 'sgd'"),
        ({"model": "huge"}, "no model is called 'huge': there are tiny, small"),
        ({"batch": 6, "shards": 4}, "a batch of 6 rows isn't shared evenly by 4 shards in 1 parts"),
        ({"sequence": 4096}, "rows of 4096 tokens: the model's context holds 128"),
        ({"sync_every": 0}, "sync_every is 0"),
    ],
)
def test_what_makes_no_sense_is_said_where_it_is_written(options: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        edit.train("corpus", **options)


def test_the_rate_rises_linearly_and_falls_to_a_tenth() -> None:
    inner = Inner(lr=1.0, rise=4)
    rates = [inner.rate(step, 104) for step in (0, 1, 3, 4, 54, 104, 200)]
    assert rates == pytest.approx([0.25, 0.5, 1.0, 1.0, 0.55, 0.1, 0.1])
