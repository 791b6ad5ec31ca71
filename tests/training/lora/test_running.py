"""A queue from beginning to end: adapters, results, a page; ended in the middle, it goes on; budgets hold."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
import torch

from couler_py.steps.lora import inbox
from couler_py.steps.lora.hosting import Part
from couler_py.steps.lora.jobs import Adapter, Optimizer, Policy, Queue, Scaler
from couler_py.steps.lora.memory import LEAST
from couler_py.steps.lora.objectives import DPO
from couler_py.steps.lora.running import judge, merge, run
from couler_py.steps.lora.trainer import Trainer
from couler_py.steps.lora.weights import Weights
from couler_py.steps.models.decoder import build, next_token_loss
from couler_py.steps.models.folders import load, save
from tests.training.lora import toys


@pytest.fixture
def base(tmp_path: Path) -> Path:
    save(build(toys.SHAPE, 3), tmp_path / "base")
    return tmp_path / "base"


def queue(folder: Path) -> Queue:
    good = toys.job(folder, "good", 1, held_out=4, epochs=3)
    pairs = toys.job(folder, "pairs", 2, toys.pairs(2), objective=DPO(), adapter=Adapter("dora", rank=4))
    bad = toys.job(folder, "bad", 3, [{"text": 1}])
    return Queue((good, pairs, bad), Policy(save_every=2))


def test_a_queue_leaves_adapters_results_and_a_page(base: Path, tmp_path: Path) -> None:
    told = run(queue(tmp_path), base, tmp_path / "out")
    assert told.finished == ("good", "pairs")
    assert told.failed == {"bad": "failed: line 1 of bad.jsonl: it has no text 'text': there are text"}
    assert sorted(path.name for path in (tmp_path / "out/adapters").iterdir()) == ["good", "pairs"]
    written = json.loads((tmp_path / "out/results.json").read_text())
    assert written["jobs"]["good"]["step"] == 6
    assert told.peak > told.base > 0
    page = (tmp_path / "out/report.html").read_text()
    assert all(name in page for name in ("good", "pairs", "bad", "DPO, dora, rank 4"))


def test_a_job_whose_scaler_left_out_all_steps_finishes_without_a_loss(base: Path, tmp_path: Path) -> None:
    still = toys.job(tmp_path, "still", 1, scaler=Scaler(2.0**1000))
    told = run(Queue((still, toys.job(tmp_path, "good", 2))), base, tmp_path / "out")
    assert told.finished == ("still", "good")
    assert (told.jobs["still"].step, told.jobs["still"].moved) == (3, 0)
    assert list(told.losses) == ["good"]


def test_an_adapter_is_judged_and_merged_as_it_was_trained(base: Path, tmp_path: Path) -> None:
    told = run(queue(tmp_path), base, tmp_path / "out")
    adapter = tmp_path / "out/adapters/good"
    loss = judge(base, adapter)
    assert loss == pytest.approx(told.losses["good"], rel=1e-5)
    [example, *_] = toys.lines(1)[-4:]
    merged = load(merge(base, adapter, tmp_path / "model"))
    text = list((example["prompt"] + example["completion"]).encode())
    tokens = torch.tensor([text])
    with torch.no_grad():
        better = next_token_loss(merged(tokens[:, :-1]), tokens[:, 1:])
        before = next_token_loss(load(base)(tokens[:, :-1]), tokens[:, 1:])
    assert better < before
    with pytest.raises(ValueError, match="there is no adapter of a job 'none'"):
        judge(base, tmp_path / "out/adapters/none")


def test_what_was_ended_goes_on_with_the_same_adapters(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second attempt has an empty folder, a job from the inbox, and one that had ended before."""
    places = {"checkpoints": str(tmp_path / "checkpoints"), "inbox": tmp_path / "inbox"}
    late = toys.job(tmp_path, "late", 5)
    inbox.submit(tmp_path / "inbox", late)
    whole = run(queue(tmp_path), base, tmp_path / "whole", inbox=tmp_path / "inbox")

    turn = Trainer.turn

    def ended(trainer: Trainer) -> bool:
        if trainer.turns == 5:
            raise KeyboardInterrupt
        return turn(trainer)

    monkeypatch.setattr(Trainer, "turn", ended)
    with pytest.raises(KeyboardInterrupt):
        run(queue(tmp_path), base, tmp_path / "first", **places)
    monkeypatch.undo()
    again = run(queue(tmp_path), base, tmp_path / "second", **places)
    assert again.finished == whole.finished == ("good", "pairs", "late")
    for name in whole.finished:
        one, other = (
            (tmp_path / out / "adapters" / name / "adapter_model.safetensors").read_bytes()
            for out in ("whole", "second")
        )
        assert one == other


