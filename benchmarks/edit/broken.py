"""What one bad replica of four does to DDP, DiLoCo and EDiT: loss at the end, and its worst rise in one round.

    .venv-train/bin/python -m benchmarks.edit.broken [KIND …] [--seeds 0 1 2] [--problem text] [--out build/edit]

800 steps of the small chain: 160 synchronous ones, then 40 rounds of 16 steps. In 8 of the last 27 rounds, every third
one, replica 1 gets what KIND says, or with `clean` nothing. Norms are judged after 12 rounds, at 3 deviations. Inner
optimizer AdamW, or SGD where KIND ends in `-sgd`, at a constant rate; outer Nesterov, 0.7 and 0.8, for DiLoCo and EDiT
alike. Results are added to those in broken-PROBLEM.results.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.edit.problems import Chain, Problem, Text
from benchmarks.edit.replicas import Alter, Course, Given, Inner, Outcome, trained, untouched
from benchmarks.edit.results import added, plot, sure
from couler_py.steps.edit.settings import Outer, Penalty, preset

STEPS, WARM, EVERY = 800, 160, 16
BAD = range(13, 37, 3)
"""Rounds, counted from 0, in which replica 1 is bad."""
OUTER = Outer(0.7, 0.8)
PENALTY = Penalty(smoothing=0.1, rounds_before=12)
METHODS = {
    "DDP": preset("ddp"),
    "DiLoCo": preset("diloco", sync_every=EVERY, warmup=WARM, outer=OUTER),
    "EDiT": preset("edit", sync_every=EVERY, warmup=WARM, outer=OUTER, penalty=PENALTY),
}
RATES = {"chain": 5e-3, "text": 8e-3}


def kinds(symbols: int) -> dict[str, Alter]:
    """What may happen to a replica in a bad round."""

    def stream(step: int) -> torch.Generator:
        return torch.Generator().manual_seed(step)

    def random(_: int, step: int, rows: Tensor) -> Given:
        return Given(torch.randint(0, symbols, rows.shape, generator=stream(step)))

    def shuffled(_: int, step: int, rows: Tensor) -> Given:
        return Given(rows[:, torch.randperm(rows.shape[1], generator=stream(step))])

    found: dict[str, Alter] = {
        "random": random,
        "constant": lambda _replica, _step, rows: Given(torch.full_like(rows, 7)),
        "shuffled": shuffled,
        "30x-loss": lambda _replica, _step, rows: Given(rows, loss=30.0),
        "nan-loss": lambda _replica, _step, rows: Given(rows, loss=float("nan")),
        "10x-rate": lambda _replica, _step, rows: Given(rows, rate=10.0),
    }
    return {name: _in_bad_rounds(each) for name, each in found.items()} | {"clean": untouched}


def _in_bad_rounds(change: Alter) -> Alter:
    def altered(replica: int, step: int, rows: Tensor) -> Given:
        bad = replica == 1 and step >= WARM and (step - WARM) // EVERY in BAD
        return change(replica, step, rows) if bad else Given(rows)

    return altered


def courses(kind: str, seeds: Sequence[int], problem: str, symbols: int) -> list[Course]:
    """A rate of one replica's own is no part of DDP, whose replicas would differ from then on."""
    name = kind.removesuffix("-sgd")
    inner = Inner(RATES[problem], falls=False, clip=None)
    if name != kind:
        inner = Inner(0.1, "SGD", falls=False, clip=None)
    return [
        Course(method, settings, inner, seed, kind, kinds(symbols)[name])
        for seed in seeds
        for method, settings in METHODS.items()
        if not (name == "10x-rate" and method == "DDP")
    ]


def table(found: list[Outcome]) -> str:
    """Means and ranges over seeds, as Markdown."""
    rows = [
        "| replica 1 gets | method | loss | worst rise | left out: bad | left out: good | seeds |",
        "|---|---|---|---|---|---|---|",
    ]
    for variant, method in dict.fromkeys((each.variant, each.method) for each in found):
        same = [each for each in found if (each.variant, each.method) == (variant, method)]
        bad, good = zip(*map(left_out, same), strict=True)
        rows.append(
            f"| {variant} | {method} | {sure([each.loss for each in same])} "
            f"| {sure([each.worst(WARM + EVERY) for each in same])} "
            f"| {sum(bad)} of {len(same) * len(BAD) * same[0].modules} | {sum(good)} | {len(same)} |"
        )
    return "\n".join(rows)


def left_out(outcome: Outcome) -> tuple[int, int]:
    """How many pairs of a replica and a module were left out rightly, and how many wrongly."""
    right = sum(
        replica == 1 and number in BAD and outcome.variant != "clean" for number, replica, _ in outcome.rejected
    )
    return right, len(outcome.rejected) - right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", default=["clean", "random"])
    parser.add_argument("--problem", choices=RATES, default="chain")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("build/edit"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    problem: Problem = Chain() if given.problem == "chain" else Text(given.out / "corpus")
    made = [each for kind in given.kinds for each in courses(kind, given.seeds, given.problem, problem.symbols)]
    found = added(given.out / f"broken-{given.problem}.results", trained(made, problem, STEPS, EVERY))
    plot(
        given.out / f"broken-{given.problem}.svg", [each for each in found if each.variant in ("clean", "random")], WARM
    )
    print(table(found))


if __name__ == "__main__":
    main()
