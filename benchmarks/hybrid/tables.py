"""Planners for uneven hardware and uneven data, simulated beside what was published or derived; and their own time."""

from __future__ import annotations

import math
import random
import statistics
import time
from typing import Any

from couler_py.steps.hybrid.dispatching import dispatch_and_pack
from couler_py.steps.hybrid.elastic import plan_elastic, without
from couler_py.steps.hybrid.filling import fill
from couler_py.steps.hybrid.plan import Hardware, MemoryModel, simulated
from couler_py.steps.hybrid.proposing import propose_strategies
from couler_py.steps.hybrid.schemes import POOL32, Strategy, homogeneous
from couler_py.steps.hybrid.slices import Shape, bounded, explicit
from couler_py.steps.hybrid.splitting import share_layers, share_micros
from couler_py.steps.hybrid.straggler import plan_straggler, uniform
from couler_py.steps.hybrid.timeline import play

M32 = MemoryModel((4608.02, 4124.24, 3641.99, 3129.95), 1200, 5500, 81252, 4096)
M70 = MemoryModel((2895, 2685, 2485, 2295, 2110, 1933, 1769, 1647), 600, 4700, 81252, 4096)
M110 = MemoryModel((4240, 3930, 3630, 3338, 3068, 2830, 2597, 2438), 500, 4900, 81252, 4096)
ALPHA110 = {1: 1.0, 2: 1.91, 4: 3.77, 8: 7.35}

SLOW: list[tuple[tuple[float, ...], str]] = [
    *(((rate,), f"{rate:g}") for rate in (1.5, 2, 2.57, 3.8, 5.4, 12.5)),
    ((2, 2), "(2, 2)"),
    ((2.57, 5.4), "(2.57, 5.4)"),
]
SHAPES = {  # pipelines, stages, layers, micro-batches: the speed-ups that the derivation of the formulas gives
    (2, 4, 32, 64): (1.34, 1.67, 2.12, 3.12, 4.3, 10, 1.59, 3.98),
    (4, 4, 60, 64): (1.27, 1.64, 2.04, 3.04, 4.30, 9.63, 1.55, 3.91),
    (2, 4, 32, 32): (1.27, 1.57, 1.98, 2.90, 3.87, 9.1, 1.50, 3.61),
    (2, 2, 16, 16): (1.25, 1.50, 1.88, 2.72, 3.65, 8.3, 1.36, 3.09),
}


