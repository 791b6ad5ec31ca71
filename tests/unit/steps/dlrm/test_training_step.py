"""The steps that train: what they are told travels as data, and what makes no sense is said at once. No torch here."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import couler_py as couler
from couler_py.ir.model import DistributedJob, Graph
from couler_py.steps import dlrm
from couler_py.steps.dlrm.shapes import PRESETS


def test_settings_become_one_task_that_every_rank_reads() -> None:
    @couler.workflow
    def recommender() -> None:
        shards = dlrm.prepare(dlrm.generate(rows=500))
        dlrm.train(shards.train, shards.test, model="dcn-v2", workers=4, task=dlrm.Task(batch=64), gpu=4)

    graphs = [each.body for each in couler.build(recommender).templates if isinstance(each.body, Graph)]
    [train] = [task for graph in graphs for task in graph.tasks if task.name == "train-dcn-v2"]
    [text] = [each.value for each in train.arguments if each.name == "task"]
    told = msgspec.json.decode(text.value, type=dlrm.Task)  # type: ignore[union-attr]
    assert told == dlrm.Task(PRESETS["dcn-v2"], batch=64, micro_batches=4)


def test_several_nodes_are_a_job_that_others_may_leave() -> None:
    @couler.workflow
    def recommender() -> float:
        return dlrm.train_on_nodes(
            "train:1", "/data/train", "/data/test", "/data/out", nodes=4, elastic=(2, 4), gpu=1, volumes={}
        ).auc

    [job] = [each for each in couler.build(recommender).templates if isinstance(each.body, DistributedJob)]
    assert (job.body.nodes, job.body.elastic, job.body.max_restarts) == (4, (2, 4), 3)
    assert job.body.container.command[-4:] == (
        "--checkpoints",
        "/data/out/checkpoints",
        "--outputs",
        "/tmp/couler/outputs",
    )
    assert msgspec.json.decode(job.body.container.command[3], type=dlrm.Task).micro_batches == 4
    assert next(each.name for each in job.outputs.parameters) == "auc"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"model": "huge"}, "no model is called 'huge'"),
        ({"workers": 3}, "a step of 2048 rows isn't shared evenly by 3 micro-batches"),
        ({"task": dlrm.Task(save_every=5)}, "checkpoints are to be saved every 5 steps: say where, checkpoints="),
        ({"workers": 2, "least": 3}, "at least 3 workers of 2"),
        ({"workers": 2, "least": 1}, "workers that may be lost go back to a checkpoint: say save_every"),
    ],
)
def test_what_makes_no_sense_is_said_where_it_is_written(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        dlrm.train("train", "test", **options)
