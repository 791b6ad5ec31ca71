"""The embedded engine and its peers on graphs of tasks that do nothing, beside starting as many bare processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from programs import HERE, OURS, PEERS, FailedError, output, version
from shapes import SHAPES

KINDS = ("commands", "python")
Verdict = tuple[str, str, bool]
Rows = list[dict[str, Any]]


class Runner(NamedTuple):
    """What runs a graph: its name, the distribution, the environment, the program and its further arguments.

    Of slow ones `tasks` are run, but for the graph that the promises are about, and only once.
    """

    name: str
    distribution: str | None
    python: Path
    program: Path
    more: tuple[str, ...] = ()
    tasks: int = 1_000


COULER_PY = Runner("couler-py", "couler-py", OURS, HERE / "ours_run.py")
LUIGI = Runner("Luigi", "luigi", PEERS, HERE / "peers" / "luigi_run.py")
PREFECT = Runner("Prefect", "prefect", PEERS, HERE / "peers" / "prefect_run.py")
SNAKEMAKE = Runner("Snakemake", "snakemake", PEERS, HERE / "peers" / "snakemake_run.py", tasks=200)
TUNED = SNAKEMAKE._replace(name="  tuned", more=("tuned",))
SUBPROCESS = Runner("subprocess", None, OURS, HERE / "bare_run.py")
SPAWN = Runner("posix_spawn", None, OURS, HERE / "bare_run.py", ("spawn",))
RUNNERS = (COULER_PY, LUIGI, PREFECT, SNAKEMAKE, TUNED, SUBPROCESS, SPAWN)
PROMISED = ("commands", "wide")


def measure(rounds: int, scale: int) -> dict[str, Any]:
    """Time every runner on every graph: the best of `rounds`, taking turns. `scale` divides the numbers of tasks."""
    versions = {each.name: version(each.python, each.distribution) for each in RUNNERS if each.distribution}
    print("\nRunning: " + ", ".join(f"{name} {number}" for name, number in versions.items()))
    print(f"\n{'':13}{'tasks are':10}{'shape':9}{'tasks':>8}{'seconds':>9}{'tasks/s':>9}{'cpu':>8}{'couler-py':>14}")
    rows: Rows = []
    for kind in KINDS:
        for shape in SHAPES:
            rows += _group(kind, shape, rounds, scale)
    print("cpu: processor seconds of the program and of the processes that it waited for; Prefect's server isn't in it")
    return {"versions": versions, "rows": rows}


def _group(kind: str, shape: str, rounds: int, scale: int) -> Rows:
    """All runners on one graph."""
    runners = [each for each in RUNNERS if each.distribution or shape == "wide"]  # for bare processes, shapes are one
    found: dict[str, dict[str, Any]] = {}
    for turn in range(rounds):
        for runner in runners:
            n = max((1_000 if (kind, shape) == PROMISED else runner.tasks) // scale, 12)
            if turn and n / found[runner.name].get("tasks_per_second", 1) > 10:
                continue
            took = _time(runner, shape, n, kind)
            if "seconds" not in found.get(runner.name, {}) or took.get("seconds", 1e9) < found[runner.name]["seconds"]:
                found[runner.name] = {"runner": runner.name, "kind": kind, "shape": shape, "tasks": n, **took}
    ours = found[COULER_PY.name].get("tasks_per_second", 0.0)
    for row in found.values():
        _print(row, ours)
    return list(found.values())


def _time(runner: Runner, shape: str, n: int, kind: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(output(runner.python, runner.program, shape, n, kind, *runner.more))
    except FailedError as error:
        return {"failed": str(error)}
    return found


def _print(row: dict[str, Any], ours: float) -> None:
    print(f"{row['runner']:13}{row['kind']:10}{row['shape']:9}{row['tasks']:>8,}", end="")
    if "failed" in row:
        print(f"  failed: {row['failed']}", flush=True)
        return
    rate = row["tasks_per_second"]
    times = "" if row["runner"] == COULER_PY.name else f"{ours / rate:>8.2f} times"
    print(f"{row['seconds']:>9.2f}{rate:>9.0f}{row['cpu_seconds']:>8.2f}{times}", flush=True)


def verdicts(found: dict[str, Any] | None) -> list[Verdict]:
    """What is promised about running."""
    if found is None:
        return []
    rates = {
        (row["runner"], row["kind"], row["shape"]): row["tasks_per_second"]
        for row in found["rows"]
        if "failed" not in row
    }
    ours = rates.get(("couler-py", *PROMISED), 0.0)
    made: list[Verdict] = []
    for peer, least in (("Snakemake", 20), ("Prefect", 4), ("Luigi", 2)):
        theirs = rates.get((peer, *PROMISED))
        value = f"{peer} didn't run" if theirs is None else f"{ours / theirs:.1f}"
        held = theirs is not None and ours >= least * theirs
        made.append((f"at least {least} times {peer} on commands, wide", value, held))
    bare = max(rates.get((name, *PROMISED), 0.0) for name in ("subprocess", "posix_spawn"))
    made.append(("a quarter of the rate of bare processes", f"{ours / bare if bare else 0:.2f}", 4 * ours >= bare > 0))
    steps = rates.get(("couler-py", "python", "wide"), 0.0)
    made.append(("at least 400 Python steps a second", f"{steps:.0f}", steps >= 400))
    return made
