"""Whether a plan is still the right one: looks at what ranks computed, and plans anew where that is worth it. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Mapping, Sequence

import msgspec

from couler_py.steps.hybrid.elastic import plan_elastic
from couler_py.steps.hybrid.plan import Hardware, MemoryModel, Plan, certify
from couler_py.steps.hybrid.rates import Rates, Timing, moved, pays, profile_devices
from couler_py.steps.hybrid.splitting import InfeasibleError
from couler_py.steps.hybrid.straggler import plan_straggler

PROFILED = 4
"""Steps from which the time of a healthy rank is taken; the first is left out, as it warms up."""
WINDOW = 2
"""Steps whose mean is looked at (Hetu)."""


class Healthy(msgspec.Struct, frozen=True):
    """What a rank takes that is not slow, in seconds."""

    layer: float
    """A layer of a micro-batch."""
    probe: float | None = None
    """The small computation by which ranks are timed that have nothing to do; None where nobody did it."""


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

    What a healthy rank takes is the median of all ranks in the first steps, so that one that is slow from the start is
    found too. A rate that moved by less than 0.3 since the plan was made is no news (`rates.GAP`), so that one to and
    fro doesn't make plans change to and fro. Rates for which a change was refused are kept as long as the plan is: for
    these, and whatever is no news beside them, nobody plans again.
    """

    def __init__(
        self, hardware: Hardware, plan: Plan, memory: MemoryModel | None = None, healthy: Healthy | None = None
    ):
        self.plan = plan
        self._hardware, self._memory = hardware, memory
        self._planned: tuple[float, ...] = hardware.rates
        """Those that the plan was made for."""
        self._seen: tuple[float, ...] = hardware.rates
        """Those that were last told."""
        self._refused: list[tuple[float, ...]] = []
        self._window: list[tuple[dict[int, Timing], dict[int, float]]] = []
        self._healthy = healthy

    @property
    def healthy(self) -> Healthy | None:
        """What a healthy rank takes; None before there are enough steps."""
        return self._healthy

    @property
    def rates(self) -> tuple[float, ...]:
        """The rates that were last told."""
        return self._seen

    @property
    def probing(self) -> frozenset[int]:
        """Ranks whose small computation is to be timed in the next step: all of the first, then who has no work."""
        asked = range(len(self._seen)) if self._healthy is None else self.plan.suspended
        return frozenset(rank for rank in asked if math.isfinite(self._seen[rank]))

    def regroup(self, present: Collection[int], pipelines: int) -> News:
        """The plan of the ranks that are there now, and who was lost or has come; it is then the plan that is watched.

        Who comes counts as healthy. There are so many pipelines, if there can be. Raises `InfeasibleError` where the
        ranks that are left don't hold the model.
        """
        lost = [rank for rank in range(len(self._seen)) if rank not in present]
        living = tuple(1.0 if math.isinf(rate) else rate for rate in self._seen)
        hardware = msgspec.structs.replace(self._hardware, rates=living)
        layers = self.plan.layers
        self.plan = plan_elastic(hardware, self.plan, lost, [1] * layers, memory=self._memory, pipelines=pipelines).plan
        self._seen = tuple(math.inf if rank in lost else rate for rank, rate in enumerate(living))
        self._taken_up()
        slow = sorted((-rate, rank) for rank, rate in enumerate(self._seen) if rate > 1.0)
        layer = self._healthy.layer if self._healthy is not None else 0.0
        step = certify(self.plan, msgspec.structs.replace(hardware, rates=self._seen)).step * layer
        return News(Rates(self._seen, True, tuple((rank, -rate) for rate, rank in slow)), self.plan, 0.0, step)

    def see(
        self, timings: Mapping[int, Timing], left: int, moving: float = 0.0, probes: Mapping[int, float] | None = None
    ) -> News | None:
        """What the timings of another step tell, with so many steps left; None where nothing is new.

        `moving` are the seconds that a change of plans takes, `probes` those of the small computation of each rank in
        `probing`. The plan of an answer is then the plan that is watched.
        """
        self._window.append((dict(timings), dict(probes or {})))
        if self._healthy is None:
            if len(self._window) < PROFILED:
                return None
            self._healthy = _healthy(self._window[1:])
        if len(self._window) < WINDOW:
            return None
        self._window = self._window[-WINDOW:]
        healthy, count = self._healthy, len(self._hardware.rates)
        steps = [_with_probes(*step, healthy) for step in self._window]
        idle = self.plan.suspended
        rates = profile_devices(steps, [healthy.layer] * count, self._seen, suspended=idle)
        asks = all(moved(each, rates.rates, idle) for each in (self._planned, *self._refused))
        if not asks and not rates.changed:
            return None
        self._seen = rates.rates
        return self._planned_anew(rates, left, moving, healthy) if asks else News(rates, None, 0.0)

    def _planned_anew(self, rates: Rates, left: int, moving: float, healthy: Healthy) -> News:
        hardware = msgspec.structs.replace(self._hardware, rates=rates.rates)
        before = certify(self.plan, hardware).step * healthy.layer
        self._refused.append(rates.rates)
        try:
            found = plan_straggler(
                hardware, self.plan.layers, self.plan.micros, len(self.plan.pipelines), memory=self._memory
            )
        except InfeasibleError:
            return News(rates, None, 0.0)
        after = certify(found, hardware).step * healthy.layer
        gain = before - after
        if found.pipelines == self.plan.pipelines or not pays(gain, 0.0, left, moving):
            return News(rates, None, max(0.0, gain))
        self.plan = found
        self._taken_up()
        return News(rates, found, gain, after)

    def _taken_up(self) -> None:
        """The plan is made for what was last told; what was computed under the one before says nothing of it."""
        self._planned, self._refused, self._window = self._seen, [], []


def _healthy(steps: Sequence[tuple[Mapping[int, Timing], Mapping[int, float]]]) -> Healthy:
    units = [timing.unit for timings, _ in steps for timing in timings.values()]
    probes = [seconds for _, each in steps for seconds in each.values()]
    return Healthy(statistics.median(units), statistics.median(probes) if probes else None)


def _with_probes(timings: Mapping[int, Timing], probes: Mapping[int, float], healthy: Healthy) -> dict[int, Timing]:
    """Timings of a step, and of ranks that had no work as if they had done a layer as many times slower."""
    if healthy.probe is None:
        return dict(timings)
    idle = {rank: Timing(seconds / healthy.probe * healthy.layer, 1, 1) for rank, seconds in probes.items()}
    return idle | dict(timings)