def measure(less: int) -> dict[str, Any]:
    """All tables; `less` times fewer steps where steps are drawn."""
    return {
        "golden": _golden(),
        "stragglers": _stragglers(),
        "lost": _lost(),
        "lengths": _lengths(max(4, 40 // less)),
        "slices": _slices(),
        "planning": _planning(),
    }


def _golden() -> dict[str, Any]:
    print("\nLayers and micro-batches of examples in public code (objective: the longest steady part)")
    alike = [[1.0] * 4] * 3
    cases: dict[str, tuple[list[list[float]], list[list[int]], int, MemoryModel | None, float]] = {
        "32 B, two slow pipelines": (
            [[2.34, 2, 1, 1], [3.8, 1, 1, 1], *alike[:2]],
            [[2, 1, 2, 2], *[[2] * 4] * 3],
            60,
            M32,
            285.0,
        ),
        "70 B, two mixed pipelines": (
            [[7.22, 3.66, 3.66, 1.9, 1.9, 1.9, 1, 1], [7.22, 7.22, 3.66, 1, 1, 1]],
            [[1, 2, 2, 4, 4, 4, 8, 8], [1, 1, 2, 8, 8, 8]],
            80,
            M70,
            667.0,
        ),
        "one rank at 2.57 in four": ([[2.57, 1, 1, 1], *alike], [[1] * 4] * 4, 60, None, 255.0),
        "70 B, one of 64 ranks lost": (
            [[7.22, 3.66, 1.9, 1, 1, 1], [1.0] * 4],
            [[1, 2, 4, 8, 8, 8], [8] * 4],
            80,
            M70,
            660.0,
        ),
    }
    found = {}
    for name, (rates, sizes, layers, memory, published) in cases.items():
        slowest, largest = [], max(map(max, sizes))
        for row, size in zip(rates, sizes, strict=True):
            caps = [memory.most(at, len(row), largest / each) for at, each in enumerate(size)] if memory else None
            counts = share_layers(row, layers, caps)
            slowest.append(max(rate * count for rate, count in zip(row, counts, strict=True)))
        micros = share_micros(slowest, 64, [len(row) for row in rates])
        objective = max(slow * count for slow, count in zip(slowest, micros, strict=True))
        found[name] = {"objective": objective, "published": published}
        print(f"  {name:28}{objective:8.1f}   published {published:g}")
    return found


def _stragglers() -> dict[str, Any]:
    print(
        "\nOne or two slow ranks: simulated step of equal shares ÷ planned (in brackets: as derived from the formulas)"
    )
    print(f"  {'pipelines stages layers micros':32}" + "".join(f"{name:>14}" for _, name in SLOW))
    found: dict[str, Any] = {}
    for (pipelines, stages, layers, micros), expected in SHAPES.items():
        row = []
        for slow, _ in SLOW:
            rates = [1.0] * (pipelines * stages)
            for number, rate in enumerate(slow):
                rates[number * stages] = rate
            hardware = Hardware(tuple(rates), node=len(rates), tensor=1)
            same = uniform(hardware, layers, micros, pipelines)
            planned = plan_straggler(hardware, layers, micros, pipelines, current=same)
            row.append(simulated(same, hardware) / simulated(planned, hardware))
        name = f"{pipelines:>9}{stages:>7}{layers:>7}{micros:>7}"
        found[name.strip()] = row
        cells = "".join(f"{f'{got:.2f} ({want:g})':>14}" for got, want in zip(row, expected, strict=True))
        print(f"  {name:32}{cells}")
    return found


def _lost() -> dict[str, Any]:
    print("\nRanks of one machine lost: simulated throughput, 1 while all lived (80 layers, 64 micro-batches)")
    print(f"  {'':20}" + "".join(f"{f'{lost} lost':>10}" for lost in (1, 2, 3, 4)) + f"{'machine dropped':>18}")
    found: dict[str, Any] = {}
    for ranks, tensor in ((32, 4), (32, 8), (64, 8)):
        hardware = Hardware((1.0,) * ranks, tensor=tensor, alpha=ALPHA110)
        old = uniform(hardware, 80, 64, 2)
        healthy = simulated(old, hardware)
        row = []
        for lost in (1, 2, 3, 4):
            left = without(hardware, range(lost))
            row.append(healthy / simulated(plan_elastic(hardware, old, range(lost), [1] * 80).plan, left))
        whole = without(hardware, range(8))
        row.append(healthy / simulated(plan_straggler(whole, 80, 64, 2), whole))
        found[f"{ranks} ranks, groups of {tensor}"] = row
        print(f"  {f'{ranks} ranks, groups of {tensor}':20}" + "".join(f"{each:10.3f}" for each in row))
    return found


def _drawn(drawn: random.Random, tokens: int, longest: int) -> list[int]:
    found: list[int] = []
    while sum(found) < tokens:
        found.append(min(longest, max(1, int(drawn.lognormvariate(6.6, 1.15)))))
    return found


def _lengths(steps: int) -> dict[str, Any]:
    print(f"\nLengths log-normal(6.6, 1.15), 200,000 tokens a step, 64 ranks, 32 B, {steps} steps: milliseconds")
    found: dict[str, Any] = {}
    for longest in (32768, 16384):
        drawn = random.Random(0)
        histogram: dict[int, float] = {}
        for length in _drawn(drawn, 4_000_000, longest):
            histogram[length] = histogram.get(length, 0) + 1
        pool = propose_strategies(histogram, POOL32, 64).strategies
        alike = [homogeneous(each, 64) for each in POOL32 if each.longest >= longest or each.tensor == 16]
        rows: dict[str, list[float]] = {"static packing": [], "dispatched": [], "strategy by step": []}
        for _ in range(steps):
            lengths = _drawn(drawn, 200_000, longest)
            rows["static packing"].append(min(_static(lengths, each, longest) for each in alike))
            rows["dispatched"].append(dispatch_and_pack(lengths, alike, search=0).time)
            rows["strategy by step"].append(dispatch_and_pack(lengths, [*pool, *alike], search=0).time)
        means = {name: statistics.mean(row) for name, row in rows.items()}
        found[str(longest)] = means
        first = means["static packing"]
        cells = "".join(f"   {name} {mean:.0f} ({first / mean:.2f} times)" for name, mean in means.items())
        print(f"  at most {longest:,} tokens{cells}")
    return found


def _static(lengths: list[int], strategy: Strategy, longest: int) -> float:
    """What trainers do who pack by length alone: first fit into micro-batches as long as may be, dealt out in turns."""
    scheme = strategy.pipelines[0]
    room, micros = min(scheme.longest, longest), []
    for length in lengths:
        for micro in micros:
            if sum(micro) + length <= room:
                micro.append(length)
                break
        else:
            micros.append([length])
    costs = [sum(map(scheme.cost, micro)) for micro in micros]
    count = len(strategy.pipelines)
    return max(scheme.time(costs[number::count]) for number in range(count))


def _slices() -> dict[str, Any]:
    print("\nPipelines of slices: bubble by live slices (all slices equal)")
    found: dict[str, Any] = {}
    for shape, lives in (
        (Shape(4, 4, 1, 8), (4, 5, 6, 7)),
        (Shape(8, 8, 1, 16), (8, 9, 10, 11, 12, 13, 14, 15)),
        (Shape(8, 4, 2, 16), (12, 13, 14, 15, 16, 17, 18, 19)),
        (Shape(4, 4, 2, 8), (8, 9, 10, 11)),
    ):
        name = f"p{shape.workers} s{shape.slices} n{shape.micros} v{shape.chunks}"
        found[name] = [bounded(shape, live).bubble for live in lives]
        print(f"  {name:14} f={lives[0]}…{lives[-1]}: " + " ".join(f"{each:.3f}" for each in found[name]))
    shape, lengths = Shape(8, 4, 1, 16), [0.6, 0.6 + 0.8 / 3, 0.6 + 1.6 / 3, 1.4]
    orders = explicit(shape)
    whole = play(orders, lambda op: lengths[op.slice] * (1 if op.kind == "F" else 2), stages=8, slices=4).makespan
    steps = {"not parted": whole}
    for name, pieces in (("by layer", 1), ("by product", 7)):
        steps[name] = fill(
            orders,
            lambda op: lengths[op.slice],
            lambda op, pieces=pieces: [lengths[op.slice] / pieces] * pieces,  # type: ignore[misc]
            stages=8,
            slices=4,
        ).makespan
    found["weights"] = steps
    print(
        "  weight gradients in gaps, p8 s4 n16, slices 0.6 to 1.4: "
        + ", ".join(f"{k} {v:.1f}" for k, v in steps.items())
    )
    return found


def _planning() -> dict[str, Any]:
    print("\nThe planners' own time, seconds of processor")
    rates = [1.0] * 1024
    for number in range(12):
        rates[number * 85] = (1.5, 2.57, 5.4, math.inf)[number % 4]
    hardware = Hardware(tuple(rates), alpha=ALPHA110)
    begun = time.process_time()
    plan_straggler(hardware, 80, 1024, 16, memory=M110)
    straggler = time.process_time() - begun
    print(f"  1,024 ranks with 12 slow or lost, 110 B, 16 pipelines: {straggler:.1f}")
    drawn = random.Random(1)
    histogram: dict[int, float] = {}
    for length in _drawn(drawn, 4_000_000, 32768):
        histogram[length] = histogram.get(length, 0) + 1
    begun = time.process_time()
    pool = propose_strategies(histogram, POOL32, 1024, grain=1024, unit=4).strategies
    proposing = time.process_time() - begun
    lengths = _drawn(drawn, 1_600_000, 32768)
    begun = time.process_time()
    dispatch_and_pack(lengths, pool)
    dispatching = time.process_time() - begun
    print(f"  strategies for 1,024 ranks: {proposing:.1f}")
    print(f"  {len(lengths):,} sequences of 1.6 M tokens to 1,024 ranks, {len(pool)} strategies: {dispatching:.1f}")
    return {"straggler": straggler, "proposing": proposing, "dispatching": dispatching}
