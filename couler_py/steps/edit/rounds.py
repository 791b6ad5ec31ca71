"""A round on one rank: units agree one after the other, each while the one before computes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import msgspec
import torch
from torch.distributed.fsdp import FSDPModule

from couler_py.steps.edit.tracing import OUTSIDE, ROUND, Tracer

if TYPE_CHECKING:
    from couler_py.steps.edit.channel import Channel
    from couler_py.steps.edit.outer import Anchored, Moved
    from couler_py.steps.edit.planning import Plan
    from couler_py.steps.edit.units import Unit


class Round(msgspec.Struct, frozen=True):
    """What a round did, for who watches. Lists of replicas are in their order; units are by name."""

    number: int
    """Rounds are counted from 0."""
    step: int
    """Optimizer steps of this replica so far."""
    steps: tuple[int, ...]
    """Local steps of each replica since the round before."""
    norms: dict[str, tuple[float, ...]]
    """Norms of the replicas' pseudo-gradients."""
    rejected: dict[str, tuple[bool, ...]]
    weights: dict[str, tuple[float, ...] | None]
    """How much each replica counted; None where the unit went back to its anchor."""
    moved: dict[str, Moved]
    between: int
    """Bytes that this rank sent between replicas since the round before, warm-up's gradients included."""
    within: int
    """Bytes of our own that this rank sent within its replica; fully_shard's are not counted."""
    waited: float
    """Seconds in which this rank waited for other replicas."""


class Progress:
    """A round that has begun. The order of units, and so of collectives, is that of their definition on every rank."""

    def __init__(
        self,
        units: Sequence[Anchored],
        plan: Plan,
        between: Channel,
        within: Channel,
        device: torch.device,
        tracer: Tracer,
    ):
        self.plan, self.moved = plan, dict[str, "Moved"]()
        self._tracer = tracer
        self._units, self._between, self._within = units, between, within
        self._sent = self._agreed = 0
        # On a GPU all of it runs beside the computation, behind what the optimizer has written.
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        if self._stream is not None:
            self._stream.wait_stream(torch.cuda.current_stream(device))

    def reach(self, number: int, *, gather: bool = False) -> None:
        """See to it that units up to a number have agreed, and that the next one is on its way.

        `gather` has fully_shard begin to gather the unit in our stream: its own streams wait only for what was written
        before the forward began.
        """
        with self._beside():
            while self._agreed <= number:
                self._send_until(self._agreed + 1)
                unit = self._units[self._agreed]
                with self._tracer.span(ROUND, f"agree: {unit.unit.name or OUTSIDE}"):
                    self.moved[unit.unit.name] = unit.agree(self._within)
                module = unit.unit.module
                if gather and self._stream is not None and unit.unit.name and isinstance(module, FSDPModule):
                    module.unshard(async_op=True)
                self._agreed += 1
        if self._stream is not None:
            torch.cuda.current_stream(self._stream.device).wait_stream(self._stream)
        with self._beside():
            self._send_until(min(number + 2, len(self._units)))

    def finish(self) -> None:
        """Have the units agree that are left, and wait until all is written."""
        self.reach(len(self._units) - 1)
        if self._stream is not None:
            self._stream.synchronize()  # gathers of the backward wait for no stream of ours

    def _send_until(self, number: int) -> None:
        while self._sent < number:
            unit = self._units[self._sent]
            with self._tracer.span(ROUND, f"send: {unit.unit.name or OUTSIDE}"):
                unit.send(self.plan.weights[self._sent], self._between)
            self._sent += 1

    def _beside(self) -> AbstractContextManager[object]:
        return nullcontext() if self._stream is None else torch.cuda.stream(self._stream)


def told_of(
    progress: Progress, units: Sequence[Unit], number: int, step: int, between: int, within: int, waited: float
) -> Round:
    """What a round that has ended did."""
    plan, names = progress.plan, [unit.name for unit in units]
    return Round(
        number=number,
        step=step,
        steps=tuple(one.steps for one in plan.told),
        norms={name: tuple(one.norms[n] for one in plan.told) for n, name in enumerate(names)},
        rejected={name: tuple(one.rejected[n] for one in plan.told) for n, name in enumerate(names)},
        weights=dict(zip(names, plan.weights, strict=True)),
        moved=progress.moved,
        between=between,
        within=within,
        waited=waited,
    )
