"""The planner of resources for recommenders, simulated: what `benchmarks/run --only dlrm` prints, by seeds alone."""

from __future__ import annotations

import itertools
import math
import statistics
from typing import Any

import numpy as np

from benchmarks.dlrm import jobs, traces
from couler_py.passes.solver import not_negative
from couler_py.steps.dlrm.planning import search
from couler_py.steps.dlrm.planning.allocation import Allocation, Load, Prices, Space
from couler_py.steps.dlrm.planning.cluster import Capacity, Contender, Plan, fits, share, value
from couler_py.steps.dlrm.planning.pareto import hypervolume
from couler_py.steps.dlrm.planning.performance import Fit, fit, points, terms
from couler_py.steps.dlrm.planning.policies import Fixed
from couler_py.steps.dlrm.planning.scaling import Needs, evaluator, scale
from couler_py.steps.dlrm.planning.similar import Features, Profile, warm_start
from couler_py.steps.dlrm.planning.simulator import Job, World

SEEDS = 50


def measure(less: int = 1) -> dict[str, Any]:
    """All tables; `less` times fewer seeds."""
    seeds = max(3, SEEDS // less)
    return {
        "fits": fits_of(seeds),
        "chosen": chosen(seeds),
        "search": searched(),
        "memory": watched(4 * seeds),
        "straggler": straggler(),
        "warm start": begun(seeds),
        "cluster": shared(8 * seeds),
        "jobs": completed(seeds),
    }


def fits_of(seeds: int) -> dict[int, float]:
    """The error of a fit over the whole quota, by how many probes it was made from."""
    grid, found = jobs.grid(), {}
    truth = jobs.TRUTH.throughput(jobs.LOAD, grid)
    for count in (6, 8, 12, 20):
        errors = [
            float(np.abs(fit(jobs.measured(seed, count)).throughput(jobs.LOAD, grid) / truth - 1).mean())
            for seed in range(seeds)
        ]
        found[count] = statistics.mean(errors)
    told = ", ".join(f"{count} probes {error:.1%}" for count, error in found.items())
    print(f"\nPlanner of recommenders, {seeds} seeds\n  error of the fitted speed, 5 % noise: {told}")
    return found


def chosen(seeds: int) -> dict[str, list[float]]:
    """Speed of what is chosen after eight probes, as a part of the best there is."""
    best = jobs.oracle()
    found: dict[str, list[float]] = {"planned": [], "without the embedding term": [], "best of the probes": []}
    for seed in range(seeds):
        measured = jobs.measured(seed)
        fitted = fit(measured)
        columns = terms(jobs.LOAD, points([each.allocation for each in measured]))
        seconds = np.array([each.seconds for each in measured])
        kept = [0, 1, 2, 4]
        values = np.zeros(5)
        values[kept] = not_negative(columns[:, kept] / seconds[:, None], np.ones(len(seconds)))
        without = Fit("servers", tuple(values), 5, 1.0, 0.0, len(measured))
        for name, each in (("planned", fitted), ("without the embedding term", without)):
            plan = scale(each, jobs.LOAD, jobs.SPACE, current=measured[0].allocation)
            found[name].append(jobs.speed(plan.allocation) / best)
        found["best of the probes"].append(max(jobs.speed(each.allocation) for each in measured) / best)
    for name, parts in found.items():
        fifth = float(np.percentile(parts, 5))
        print(f"  {name:28}{statistics.mean(parts):8.1%} of the best speed, {fifth:.1%} at the 5th of 100")
    even = jobs.speed(jobs.EVEN) / best
    found["even split"] = [even]
    print(f"  {'even split':28}{even:8.1%}; planned is {statistics.mean(found['planned']) / even:.2f} times as fast")
    return found


def searched() -> dict[str, float]:
    """The area that NSGA-II's front covers, as a part of that of all points."""
    found = {}
    spaces = {"2,048 allocations": jobs.SPACE, "32,400 allocations": Space(cores=256)}
    for name, space in spaces.items():
        evaluate = evaluator(jobs.TRUTH, jobs.LOAD, space, Needs(), Prices())
        exact = search.enumerated(space.values, evaluate)
        reference = (float(exact.objectives[:, 0].max()) + 1, 0.0)
        whole = hypervolume(exact.objectives, reference)
        parts = [
            hypervolume(search.evolved(space.values, evaluate, seed=seed).objectives, reference) / whole
            for seed in range(5)
        ]
        found[name] = min(parts)
        print(f"  NSGA-II, {name}: {min(parts):.4f} of the area of enumeration, the least of 5 seeds")
    return found


def watched(count: int) -> dict[str, Any]:
    """Alarms before a limit is reached, and those on traces that never reach it."""
    leads: list[int] = []
    missed = 0
    for kind, seed in itertools.product(traces.GROWING, range(count)):
        alarm, full = traces.alarm(traces.trace(kind, seed))
        if full is None:
            continue
        missed += alarm is None or full - alarm.report < 3
        leads += [full - alarm.report] if alarm is not None else []
    false = {
        kind: sum(traces.alarm(traces.trace(kind, seed))[0] is not None for seed in range(count)) / count
        for kind in traces.STEADY
    }
    print(
        f"  out of memory, {len(leads)} traces that grow: {missed} without an alarm 3 reports before, the latest "
        f"{min(leads)} before, in the middle {statistics.median(leads):g}"
    )
    print("  false alarms: " + ", ".join(f"{kind} {part:.1%}" for kind, part in false.items()))
    return {"traces": len(leads), "missed": missed, "least lead": min(leads), "false": false}


def straggler() -> dict[str, float]:
    """Four workers, one at a quarter of its speed from the beginning, and nobody who replaces it."""
    world = World(jobs.TRUTH, Load(), 1e8, slow_at=0.0)
    four = Allocation(4, 4, 2, 2)
    ideal = world.rows / (3.25 * world.rate(four))
    found = {}
    for name, part in (("shards of 0.1 %", 1e-3), ("shards of 2 %", 0.02), ("fixed parts", None)):
        shards = None if part is None else part * world.rows
        found[name] = Job(world, four, shards=shards, save_every=1e9).play(Fixed(math.inf)).seconds / ideal
    told = ", ".join(f"{name} {times:.3f}" for name, times in found.items())
    print(f"  one of 4 workers at a quarter of its speed: {told} times the ideal")
    return found


def begun(seeds: int) -> dict[str, float]:
    """A job that recurs daily and grows by 2 % a day: how far from its needs it begins, and moves until it is there.

    A move adds or takes four workers at most, or changes servers, as in the open repository. The history has what runs
    ended with, not what they needed: a planner that measures with 5 % noise is off by that.
    """
    errors: list[float] = []
    moves: dict[str, list[int]] = {"warm": [], "cold": []}
    for seed in range(seeds):
        drawn, history = np.random.default_rng(seed), list[Profile]()
        for day in range(30):
            size = 1.02**day * float(np.exp(0.08 * drawn.standard_normal()))
            needed = Allocation(max(1, round(20 * size)), max(1, round(6 * size)), 4, 4)
            allocation, _, _ = warm_start("daily", Features(), Load(), Space(), history)
            if day >= 5:
                wanted, got = np.array(needed.point[:2]), np.array(allocation.point[:2])
                errors.append(float((np.abs(got - wanted) / wanted).mean()))
                moves["warm"].append(_moves(allocation, needed))
                moves["cold"].append(_moves(Allocation(2, 1, 1, 1), needed))
            workers = max(1, round(needed.workers * (1 + 0.05 * drawn.standard_normal())))
            ended = Allocation(workers, *needed.point[1:])
            history.append(Profile("daily", Features(), Load(), ended, float(day)))
    found = {"error": statistics.mean(errors)} | {name: statistics.mean(each) for name, each in moves.items()}
    print(f"  warm start: off by {found['error']:.1%}; {found['warm']:.2f} moves, {found['cold']:.2f} from nothing")
    return found


def _moves(begun_with: Allocation, needed: Allocation) -> int:
    return math.ceil(abs(begun_with.workers - needed.workers) / 4) + (begun_with.point[1:] != needed.point[1:])


def shared(count: int) -> dict[str, float]:
    """Up to 4 jobs with up to 5 plans each share cores and memory: the gain as a part of the most."""
    parts = []
    for seed in range(count):
        contenders, capacity = contest(seed)
        found, _ = share(contenders, capacity)
        most = 0.0
        for plans in itertools.product(*((job.current, *job.plans) for job in contenders)):
            tried = {job.job: plan for job, plan in zip(contenders, plans, strict=True)}
            most = max(most, value(contenders, tried) if fits(tried, capacity) else 0.0)
        parts.append(value(contenders, found) / most if most else 1.0)
    print(f"  cluster: {statistics.mean(parts):.2%} of the most on average, {min(parts):.1%} at least, {count} draws")
    return {"mean": statistics.mean(parts), "least": min(parts)}


def contest(seed: int) -> tuple[list[Contender], Capacity]:
    """Jobs with plans whose gains grow less than their cores."""
    drawn = np.random.default_rng(seed)
    contenders = []
    for number in range(drawn.integers(1, 5)):
        cores = [int(each) for each in drawn.integers(1, 40, drawn.integers(1, 6))]
        plans = tuple(
            Plan(f"plan {n}", each, float(drawn.integers(1, 80)), float(drawn.random()) * 100 * each**0.7)
            for n, each in enumerate(cores)
        )
        current = Plan("as it is", 1, 1.0, 0.0)
        priority, left = float(drawn.uniform(0.5, 2)), float(drawn.uniform(0, 9000))
        contenders.append(Contender(f"job {number}", current, plans, priority, left))
    return contenders, Capacity(int(drawn.integers(8, 90)), float(drawn.integers(8, 160)))


def completed(seeds: int) -> dict[str, Any]:
    """Hours of a job that takes 4 at the best, with a slow worker, a kill, and memory that grows."""
    best = Allocation(14, 8, 4, 1)
    rows: dict[str, list[Any]] = {
        "default, 2 workers": [jobs.fixed(seed, jobs.DEFAULT) for seed in range(seeds)],
        "even split, same memory": [jobs.fixed(seed, jobs.EVEN, more=1.0) for seed in range(seeds)],
        "even split": [jobs.fixed(seed, jobs.EVEN) for seed in range(seeds)],
        "even split, looked after": [jobs.looked_after(seed, jobs.EVEN) for seed in range(seeds)],
        "the best there is, fixed": [jobs.fixed(seed, best) for seed in range(seeds)],
        "planned, known from before": [jobs.elastic(seed, known=True) for seed in range(seeds)],
        "planned, after 8 probes": [jobs.elastic(seed, known=False) for seed in range(seeds)],
    }
    found: dict[str, Any] = {}
    print(f"  {'hours of a job of 4':28}{'mean':>8}{'most':>8}{'ended':>8}{'OOMs':>6}{'less, after 8 probes':>24}")
    planned = rows["planned, after 8 probes"]
    for name, outcomes in rows.items():
        hours = [each.seconds / 3600 for each in outcomes]
        both = [(own, each) for own, each in zip(planned, outcomes, strict=True) if each.completed]
        less = statistics.mean(1 - own.seconds / each.seconds for own, each in both) if both else None
        found[name] = {
            "mean": statistics.mean(hours),
            "most": max(hours),
            "ended": sum(each.completed for each in outcomes) / seeds,
            "ooms": sum(each.ooms for each in outcomes),
            "less": less,
        }
        row = found[name]
        saved = "" if less is None else f"{less:.1%}"
        print(f"  {name:28}{row['mean']:8.2f}{row['most']:8.2f}{row['ended']:8.0%}{row['ooms']:6}{saved:>24}")
    return found


def verdicts(found: dict[str, Any] | None) -> list[tuple[str, str, bool]]:
    """What is promised, what was found, and whether it holds."""
    if found is None:
        return []
    planned, even = statistics.mean(found["chosen"]["planned"]), found["chosen"]["even split"][0]
    memory, warm, ended = found["memory"], found["warm start"], found["jobs"]
    false = max(memory["false"]["flat"], memory["false"]["saw"])
    less = min(ended[name]["less"] for name in ("default, 2 workers", "even split", "even split, looked after"))
    ours = [ended[name] for name in ("planned, known from before", "planned, after 8 probes")]
    whole = all(each["ended"] == 1 and not each["ooms"] for each in ours)
    area, straight = min(found["search"].values()), found["straggler"]["shards of 2 %"]
    return [
        ("recommenders, planned speed at least 95 % of the best", f"{planned:.1%}", planned >= 0.95),
        ("recommenders, planned more than twice an even split", f"{planned / even:.2f}", planned > 2 * even),
        ("recommenders, NSGA-II covers 98 % of what enumeration does", f"{area:.2%}", area >= 0.98),
        ("recommenders, no OOM missed with 3 reports' lead", f"{memory['missed']} missed", memory["missed"] == 0),
        ("recommenders, false alarms at most 10 %", f"{false:.1%}", false <= 0.1),
        ("recommenders, one straggler at most 1.15 times the ideal", f"{straight:.3f}", straight <= 1.15),
        (
            "recommenders, warm start within 25 %, with fewer moves",
            f"{warm['error']:.1%}, {warm['warm']:.1f} moves for {warm['cold']:.1f}",
            warm["error"] < 0.25 and warm["warm"] < warm["cold"],
        ),
        (
            "recommenders, a shared cluster at least 90 % of the most",
            f"{found['cluster']['least']:.1%}",
            found["cluster"]["least"] >= 0.9,
        ),
        ("recommenders, at least 31 % less time than default and even split", f"{less:.1%}", less >= 0.31),
        ("recommenders, every planned job ends, none out of memory", "all" if whole else "not all", whole),
    ]


if __name__ == "__main__":
    for promise, value_, held in verdicts(measure()):
        print(f"  {'holds' if held else 'BROKEN':<7} {promise}: {value_}")
