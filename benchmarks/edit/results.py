"""What experiments leave: a file of results that grows, figures for tables, and plots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.edit.replicas import Outcome
from couler_py.report.plots.xy import line


def added(path: Path, new: Sequence[Outcome]) -> list[Outcome]:
    """All results of a file, with new ones in the place of older ones of the same method, variant and seed.

    MessagePack, as losses may be no numbers.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    old = msgspec.msgpack.decode(path.read_bytes(), type=list[Outcome]) if path.exists() else []
    kept = {(each.variant, each.method, each.seed): each for each in (*old, *new)}
    path.write_bytes(msgspec.msgpack.encode(list(kept.values())))
    return list(kept.values())


def sure(values: Sequence[float]) -> str:
    """The mean, and the least and the largest where they differ."""
    mean = sum(values) / len(values)
    return f"{mean:.4f}" if len(values) == 1 else f"{mean:.4f} ({min(values):.4f} to {max(values):.4f})"


def plot(path: Path, found: Sequence[Outcome], begin: float) -> None:
    """The loss of each method and variant from a step on, its mean over seeds."""
    series = {}
    for method, variant in dict.fromkeys((each.method, each.variant) for each in found):
        same = [each.curve for each in found if (each.method, each.variant) == (method, variant)]
        means = [
            (sum(step for step, _ in looks) / len(looks), sum(loss for _, loss in looks) / len(looks))
            for looks in zip(*same, strict=False)
        ]
        series[f"{method}, {variant}"] = [(step, loss) for step, loss in means if step >= begin]
    path.write_text(line(series, x_label="steps of a replica", y_label="loss on held-out rows"))
