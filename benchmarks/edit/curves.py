"""Losses of DDP, DiLoCo, EDiT and A-EDiT on a real text: the same tokens, no fault, three seeds.

    .venv-train/bin/python -m benchmarks.edit.curves [--seeds 0 1 2] [--out build/edit]

Python's own library, the built-in decoder, four replicas, 128 tokens a step and replica; the first steps synchronous,
then rounds of 16 steps, or of 16 s where a step takes 0.8 to 1.2 s by the replica's own clock. AdamW, whose rate rises
in 20 steps and falls along a cosine to a tenth. Each method has the inner rate that is best for it (`--rates` shows
the losses of others, with a seed that isn't used otherwise).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch

from benchmarks.edit.broken import OUTER, PENALTY
from benchmarks.edit.problems import Text
from benchmarks.edit.replicas import Course, Inner, Outcome, trained
from benchmarks.edit.results import added, plot, sure
from couler_py.steps.edit.settings import preset

STEPS, WARM, EVERY = 640, 96, 16
SETTINGS = {
    "DDP": preset("ddp"),
    "DiLoCo": preset("diloco", sync_every=EVERY, warmup=WARM, outer=OUTER),
    "EDiT": preset("edit", sync_every=EVERY, warmup=WARM, outer=OUTER, penalty=PENALTY),
    "A-EDiT": preset("a_edit", sync_seconds=float(EVERY), warmup=WARM, outer=OUTER, penalty=PENALTY),
}
RATES = {"DDP": 1.6e-2, "DiLoCo": 8e-3, "EDiT": 8e-3, "A-EDiT": 8e-3}


def seconds(replica: int, step: int) -> float:
    """How long a step takes: 0.8 to 1.2 s, drawn anew for each."""
    return 0.8 + 0.4 * float(torch.rand((), generator=torch.Generator().manual_seed(step * 4 + replica)))


def courses(seeds: Sequence[int]) -> list[Course]:
    return [
        Course(method, settings, Inner(RATES[method]), seed, seconds=seconds)
        for seed in seeds
        for method, settings in SETTINGS.items()
    ]


def rates() -> list[Course]:
    return [
        Course(method, SETTINGS[method], Inner(rate), 9, f"rate {rate:g}")
        for method in ("DDP", "EDiT")
        for rate in (4e-3, 8e-3, 1.6e-2)
    ]


def table(found: list[Outcome]) -> str:
    rows = [
        "| method | | loss | beside DDP | left out | steps between rounds | MB sent | seeds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for method, variant in dict.fromkeys((each.method, each.variant) for each in found):
        same = [each for each in found if (each.method, each.variant) == (method, variant)]
        beside = {each.seed: each.loss for each in found if (each.method, each.variant) == ("DDP", variant)}
        shares = [100 * (each.loss / beside[each.seed] - 1) for each in same if each.seed in beside]
        local = [steps for each in same for steps in each.steps[:-1]]
        mean = sum(map(sum, local)) / (4 * len(local)) if local else 1
        rows.append(
            f"| {method} | {variant} | {sure([each.loss for each in same])} | {sum(shares) / len(shares):+.2f} % "
            f"| {sum(len(each.rejected) for each in same)} | {mean:.1f} | {same[0].between / 1e6:.2f} | {len(same)} |"
            if shares
            else f"| {method} | {variant} | {sure([each.loss for each in same])} | | | | | {len(same)} |"
        )
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", action="store_true", help="the losses of several inner rates")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("build/edit"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    name = "rates" if given.rates else "curves"
    made = rates() if given.rates else courses(given.seeds)
    found = added(given.out / f"{name}.results", trained(made, Text(given.out / "corpus"), STEPS, EVERY))
    plot(given.out / f"{name}.svg", found, 0)
    print(table(found))


if __name__ == "__main__":
    main()
