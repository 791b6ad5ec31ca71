"""Steps of real processes with slowed ranks: the plan that asks nobody's rate against the one that is made for them.

`python -m benchmarks.hybrid.runtime` (with torch). Four processes train a decoder of 16 layers as two pipelines of two
stages, 16 micro-batches a step. Computation is emulated: a layer takes a given time on a healthy rank, of which what
really computing it (something small) leaves is WAITED; transfers, sums and the optimizer are real. Rates are measured
from the steps of the uniform plan, and training changes to the new plan without a restart.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from couler_py.steps.hybrid.plan import Hardware, Plan, simulated
from couler_py.steps.hybrid.rates import profile_devices
from couler_py.steps.hybrid.runtime import Timed, Trainer
from couler_py.steps.hybrid.straggler import plan_straggler, uniform
from couler_py.steps.models.config import DecoderConfig

RANKS, LAYERS, MICROS, PIPELINES = 4, 16, 16, 2
CONFIG = DecoderConfig(vocabulary=17, layers=LAYERS, hidden=8, heads=2, kv_heads=2, feed_forward=8, context=8)
SLOWED: list[dict[int, float]] = [{}, {0: 2.57}, {3: 2.57}, {1: 3.8}, {0: 2.0, 2: 2.0}]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--unit", type=float, default=0.1, help="seconds of a layer, forward and backward together")
    asked.add_argument("--steps", type=int, default=2, help="steps of each plan, of which the quickest counts")
    asked.add_argument("--cases", type=int, default=len(SLOWED), help="how many of the cases")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        context = multiprocessing.get_context("fork")
        ranks = [context.Process(target=_rank, args=(rank, Path(folder), given)) for rank in range(RANKS)]
        for each in ranks:
            each.start()
        for each in ranks:
            each.join()
        if any(each.exitcode for each in ranks):
            sys.exit(f"ranks ended with {[each.exitcode for each in ranks]}")
        _show(json.loads((Path(folder) / "rows.json").read_text()), given.unit)


def _rank(rank: int, folder: Path, given: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=RANKS)
    tokens = torch.randint(0, CONFIG.vocabulary, (MICROS, 5), generator=torch.Generator().manual_seed(0))
    healthy = Hardware((1.0,) * RANKS, tensor=1)
    same = uniform(healthy, LAYERS, MICROS, PIPELINES)
    baselines: list[float] = []
    rows: list[dict[str, Any]] = []
    for slowed in SLOWED[: given.cases]:
        compute = Timed(given.unit / 3, given.unit * 2 / 3, slowed)
        trainer = Trainer(same, CONFIG, compute=compute, timeout=600.0)
        before = _measured(trainer, tokens, given.steps)
        window = [trainer.timings()]
        baselines = baselines or [window[0][each].unit for each in range(RANKS)]
        rates = profile_devices(window, baselines).rates
        plan = plan_straggler(Hardware(rates, tensor=1), LAYERS, MICROS, PIPELINES, current=same)
        switched = trainer.switch(plan)
        after = _measured(trainer, tokens, given.steps)
        true = Hardware(tuple(slowed.get(each, 1.0) for each in range(RANKS)), tensor=1)
        told: list[Any] = [None] * RANKS
        dist.all_gather_object(told, (switched.received, switched.seconds))
        rows.append(
            {
                "slowed": slowed,
                "rates": rates,
                "uniform": before,
                "planned": after,
                "uniform predicted": simulated(same, true) * given.unit,
                "planned predicted": simulated(plan, true) * given.unit,
                "shape": _shape(plan),
                "moved": sum(each for each, _ in told),
                "switch": max(each for _, each in told),
            }
        )
    if rank == 0:
        (folder / "rows.json").write_text(json.dumps(rows))
    dist.destroy_process_group()


def _measured(trainer: Trainer, tokens: torch.Tensor, steps: int) -> float:
    """The quickest of some steps, each as long as on the rank where it took longest."""
    found = []
    for _ in range(steps):
        seconds = torch.tensor(trainer.step(tokens).seconds)
        dist.all_reduce(seconds, dist.ReduceOp.MAX)
        found.append(float(seconds))
    return min(found)


def _shape(plan: Plan) -> str:
    return " / ".join(f"{[stage.count for stage in each.stages]}x{each.micros}" for each in plan.pipelines)


def _show(rows: list[dict[str, Any]], unit: float) -> None:
    print(f"Emulated computation: a layer takes {unit:g} s on a healthy rank, waited. Seconds of a step:")
    print("slowed | measured rates | uniform (predicted) | planned (predicted) | speed-up | plan | switch")
    errors = []
    for row in rows:
        pairs = [(row[name], row[f"{name} predicted"]) for name in ("uniform", "planned")]
        errors += [abs(measured / predicted - 1) for measured, predicted in pairs]
        shown = " | ".join(f"{measured:.2f} ({predicted:.2f})" for measured, predicted in pairs)
        slowed = ", ".join(f"rank {rank} {rate}x" for rank, rate in row["slowed"].items()) or "none"
        rates = " ".join(f"{rate:.2f}" for rate in row["rates"])
        moved = f"{row['moved']:,} bytes in {row['switch']:.2f} s"
        print(f"{slowed} | {rates} | {shown} | {row['uniform'] / row['planned']:.2f} | {row['shape']} | {moved}")
    print(f"predicted and measured differ by {statistics.median(errors):.1%} (median), {max(errors):.1%} (most)")
    faster = min((row["uniform"] / row["planned"] for row in rows if 2.57 in row["slowed"].values()), default=1.5)
    if statistics.median(errors) > 0.1 or faster < 1.5:
        sys.exit(f"promised: 10 % (median), and 1.5 times as fast with one rank slowed 2.57 times; it is {faster:.2f}")


if __name__ == "__main__":
    main()
