"""GPU-seconds of a step of many LoRA trainings under LobRA's published plans and ours, simulated: nothing is timed.

Replicas, dispatch and buckets are planned with the six constants that are fitted to the roofline, and what they take is
then told by the roofline itself, so that an error of the fit counts against the plan.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from engine import Verdict

from couler_py.steps.lora.planning.buckets import Buckets, length_buckets
from couler_py.steps.lora.planning.costs import Config, Costs
from couler_py.steps.lora.planning.deploying import deploy
from couler_py.steps.lora.planning.dispatching import Dispatch, balanced, by_length
from couler_py.steps.lora.planning.packing import packed, shared_out
from couler_py.steps.lora.planning.roofline import layer_time, roofline
from lora.fixtures import BATCH, FIXTURES, LONGEST, Fixture, lengths, plan

FIXED = Buckets(tuple(256 << number for number in range(7)), 0)
MOST = 16
"""Buckets of a step, where they are its own."""
STEPS, PLANNED = 5, 100
"""Steps that are simulated, and batches whose lengths are planned for."""
NODES, NEAR = 10, 0.005
LESS, MEASURED = 0.45, "45 to 61 %"
"""What is promised, and what LobRA's authors measured."""
LADDER = (
    "each task alone, its best kind, 7 buckets",
    "homogeneous, equal shares, 7 buckets",
    "homogeneous, balanced, 16 buckets of the step",
    "published replicas, by length, 7 buckets",
    "published replicas, balanced, 7 buckets",
    "published replicas, balanced, 16 buckets of the step",
    "our replicas, balanced, 16 buckets of the step",
    "homogeneous, rows packed",
    "published replicas, rows packed",
    "our replicas, rows packed",
)
FUSED = LADDER[1]
"""What is compared with, all tasks under the homogeneous plan: LobRA's Task-Fused. The first is its Task-Sequential."""

Dealer = Callable[[Sequence[Config], Mapping[int, int], Costs], Dispatch]


