"""The step that trains many jobs: what it is told travels as data, and what makes no sense is said at once."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import couler_py as couler
from couler_py.ir.model import Graph
from couler_py.steps import lora
from couler_py.steps.lora.jobs import Queue

JOBS = (
    lora.Job("math", lora.Data("math.jsonl"), lora.Adapter("dora", rank=16), priority=2),
    lora.Job("taste", lora.Data("/data/taste.jsonl", held_out=8), objective=lora.DPO(0.2), stop=lora.EarlyStop()),
)


@couler.step
def fetch() -> Path:
    return Path("folder")


def test_jobs_and_policy_become_one_queue() -> None:
    policy = lora.Policy(concurrency=2, memory=10**9)

    @couler.workflow
    def many() -> None:
        made = fetch()
        lora.train_many(made, JOBS, data=made, policy=policy, name="all", gpu=1, image="train:1")

    graphs = [each.body for each in couler.build(many).templates if isinstance(each.body, Graph)]
    [train] = [task for graph in graphs for task in graph.tasks if task.name == "all"]
    [text] = [each.value for each in train.arguments if each.name == "queue"]
    assert msgspec.json.decode(text.value, type=Queue) == Queue(JOBS, policy)  # type: ignore[union-attr]


def test_a_pipeline_is_told_its_queue_and_stages() -> None:
    @couler.workflow
    def piped() -> object:
        made = fetch()
        policy = lora.Policy(save_every=5)
        saved = {"policy": policy, "checkpoints": "s3://saved", "inbox": "/mail"}
        return lora.pipeline(made, JOBS[:1], stages=3, data=made, name="piped", **saved).adapters

    graphs = [each.body for each in couler.build(piped).templates if isinstance(each.body, Graph)]
    [task] = [task for graph in graphs for task in graph.tasks if task.name == "piped"]
    told = {each.name: each.value for each in task.arguments}
    queue = msgspec.json.decode(told["queue"].value, type=Queue)  # type: ignore[union-attr, arg-type]
    assert queue == Queue(JOBS[:1], lora.Policy(save_every=5))
    assert [told[name].value for name in ("stages", "in_flight", "checkpoints", "inbox")] == [  # type: ignore[union-attr]
        3,
        0,
        "s3://saved",
        "/mail",
    ]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"jobs": []}, "there are no jobs"),
        ({"stages": 0}, "pipeline: stages is 0: it is at least 1"),
        ({"in_flight": 0}, "pipeline: in_flight is 0: it is at least 1"),
        ({"data": None}, "job 'math' reads 'math.jsonl': give the folder where that lies, data="),
        (
            {"jobs": [lora.Job("late", lora.Data("a.jsonl", held_out=2), stop=lora.EarlyStop())]},
            "job 'late' can't be trained in a pipeline: it may stop early: a pipeline's order is fixed beforehand",
        ),
    ],
)
def test_a_pipeline_that_makes_no_sense_is_refused(changed: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lora.pipeline("base", **({"jobs": JOBS[:1], "data": "data"} | changed))  # type: ignore[arg-type]


def test_what_makes_no_sense_is_said_where_it_is_written() -> None:
    with pytest.raises(ValueError, match="there are no jobs"):
        lora.train_many("base", [])
    with pytest.raises(ValueError, match="two jobs are called 'math'"):
        lora.train_many("base", [JOBS[0], JOBS[0]], data="data")
    with pytest.raises(ValueError, match=r"job 'math' reads 'math.jsonl': give the folder where that lies, data="):
        lora.train_many("base", JOBS)