def test_a_job_that_does_not_fit_is_refused_and_others_share_what_there_is(tmp_path: Path) -> None:
    jobs = [toys.job(tmp_path, name, seed, batch=4) for seed, name in enumerate(("one", "two", "three"))]
    huge = toys.job(tmp_path, "huge", 9, toys.lines(9, count=64, longest=40), batch=64)
    sizes = Trainer(toys.base())
    for job in (*jobs, huge):
        sizes.submit(job)
    alone = max(sizes.meter.model.bytes(4, 32) + each.state_bytes for each in sizes.tunings.values())
    budget = int(sizes.host.size + 1.5 * alone)
    trainer = Trainer(toys.base(), Policy(memory=budget))
    for job in (*jobs, huge):
        trainer.submit(job)
    told = trainer.run()
    assert [told[job.name].state for job in jobs] == ["done"] * 3
    assert told["huge"].state == "failed"
    assert told["huge"].reason.startswith("a backward of 64 rows of ")
    assert trainer.peak <= budget


def test_passes_are_foretold_from_those_that_were_made(tmp_path: Path) -> None:
    trainer = Trainer(toys.base(torch.float32), Policy(fuse=False))
    for number, (batch, longest) in enumerate([(1, 12), (2, 20), (4, 30), (8, 40), (3, 46)]):
        rows = toys.lines(number, count=8, shortest=longest - 6, longest=longest)
        trainer.submit(toys.job(tmp_path, f"job-{number}", number, rows, batch=batch))
    trainer.run()
    model, samples = trainer.meter.model, trainer.meter.samples
    assert len(samples) >= LEAST
    for each in samples:
        assert model.bytes(each.rows, each.length) >= 0.98 * each.bytes
        assert model.bytes(each.rows, each.length) <= 1.25 * each.bytes


@pytest.mark.parametrize("method", ["lora", "lora+", "rslora", "vera", "dora"])
def test_an_adapter_that_has_learned_nothing_changes_nothing(method: str) -> None:
    """A public code's DoRA loses the base's part: it is 0 before the first step."""
    host = toys.base()
    adapter = Adapter(method, rank=4, targets=toys.ALL)  # type: ignore[arg-type]
    weights = Weights(adapter, host.targets(adapter.targets), seed=1)
    tokens = torch.arange(12).view(2, 6)
    valid = torch.ones_like(tokens, dtype=torch.bool)
    assert torch.equal(host.logits(tokens, valid, [Part(0, 2, weights)]), host.logits(tokens, valid))


def test_rates_of_lora_plus_and_seeds(tmp_path: Path) -> None:
    trainer = Trainer(toys.base())
    trainer.submit(toys.job(tmp_path, "plus", 1, adapter=Adapter("lora+", ratio=4.0), optimizer=Optimizer(lr=0.01)))
    again = msgspec.structs.replace(trainer.jobs["plus"], name="again")
    other = msgspec.structs.replace(again, name="other", seed=2)
    trainer.submit(again)
    trainer.submit(other)
    trainer.turn()
    groups = trainer.tunings["plus"].optimizer.param_groups
    assert [(group["lr"], len(group["params"])) for group in groups] == [(0.01, 8), (0.04, 8)]
    first = {name: next(iter(each.weights.trained.values())) for name, each in trainer.tunings.items()}
    assert torch.allclose(first["plus"], first["again"], atol=1e-12)
    assert not torch.allclose(first["plus"], first["other"], atol=1e-3)
