"""Some steps under one plan, as one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from couler_py.steps.hybrid.plan import Plan
from couler_py.steps.hybrid.rates import Timing
from couler_py.steps.hybrid.runtime.batches import Batch
from couler_py.steps.hybrid.runtime.done import Done
from couler_py.steps.hybrid.runtime.trainer import Trainer
from couler_py.steps.models.config import DecoderConfig

if TYPE_CHECKING:
    from torch import Tensor


def run_hetero_pipeline(
    plan: Plan,
    config: DecoderConfig,
    data: Callable[[int, int], Batch | Tensor],
    steps: int,
    samples: int,
    **options: Any,
) -> tuple[list[Done], list[dict[int, Timing]]]:
    """Train some steps of so many samples under one plan: what each step came to, and what ranks computed in it.

    `data(first, end)` gives samples of the global order. Options are those of `Trainer`.
    """
    trainer = Trainer(plan, config, **options)
    done, timings = [], []
    for _ in range(steps):
        done.append(trainer.step(data(trainer.consumed, trainer.consumed + samples)))
        timings.append(trainer.timings())
    return done, timings
