"""What is asked for is looked at where it is written: each mistake names its place and the way out."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from couler_py.steps.lora import config
from couler_py.steps.lora.jobs import Adapter, Data, EarlyStop, Job, Optimizer, Policy, Scaler, Schedule
from couler_py.steps.lora.objectives import CPO, DPO

QUEUE: dict[str, Any] = {
    "dispatcher": {"name": "default", "concurrency_num": 2},
    "datasets": [
        {"name": "math", "data": "math.jsonl", "prompt": "math.j2", "preprocess": "shuffle", "held_out": 8},
        {"name": "taste", "data": "taste.jsonl", "prompt_type": "preference"},
    ],
    "adapters": [
        {
            "name": "small", "type": "loraplus", "r": 32, "alpha": 64, "dropout": 0.05, "lr_ratio": 8.0,
            "target_modules": {"q_proj": True, "k_proj": False, "v_proj": True}, "optimizer": "adamw", "lr": 3e-4,
            "lrscheduler": {"type": "cosine", "t_max": 100, "eta_min": 1e-5},
        },
        {"name": "fixed", "path": "before/small"},
    ],
    "tasks": [
        {
            "type": "train", "name": "first", "adapter": "small", "dataset": "math", "batch_size": 64,
            "mini_batch_size": 16, "num_epochs": 10, "priority": 2, "early_stop": {"every": 5, "patience": 2},
        },
        {"type": "dpo", "name": "second", "adapter": "small", "dataset": "taste", "reference": "fixed", "beta": 0.2},
        {"type": "cpo", "name": "third", "adapter": "small", "dataset": "taste", "loss_type": "hinge"},
    ],
}  # fmt: skip


def changed(place: str, value: object) -> dict[str, Any]:
    """The queue with one value changed, `place` as in `tasks.0.adapter`."""
    queue = copy.deepcopy(QUEUE)
    part: Any = queue
    *path, last = place.split(".")
    for key in path:
        part = part[int(key)] if key.isdigit() else part[key]
    part[last] = value
    return queue


def test_a_queue_in_the_shape_of_mlora_is_read(tmp_path: Path) -> None:
    (tmp_path / "math.j2").write_text("Q: {{ question }}")
    jobs, policy = config.parse(QUEUE, tmp_path)
    assert policy == Policy(concurrency=2)
    assert jobs[0] == Job(
        "first",
        Data("math.jsonl", "Q: {{ question }}", "shuffle", 8),
        Adapter("lora+", 32, 64.0, 0.05, ("q_proj", "v_proj"), ratio=8.0),
        optimizer=Optimizer("adamw", 3e-4),
        schedule=Schedule("cosine", 0, 100, 1e-5),
        batch=64,
        micro_batch=16,
        epochs=10,
        stop=EarlyStop(5, 2),
        priority=2,
    )
    assert [job.objective for job in jobs[1:]] == [DPO(0.2, reference="before/small"), CPO(loss="hinge")]


@pytest.mark.parametrize(
    ("place", "value", "problem"),
    [
        ("tasks.0.adapter", "none", "task 'first': no adapter is called 'none': there are small, fixed"),
        ("tasks.0.adapter", "fixed", "adapter 'fixed' has no optimizer, so it isn't trained"),
        ("tasks.0.dataset", "taste", "a task of type train reads instruction data"),
        ("tasks.0.mini_batch_size", 24, "a batch of 64 is no multiple of micro_batch 24"),
        ("tasks.0.type", "ppo", r"Invalid enum value 'ppo' - at `\$\.tasks\[0\]\.type`"),
        ("tasks.0.batch_sise", 4, "unknown field `batch_sise`"),
        ("tasks.1.reference", "small", "its reference 'small' stays as it is"),
        ("tasks.1.loss_type", "hinge", "dpo has no loss_type hinge"),
        ("tasks.1.name", "first", "two jobs are called 'first'"),
        ("adapters.1.name", "small", "two adapters are called 'small'"),
        ("adapters.0.r", 0, r"Expected `int` >= 1 - at `\$\.adapters\[0\]\.r`"),
        ("adapters.0.dropout", 1.0, "dropout is 1.0: it is at least 0 and below 1"),
        ("adapters.0.target_modules", {"q_proj": False}, "targets are none"),
        ("datasets.0.held_out", 0, "stop needs lines to evaluate on"),
        ("dispatcher.name", "pipe", "Invalid enum value 'pipe'"),
    ],
)
def test_each_mistake_is_named(tmp_path: Path, place: str, value: object, problem: str) -> None:
    (tmp_path / "math.j2").write_text("Q: {{ question }}")
    with pytest.raises(ValueError, match=problem):
        config.parse(changed(place, value), tmp_path)


def test_a_file_is_named_in_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = tmp_path / "queue.yaml"
    path.write_text("tasks: [")
    with pytest.raises(ValueError, match=r"queue\.yaml: while parsing a flow"):
        config.read(path)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Job("a/b", Data("x")), "a job is called 'a/b'"),
        (lambda: Job("a", Data("")), "path is empty"),
        (lambda: Job("a", Data("x"), batch=0), "job 'a': batch is 0: it is at least 1"),
        (lambda: Job("a", Data("x"), clip=0.0), "clip is 0.0: it is above 0"),
        (lambda: Optimizer(lr=float("nan")), "lr is nan"),
        (lambda: Optimizer(betas=(0.9, 1.0)), "beta is 1.0"),
        (lambda: Adapter(rank=0), "rank is 0"),
        (lambda: Adapter(targets=("q_proj", "q_proj")), "name each layer once"),
        (lambda: DPO(loss="ipo", smoothing=0.1), "smoothing is of the sigmoid loss"),
        (lambda: Scaler(0.5), "initial is 0.5: it is at least 1"),
        (lambda: Policy(concurrency=0), "concurrency is 0"),
    ],
)
def test_so_is_each_in_python(make: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        make()


def test_scales_are_those_of_the_papers() -> None:
    assert Adapter("lora", 16, 32.0).scale == 2.0
    assert Adapter("rslora", 16, 32.0).scale == 8.0
    assert Adapter("vera", 16, 32.0).scale == 1.0


def test_rates_rise_and_fall() -> None:
    cosine = Schedule("cosine", warmup=2, period=4, least=0.2)
    assert [round(cosine.rate(step, 100, 1.0), 4) for step in range(8)] == [
        0.5, 1.0, 1.0, 0.8828, 0.6, 0.3172, 0.2, 0.2,
    ]  # fmt: skip
    assert Schedule("constant", warmup=2).rate(50, 100, 0.3) == 0.3
