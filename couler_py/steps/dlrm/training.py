"""A training loop: batches, checkpoints that another number of ranks goes on from, and looks at rows for testing."""

from __future__ import annotations

import contextlib
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

import msgspec
import torch

from couler_py.steps.checkpoint.flash import Flash
from couler_py.steps.checkpoint.peers import peers
from couler_py.steps.checkpoint.saving import Loaded, any_saved, load, save
from couler_py.steps.dlrm.guarding import Guard, Short, ended
from couler_py.steps.dlrm.judging import Judged, judge
from couler_py.steps.dlrm.planning.decisions import Decision

if TYPE_CHECKING:
    from couler_py.steps.dlrm.feeding import Feed, Source
    from couler_py.steps.dlrm.trainer import Trainer

Where = str | os.PathLike[str]
FEED = "feed/"


class Seen(msgspec.Struct, frozen=True):
    """How good the model was on rows for testing, after some steps."""

    step: int
    judged: Judged


class Told(msgspec.Struct, frozen=True):
    """What a training was like; losses, seconds and rows are those since it last began."""

    losses: tuple[float, ...]
    """The mean of each step, over all ranks."""
    seen: tuple[Seen, ...]
    steps: int
    """From the beginning of all."""
    rows: int
    """From the beginning of all: those whose gradients are in the model."""
    rows_here: int
    seconds: float
    """In steps alone."""
    step_seconds: float
    """The median of a step: the first ones, which also allocate, don't count more than others."""
    begun_at: int
    """The step that it went on from; 0 where it began."""
    ranks: int
    moved: tuple[int, ...] = ()
    """Steps after which parts of tables moved."""
    lives: tuple[tuple[int, int], ...] = ()
    """Where training was begun or gone on with, by step, and by how many ranks: those lives that the model is of."""
    decisions: tuple[Decision, ...] = ()
    """What was decided about memory, before the checkpoints that it went on from."""

    @property
    def rows_per_second(self) -> float:
        """Rows of all ranks together."""
        return self.rows_here / self.seconds if self.seconds else 0.0


def train(
    trainer: Trainer,
    feed: Feed,
    testing: Source | None = None,
    *,
    checkpoints: Where | None = None,
    guard: Guard | None = None,
    after: Callable[[int], None] = lambda _step: None,
) -> Told:
    """Train until the feed ends, from the newest checkpoint where there is one; all ranks call it.

    The feed's place is part of the checkpoint, so a step that is lost is made again from the same rows, and no row
    counts twice. `after` is called after each step, for experiments. Raises `NeedsMemoryError`, having saved, where
    `guard` says that memory will run out, `CheckpointError` for checkpoints that are another model's, and `ValueError`
    where it isn't said where to save.
    """
    task = trainer.task
    if task.save_every is not None and checkpoints is None:
        raise ValueError(f"checkpoints are to be saved every {task.save_every} steps, and it isn't said where")
    losses: list[float] = []
    seen: list[Seen] = []
    moved: list[int] = []
    step = rows = rows_here = 0
    short: Short | None = None
    taken_each: list[float] = []
    lives: list[tuple[int, int]] = []
    decided: list[Decision] = []
    with _keeping(trainer, checkpoints) as keep:
        if checkpoints is not None and any_saved(checkpoints, trainer.ranks.group):
            tensors, _ = trainer.state()
            loaded = keep.restore(tensors)
            step, rows = loaded.step, loaded.facts["rows"]
            lives = [(at, ranks) for at, ranks in loaded.facts.get("lives", ())]
            decided = msgspec.convert(loaded.facts.get("decided", []), list[Decision])
            trainer.take(tensors, loaded.facts)
            feed.restore(
                {name.removeprefix(FEED): each for name, each in loaded.facts.items() if name.startswith(FEED)}
            )
        begun_at = step
        lives.append((step, trainer.ranks.world))
        while True:
            begun, waited = time.monotonic(), trainer.ranks.waited
            count, loss = trainer.step(feed.next(trainer.ranks.rank, trainer.ranks.world))
            if not count:
                break
            taken = time.monotonic() - begun
            taken_each.append(taken)
            feed.computed(taken - (trainer.ranks.waited - waited))
            step, rows, rows_here = step + 1, rows + count, rows_here + count
            losses.append(loss)
            if _due(task.rebalance_every, step) and trainer.rebalance():
                moved.append(step)
            if testing is not None and _due(task.evaluate_every, step):
                seen.append(Seen(step, evaluate(trainer, testing)))
            short = guard.look(step, rows) if guard is not None else None
            decided += guard.decisions if guard is not None and short is not None else []
            if keep is not None and (short is not None or _due(task.save_every, step)):
                tensors, facts = trainer.state()
                place_in_data = {FEED + name: each for name, each in feed.facts().items()}
                own = {"rows": rows, "lives": lives, "decided": msgspec.to_builtins(decided)}
                if short is not None:  # a copy in memory would take what there is not
                    keep.wait()
                    keep = _Plainly(cast(Where, checkpoints), trainer.ranks.group)
                keep.save(step, tensors, {**facts, **place_in_data, **own})
            after(step)
            if short is not None:
                break
    if short is not None:
        raise ended(short, step if keep is not None else None, decided)
    if testing is not None and (not seen or seen[-1].step != step):
        seen.append(Seen(step, evaluate(trainer, testing)))
    return Told(
        losses=tuple(losses),
        seen=tuple(seen),
        steps=step,
        rows=rows,
        rows_here=rows_here,
        seconds=sum(taken_each),
        step_seconds=statistics.median(taken_each or [0.0]),
        begun_at=begun_at,
        ranks=trainer.ranks.world,
        moved=tuple(moved),
        lives=tuple(lives),
        decisions=tuple(decided),
    )


def evaluate(trainer: Trainer, source: Source, most: int = 4096) -> Judged:
    """How good the model is on some rows, of which ranks take turns at up to `most`; all ranks call it."""
    ranks = trainer.ranks
    begins = range(0, len(source), most)
    mine = begins[ranks.rank :: ranks.world]
    found = []
    for number in range(-(-len(begins) // ranks.world)):
        begin = mine[number] if number < len(mine) else None
        batch = None if begin is None else source.take(begin, min(begin + most, len(source)))
        found.append([each.cpu() for each in trainer.scores(batch)])
    labels, logits = (torch.cat(each).double().numpy() for each in zip(*found, strict=True))
    told = peers(ranks.group).gather((labels, logits))
    return judge(*(torch.cat([torch.from_numpy(each[n]) for each in told]).numpy() for n in range(2)))


class _Plainly:
    """Checkpoints that training waits for."""

    def __init__(self, where: Where, group: Any):
        self._where, self._group = where, group

    def save(self, step: int, tensors: Any, facts: Any) -> object:
        return save(self._where, step, tensors, facts, group=self._group)

    def restore(self, tensors: Any) -> Loaded:
        return load(self._where, tensors, group=self._group)

    def wait(self) -> None:
        """All is on disk already."""


@contextlib.contextmanager
def _keeping(trainer: Trainer, where: Where | None) -> Iterator[Any]:
    """What saves and restores."""
    if where is None:
        yield None
    elif trainer.task.flash:
        with Flash(where, group=trainer.ranks.group) as flash:
            yield flash
    else:
        yield _Plainly(where, trainer.ranks.group)


def _due(every: int | None, step: int) -> bool:
    return every is not None and step % every == 0
