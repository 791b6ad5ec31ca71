"""Whether a plan is still the right one: looks at what ranks computed, and plans anew where that is worth it. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Mapping

import msgspec

from couler_py.steps.hybrid.elastic import plan_elastic
from couler_py.steps.hybrid.plan import Hardware, MemoryModel, Plan, certify
from couler_py.steps.hybrid.rates import Rates, Timing, pays, profile_devices
from couler_py.steps.hybrid.splitting import InfeasibleError
from couler_py.steps.hybrid.straggler import plan_straggler

PROFILED = 4
"""Steps from which the time of a healthy rank is taken; the first is left out, as it warms up."""
WINDOW = 2
"""Steps whose mean is looked at (Hetu)."""


class News(msgspec.Struct, frozen=True):
    """Ranks that became slower or faster, and what follows."""

    rates: Rates
    plan: Plan | None
    """The plan to change to; None where it isn't worth it."""
    gain: float
    """Seconds that the plan found saves in a step, by formula."""
    step: float = 0.0
    """Seconds that a step takes under it, by formula."""

    def __str__(self) -> str:
        slow = ", ".join(
            f"rank {rank} takes {rate:.2f} times as long" if math.isfinite(rate) else f"rank {rank} is gone"
            for rank, rate in self.rates.slow
        )
        then = f"another plan saves {self.gain:.3g} s a step" if self.plan else "no other plan is worth the change"
        return f"{slow or 'no rank is slow'}: {then}"


class Watch:
    """Takes the timings of each step, and says when to change plans.

    The time of a layer on a healthy rank is the median of all ranks in the first steps, so that one that is slow from
    the start is found too. A rate that moved by less than 0.3 is no news (`rates.GAP`), so that one to and fro doesn't
    make plans change to and fro.
    """

    def __init__(self, hardware: Hardware, plan: Plan, memory: MemoryModel | None = None, unit: float | None = None):
        self.plan = plan
        self._hardware, self._memory = hardware, memory
        self._planned: tuple[float, ...] = hardware.rates
        self._window: list[dict[int, Timing]] = []
        self._unit = unit

    @property
    def unit(self) -> float | None:
        """Seconds of a layer of a micro-batch on a healthy rank; None before there are enough steps."""
        return self._unit

    @property
    def rates(self) -> tuple[float, ...]:
        """The rates that were last looked at for a plan."""
        return self._planned

    def regroup(self, present: Collection[int], pipelines: int) -> News:
        """The plan of the ranks that are there now, and who was lost or has come; it is then the plan that is watched.

        Who comes counts as healthy. There are so many pipelines, if there can be. Raises `InfeasibleError` where the
        ranks that are left don't hold the model.
        """
        lost = [rank for rank in range(len(self._planned)) if rank not in present]
        living = tuple(1.0 if math.isinf(rate) else rate for rate in self._planned)
        hardware = msgspec.structs.replace(self._hardware, rates=living)
        layers = self.plan.layers
        self.plan = plan_elastic(hardware, self.plan, lost, [1] * layers, memory=self._memory, pipelines=pipelines).plan
        self._planned = tuple(math.inf if rank in lost else rate for rank, rate in enumerate(living))
        self._window = []
        slow = sorted((-rate, rank) for rank, rate in enumerate(self._planned) if rate > 1.0)
        step = certify(self.plan, msgspec.structs.replace(hardware, rates=self._planned)).step * (self._unit or 0.0)
        return News(Rates(self._planned, True, tuple((rank, -rate) for rate, rank in slow)), self.plan, 0.0, step)

    def see(
        self, timings: Mapping[int, Timing], left: int, moving: float = 0.0, idle: Mapping[int, float] | None = None
    ) -> News | None:
        """What the timings of another step tell, with so many steps left; None where nothing is new.

        `moving` are the seconds that a change of plans takes, `idle` the rates of ranks that have nothing to do, as a
        small computation of theirs says. The plan of an answer is then the plan that is watched.
        """
        self._window.append(dict(timings))
        if self._unit is None:
            if len(self._window) < PROFILED:
                return None
            units = [timing.unit for step in self._window[1:] for timing in step.values()]
            self._unit = statistics.median(units)
        if len(self._window) < WINDOW:
            return None
        self._window = self._window[-WINDOW:]
        for rank, rate in (idle or {}).items():
            for step in self._window:
                step.setdefault(rank, Timing(rate * self._unit, 1, 1))
        count = len(self._hardware.rates)
        rates = profile_devices(self._window, [self._unit] * count, self._planned, suspended=self.plan.suspended)
        if not rates.changed:
            return None
        self._planned = rates.rates
        return self._planned_anew(rates, left, moving)

    def _planned_anew(self, rates: Rates, left: int, moving: float) -> News:
        assert self._unit is not None
        hardware = msgspec.structs.replace(self._hardware, rates=rates.rates)
        before = certify(self.plan, hardware).step * self._unit
        try:
            found = plan_straggler(
                hardware, self.plan.layers, self.plan.micros, len(self.plan.pipelines), memory=self._memory
            )
        except InfeasibleError:
            return News(rates, None, 0.0)
        after = certify(found, hardware).step * self._unit
        gain = before - after
        if found.pipelines == self.plan.pipelines or not pays(gain, 0.0, left, moving):
            return News(rates, None, max(0.0, gain))
        self.plan = found
        self._window = []  # what was computed under the plan before says nothing of this one
        return News(rates, found, gain, after)
