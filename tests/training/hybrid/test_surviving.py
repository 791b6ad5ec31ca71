"""Ranks that end while others train: nobody who is left starts anew, and what is learned is what one process learns."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import torch

from couler_py.steps.corpus import tokens
from couler_py.steps.corpus.tokenizers import ByteTokenizer
from couler_py.steps.hybrid.supervisor import supervise
from couler_py.steps.hybrid.task import Emulated, Task
from couler_py.steps.hybrid.telling import Changed, Told
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import build, next_token_loss
from couler_py.steps.models.folders import load

pytestmark = pytest.mark.timeout(600)  # a process imports torch, beside whatever else runs

MODEL = DecoderConfig(vocabulary=257, layers=4, hidden=16, heads=2, kv_heads=1, feed_forward=32, context=16)
STEPS, NEVER = 14, 99
FATE = ((0, 3, 6), (2, 9, NEVER), (3, 9, NEVER))
"""Rank 0 is lost and comes back; then both who then do the first layers are lost, after a step without a checkpoint."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    tokens.write(["the quick brown fox jumps over the lazy dog. " * 60], ByteTokenizer(), folder)
    return folder


@pytest.fixture(scope="module")
def out(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a training of four ranks left, of which one is lost and comes back, and then two are lost."""
    folder = tmp_path_factory.mktemp("trained")
    task = Task(
        MODEL,
        pipelines=2,
        micros=4,
        sequence=16,
        steps=STEPS,
        planning=False,
        held_out=8,
        save_every=4,
        elastic=True,
        emulated=Emulated(0.0, 0.0, lost=FATE),
    )
    places = ("--data", str(corpus), "--out", str(folder), "--checkpoints", str(folder / "checkpoints"))
    supervise(4, msgspec.json.encode(task).decode(), *places)
    return folder


@pytest.fixture(scope="module")
def told(out: Path) -> Told:
    return msgspec.json.decode((out / "metrics.json").read_bytes(), type=Told)


def ranks(change: Changed) -> set[int]:
    return {rank for each in change.plan.pipelines for stage in each.stages for rank in stage.ranks}


def test_each_loss_or_return_leads_to_a_plan_for_those_that_are_there(told: Told) -> None:
    assert [(each.step, ranks(each)) for each in told.plans] == [
        (0, {0, 1, 2, 3}),
        (3, {1, 2, 3}),
        (6, {0, 1, 2, 3}),
        (8, {0, 1}),
    ]
    assert [each.why.partition(";")[0] for each in told.plans[1:3]] == ["rank 0 is lost", "rank 0 is back"]
    assert told.plans[3].why.startswith("rank 2 is lost; rank 3 is lost; all go back to step 8")


def test_what_somebody_has_isnt_read_and_what_nobody_has_is(told: Told) -> None:
    """Both pipelines have all layers and their moments, so that a lost rank's are in another's memory."""
    lost, back, both = told.plans[1:]
    assert (lost.read, back.read) == (0, 0)
    assert lost.moved > 0
    assert back.moved > 0
    assert both.read > 0


def test_losses_and_weights_are_those_of_one_process_that_nothing_happens_to(
    told: Told, out: Path, corpus: Path
) -> None:
    rows = tokens.Rows(corpus, 16)
    count = len(rows) - 8
    model = build(MODEL, seed=0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.0)
    assert [each.step for each in told.steps] == list(range(1, STEPS + 1))
    for step in told.steps:
        taken = torch.from_numpy(rows.take([(4 * (step.step - 1) + number) % count for number in range(4)]))
        loss = next_token_loss(model(taken[:, :-1]), taken[:, 1:])
        assert abs(float(loss.detach()) - step.loss) <= 1e-4, step
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    for (name, mine), theirs in zip(model.named_parameters(), load(out / "model").parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-4, msg=name)


def test_a_page_and_a_trace_show_it(out: Path) -> None:
    page = (out / "report.html").read_text()
    assert "rank 0 is back" in page
    assert "Computation is emulated" in page
    assert "forward" in (out / "trace.json").read_text()


@pytest.mark.soak
def test_a_training_that_loses_what_no_checkpoint_has_fails_and_says_so(corpus: Path, tmp_path: Path) -> None:
    task = Task(
        MODEL, pipelines=1, micros=4, sequence=16, steps=4, elastic=True, emulated=Emulated(0, 0, lost=((1, 2, NEVER),))
    )
    with pytest.raises(RuntimeError, match="what its ranks said stands above"):
        supervise(2, msgspec.json.encode(task).decode(), "--data", str(corpus), "--out", str(tmp_path))