def measure(less: int) -> dict[str, Any]:
    """Each fixture's ladder, over so many times fewer steps."""
    return {fixture.name: _ladder(fixture, max(1, STEPS // less)) for fixture in FIXTURES}


def _ladder(fixture: Fixture, steps: int) -> dict[str, Any]:
    costs, error = roofline(fixture.model, fixture.device, sorted({config.tensor for config in fixture.configs}))
    many = lengths(fixture.tasks, 0, PLANNED)
    bounds = length_buckets(many, MOST)
    expected = {
        length: max(round(count / PLANNED), int(length == LONGEST)) for length, count in _counted(many, bounds).items()
    }
    found = deploy(fixture.configs, fixture.ranks, expected, costs, nodes=NODES, gap=NEAR)
    same, theirs = plan(fixture.homogeneous), plan(fixture.heterogeneous)
    seconds: dict[str, list[float]] = {name: [] for name in LADDER}
    shares = []
    alone = _sequential(fixture, steps, costs)
    for seed in range(1, steps + 1):
        own = lengths(fixture.tasks, seed)
        fixed, fitting = _counted(own, FIXED), _counted(own, length_buckets(own, MOST))
        shares.append(sum(length for length in own if length > 2048) / sum(own))
        ways: tuple[tuple[Sequence[Config], Mapping[int, int], Dealer], ...] = (
            (same, fixed, by_length),
            (same, fitting, _balanced),
            (theirs, fixed, by_length),
            (theirs, fixed, _balanced),
            (theirs, fitting, _balanced),
            (found.replicas, fitting, _balanced),
        )
        seconds[LADDER[0]].append(alone[seed])
        for name, (replicas, rows, dealer) in zip(LADDER[1:], ways, strict=False):
            step = max(
                _simulated(fixture, config, counts)
                for config, counts in zip(replicas, dealer(replicas, rows, costs).counts, strict=True)
            )
            seconds[name].append(step * sum(config.ranks for config in replicas))
        for name, replicas in zip(LADDER[-3:], (same, theirs, found.replicas), strict=True):
            rows = [-(-length // 16) * 16 for length in own]
            works = (packed(*each, costs) for each in zip(replicas, shared_out(replicas, rows, costs), strict=True))
            step = max(_time(fixture, *each) for each in zip(replicas, works, strict=True))
            seconds[name].append(step * sum(config.ranks for config in replicas))
    means = {name: statistics.mean(each) for name, each in seconds.items()}
    print(f"\nMany LoRA trainings: {fixture.name}, {fixture.tasks} tasks, GPU-seconds of a step, simulated")
    long = statistics.mean(shares)
    print(f"  rows above 2,048 tokens have {long:.0%} of all tokens; the fit is at most {error:.0%} off")
    for name, mean in means.items():
        print(f"  {name:<56}{mean:>9,.0f}{1 - mean / means[FUSED]:>9.1%}", flush=True)
    print(f"  our replicas: {found}")
    print(
        f"  LobRA's authors measured {MEASURED} less. Bounds let the collectives of wide replicas run as fast as their "
        f"links, and {long:.0%} of the tokens need wide ones in any plan."
    )
    return {"gpu_seconds": means, "replicas": str(found), "fit": error, "long": long}


def _balanced(replicas: Sequence[Config], rows: Mapping[int, int], costs: Costs) -> Dispatch:
    return balanced(replicas, rows, costs, nodes=NODES, gap=NEAR)


def _counted(own: Sequence[int], bounds: Buckets) -> Counter[int]:
    return Counter(map(bounds.of, own))


def _sequential(fixture: Fixture, steps: int, costs: Costs) -> dict[int, float]:
    """GPU-seconds of a step of every task one after another, each under the one kind of replica that suits it best."""
    kinds = [(config,) * (fixture.ranks // config.ranks) for config in fixture.configs]
    total = dict.fromkeys(range(1, steps + 1), 0.0)
    for task in range(fixture.tasks):
        own = {seed: lengths(fixture.tasks, seed)[task * BATCH : (task + 1) * BATCH] for seed in total}
        longest = max(map(max, own.values()))
        taken = [
            {seed: len(plan) * plan[0].ranks * _equal(fixture, plan, rows, costs) for seed, rows in own.items()}
            for plan in kinds
            if plan[0].tokens >= FIXED.of(longest)
        ]
        for seed, seconds in min(taken, key=lambda each: sum(each.values())).items():
            total[seed] += seconds
    return total


def _equal(fixture: Fixture, replicas: Sequence[Config], own: Sequence[int], costs: Costs) -> float:
    counts = by_length(replicas, _counted(own, FIXED), costs).counts
    return max(_simulated(fixture, config, each) for config, each in zip(replicas, counts, strict=True))


def _simulated(fixture: Fixture, config: Config, counts: Mapping[int, int]) -> float:
    """Seconds of a replica's step with so many rows of each length: full micro-batches, and one of what is left."""
    micros = []
    for length, count in counts.items():
        full, left = divmod(count, config.rows(length))
        micros += [(config.rows(length), length)] * full + ([(left, length)] if left else [])
    return _time(fixture, config, micros)


def _time(fixture: Fixture, config: Config, micros: Sequence[tuple[int, int]]) -> float:
    """Seconds of micro-batches, rows and length of each, and of the longest once more for each stage but one."""
    share = fixture.model.layers / config.stages
    times = [_layer(fixture, config.tensor, rows, length) * share for rows, length in micros]
    return sum(times) + (config.stages - 1) * max(times, default=0.0)


@cache
def _layer(fixture: Fixture, tensor: int, rows: int, length: int) -> float:
    return layer_time(fixture.model, fixture.device, tensor, rows, length)


def verdicts(found: dict[str, Any] | None) -> list[Verdict]:
    """What LobRA's authors measured, and what is simulated here."""
    if found is None:
        return []
    saved = {name: 1 - each["gpu_seconds"][LADDER[-1]] / each["gpu_seconds"][FUSED] for name, each in found.items()}
    told = ", ".join(f"{share:.1%} ({name})" for name, share in saved.items())
    return [
        (f"many LoRA trainings take {LESS:.0%} less than under one plan for all", told, min(saved.values()) >= LESS)
    ]
