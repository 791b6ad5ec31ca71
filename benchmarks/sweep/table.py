"""How good searches are at the same cost: whole trials for random and TPE, steps of training for ASHA and Hyperband."""

from __future__ import annotations

import contextlib
import io
import os
import statistics
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from programs import usable_processors

from couler_py.dsl.sweeps.space import drawn, read
from couler_py.dsl.sweeps.study import opened, point_of, suggest, told
from couler_py.dsl.sweeps.trial import couler_trial
from couler_py.ir.sweep import Algorithm, Metric, Plan, plain
from sweep.problems import Problem, problems

TRIALS, BATCH, SEEDS = 40, 4, 20
METRIC = Metric("loss", "minimize", "result")


def measure(less: int = 1) -> dict[str, Any]:
    """The medians over the seeds of the best loss, by problem and algorithm."""
    seeds = max(3, SEEDS // less)
    print(f"\nSweeps: the least loss at the cost of {TRIALS} whole trials, {BATCH} at once; medians of {seeds} seeds")
    names = ("random", "tpe", "asha", "hyperband")
    print(f"  {'problem':<20}" + "".join(f"{name:>12}" for name in names) + f"{'of best':>12}")
    found: dict[str, Any] = {}
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(usable_processors()) as pool:
        for number, problem in enumerate(problems()):
            jobs = {name: [pool.submit(least, number, name, seed) for seed in range(seeds)] for name in names}
            medians = {name: statistics.median(job.result() for job in each) for name, each in jobs.items()}
            found[problem.name] = medians
            best = "" if problem.best is None else f"{problem.best:.4g}"
            row = "".join(f"{medians[name]:>12.4g}" for name in names)
            print(f"  {problem.name:<20}{row}{best:>12}", flush=True)
    return found


def verdicts(found: dict[str, Any] | None) -> list[tuple[str, str, bool]]:
    """Whether TPE and ASHA beat random on each problem."""
    if found is None:
        return []
    lines = []
    for name in ("tpe", "asha"):
        won = [problem for problem, medians in found.items() if medians[name] < medians["random"]]
        lines.append((f"{name} beats random on every problem", f"{len(won)} of {len(found)}", len(won) == len(found)))
    return lines


def least(number: int, algorithm: Algorithm, seed: int) -> float:
    """The least loss of a whole trial that a search finds at the cost of `TRIALS` whole trials."""
    problem = problems()[number]
    budget = TRIALS * problem.steps
    if algorithm == "random":
        points = drawn(read(problem.space), TRIALS, seed)
        return min(run(problem, dict(point), plan_of(problem, "tpe", seed), [])["values"][0] for point in points)
    plan = plan_of(problem, algorithm, seed)
    state = opened(plan, None)
    spent, best = 0, float("inf")
    while spent < budget:
        points = [point_of(state, trial) for trial in state["trials"] if trial["state"] == "running"]
        if not points:
            break
        outcomes = []
        for point in points:
            outcome = run(problem, point["values"], plan, point["cutoffs"])
            outcomes.append(outcome)
            spent += outcome["curve"][-1][0]
            if not outcome["stopped"] and outcome["values"][0] is not None and spent <= budget:
                best = min(best, outcome["values"][0])
        told(state, points, outcomes)
        suggest(state)
    return best


def plan_of(problem: Problem, algorithm: Algorithm, seed: int) -> dict[str, Any]:
    stopping = algorithm in ("asha", "hyperband")
    return plain(
        Plan(
            space=read(problem.space),
            metrics=(METRIC,),
            algorithm=algorithm,
            trials=TRIALS * 27 if stopping else TRIALS,
            batch=BATCH,
            seed=seed,
            sampler="tpe",
            rungs=tuple(3**power for power in range(3) if 3**power < problem.steps) if stopping else (),
            curve=1,
        )
    )


def run(problem: Problem, values: dict[str, Any], plan: dict[str, Any], cutoffs: list[Any]) -> dict[str, Any]:
    """One trial, watched as in a real sweep."""

    def train() -> float:
        import couler_py

        loss = float("nan")
        for step, loss in enumerate(problem.losses(values), 1):
            couler_py.log_metric("loss", loss, step)
        return loss

    with contextlib.redirect_stderr(io.StringIO()):  # what is stopped early says so, some ten thousand times
        found: dict[str, Any] = couler_trial(train, plan["metrics"], plan["rungs"], 1)(sweep_cutoffs=cutoffs)
    return found
