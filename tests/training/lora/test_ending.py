"""What goes wrong with a job ends that job, with its reason, and is nobody else's affair."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from couler_py.steps.lora.hosting import Host
from couler_py.steps.lora.jobs import Adapter, Optimizer, Policy
from couler_py.steps.lora.trainer import Trainer
from couler_py.steps.lora.tuning import Tuning
from tests.training.lora import toys
from tests.training.lora.toys import apart, trained, weights


def test_a_job_that_goes_wrong_ends_alone(tmp_path: Path) -> None:
    """One whose rate explodes, one without data, one that is cancelled: the fourth is bit by bit as if they weren't."""
    good = toys.job(tmp_path, "good", 1, epochs=3)
    wild = toys.job(tmp_path, "wild", 2, optimizer=Optimizer("sgd", lr=1e200, momentum=0.0), clip=None)
    bad = toys.job(tmp_path, "bad", 3, [{"prompt": "one", "completion": "two"}, {"prompt": "three"}])
    odd = toys.job(tmp_path, "odd", 3, adapter=Adapter(targets=("c_attn",)))
    policy = Policy(fuse=False)
    together, alone = trained([good, wild, bad, odd], policy), trained([good], policy)
    assert apart(weights(together, "good"), weights(alone, "good")) == 0.0
    told = together.progress()
    assert [told[name].state for name in ("good", "wild", "bad", "odd")] == ["done", "failed", "failed", "failed"]
    assert "the gradient of step" in told["wild"].reason
    assert told["bad"].reason == "line 2 of bad.jsonl: it has no text 'completion': there are prompt"
    assert told["odd"].reason.startswith("the base has no linear layer 'c_attn': there are down_proj, gate_proj")


@pytest.mark.parametrize("optimizer", [Optimizer("sgd", lr=1e200), Optimizer(lr=1e38), Optimizer(lr=1e200)], ids=str)
def test_a_rate_that_weights_have_no_number_for_ends_its_job_alone(tmp_path: Path, optimizer: Optimizer) -> None:
    """In float32 torch refuses such a step: AdamW's of 1e38 once it has divided the rate by 1 - 0.9."""
    good, wild = toys.job(tmp_path, "good", 1), toys.job(tmp_path, "wild", 2, optimizer=optimizer)
    trainer = trained([wild, good], dtype=torch.float32)
    told = trainer.progress()
    assert (told["good"].state, told["wild"].state, told["wild"].moved, told["wild"].losses) == (
        "done",
        "failed",
        0,
        [],
    )
    assert told["wild"].reason.startswith("step 1 can't be made at a rate of 1e+")
    assert told["wild"].reason.endswith("take a lower learning rate")


def small_memory(host: Host, rows: int) -> None:
    """From now on memory ends in a pass of more rows: no GPU is needed to see what becomes of its jobs."""
    logits = host.logits

    def limited(tokens: Tensor, *rest: object) -> Tensor:
        if len(tokens) > rows:
            raise torch.OutOfMemoryError("tried to allocate 99 GiB")
        return logits(tokens, *rest)  # type: ignore[arg-type]

    host.logits = limited  # type: ignore[method-assign]


def test_memory_that_ends_on_held_out_lines_ends_that_job(tmp_path: Path) -> None:
    good = toys.job(tmp_path, "good", 1, batch=2)
    judged = toys.job(tmp_path, "judged", 2, toys.lines(2, count=8), batch=6, held_out=6)
    trainer = Trainer(toys.base())
    small_memory(trainer.host, 4)
    for job in (judged, good):
        trainer.submit(job)
    told = trainer.run()
    assert (told["good"].state, told["judged"].state) == ("done", "failed")
    assert told["judged"].reason.startswith("memory ends where its held-out lines are read: take a smaller micro_batch")


def test_a_job_for_which_there_is_no_room_ends_and_who_waits_has_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large, good = toys.job(tmp_path, "large", 1, priority=1), toys.job(tmp_path, "good", 2)
    trainer = Trainer(toys.base(), Policy(concurrency=1))
    for job in (large, good):
        trainer.submit(job)
    move_to = Tuning.move_to

    def limited(tuning: Tuning, device: torch.device) -> None:
        if tuning.job.name == "large" and tuning.progress.state == "ready" and device == trainer.host.device:
            raise torch.OutOfMemoryError("tried to allocate 99 GiB")
        move_to(tuning, device)

    monkeypatch.setattr(Tuning, "move_to", limited)
    told = trainer.run()
    assert (told["large"].state, told["good"].state) == ("failed", "done")
    assert told["large"].reason.startswith("memory ends where it is to be at work, with ")


def test_nan_in_a_fused_pass_reaches_no_neighbour(tmp_path: Path) -> None:
    good, wild = toys.job(tmp_path, "good", 1, epochs=2), toys.job(tmp_path, "wild", 2)
    trainer = Trainer(toys.base(), Policy(overhead=10_000))
    trainer.submit(good)
    trainer.submit(wild)
    with torch.no_grad():
        trainer.tunings["wild"].weights.parameters[0].fill_(float("nan"))
    told = trainer.run()
    assert (told["wild"].state, told["wild"].moved) == ("failed", 0)
    assert told["good"].state == "done"
    assert apart(weights(trainer, "good"), weights(trained([good]), "good")) <= 1e-10


def test_memory_that_ends_in_company_ends_the_job_that_is_too_large(tmp_path: Path) -> None:
    """A pass that is too large is made again in parts, and gradients are counted once."""
    good, large = toys.job(tmp_path, "good", 1, epochs=2), toys.job(tmp_path, "large", 2, batch=10)
    trainer = Trainer(toys.base(), Policy(overhead=10_000))
    small_memory(trainer.host, 8)
    for job in (good, large):
        trainer.submit(job)
    told = trainer.run()
    assert told["large"].state == "failed"
    assert "memory ends in a backward of 10 rows of" in told["large"].reason
    assert apart(weights(trainer, "good"), weights(trained([good]), "good")) <= 1e-10
