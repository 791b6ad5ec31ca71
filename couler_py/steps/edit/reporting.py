"""What a training was like, as numbers and as a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from couler_py.report.cards import Card, Plot, Table, Text
from couler_py.report.page import Section, page
from couler_py.report.plots.xy import line
from couler_py.steps.edit.tracing import OUTSIDE

if TYPE_CHECKING:
    from couler_py.steps.edit.rounds import Round
    from couler_py.steps.edit.task import Task
    from couler_py.steps.edit.training import Told

MODULES = 8
"""So many lines, of different colours, are in one plot."""


def write(task: Task, told: Told, folder: Path) -> None:
    """Write metrics.json and report.html."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metrics.json").write_bytes(msgspec.json.encode(told))
    (folder / "report.html").write_text(report(task, told), encoding="utf-8")


def report(task: Task, told: Told) -> str:
    """A page: losses, norms, weights, who was left out, bytes, and how long replicas waited for each other."""
    cards = [Section("Loss", (Plot("First replica, and held-out rows", _losses(told)),))]
    if told.rounds:
        sent = Plot("What the first rank sent for a round", _bytes(told))
        waited = Plot("How long the first rank waited for other replicas", _waiting(told))
        cards += [
            Section("Pseudo-gradients", (_norms(told), Plot("Norm of the average, by module", _modules(told)))),
            Section("Weights", (Plot("Mean over modules", _weights(told)),)),
            Section("Left out", _left_out(told)),
            Section("Between replicas", (sent, waited)),
        ]
    facts = {
        "replicas": task.replicas,
        "shards": task.shards,
        "rounds": len(told.rounds),
        "tokens": told.tokens,
        "seconds": round(told.seconds, 1),
        "MB between replicas": round(told.between / 1e6, 3),
        "seconds waited": round(told.waited, 2),
    }
    return page("Training in rounds", cards, facts=facts)


def _losses(told: Told) -> str:
    series = {
        "first replica": [(float(n), loss) for n, loss in enumerate(told.losses, 1)],
        "held out": [(each.steps, each.loss) for each in told.seen],
    }
    return line(series, x_label="steps of a replica", y_label="nats per token")


def _norms(told: Told) -> Plot:
    """The largest unit's norm, for each replica."""
    first = told.rounds[0]
    unit = max(first.norms, key=lambda name: max(first.norms[name]))
    series = _by_replica(told, lambda each, replica: each.norms[unit][replica])
    return Plot(f"Norm of each replica: {unit or OUTSIDE}", line(series, x_label="round", y_label="norm"))


def _modules(told: Told) -> str:
    """The norm of the average, before it was clipped, of the largest units."""
    largest = sorted(told.rounds[0].moved, key=lambda unit: -max(each.moved[unit].norm for each in told.rounds))
    series = {
        unit or OUTSIDE: [(float(each.number), each.moved[unit].norm) for each in told.rounds]
        for unit in sorted(largest[:MODULES])
    }
    return line(series, x_label="round", y_label="norm")


def _weights(told: Told) -> str:
    """Each replica's weight, as the mean over units that agreed."""

    def weight(each: Round, replica: int) -> float:
        agreed = [weights[replica] for weights in each.weights.values() if weights is not None]
        return sum(agreed) / len(agreed) if agreed else 0.0

    series = _by_replica(told, weight)
    return line(series, x_label="round", y_label="weight")


def _left_out(told: Told) -> tuple[Card, ...]:
    rows = tuple(
        (each.number, replica, unit or OUTSIDE, each.norms[unit][replica])
        for each in told.rounds
        for unit, rejected in each.rejected.items()
        for replica, no in enumerate(rejected)
        if no
    )
    if not rows:
        return (Text("No replica was left out of any round."),)
    counts = _by_replica(told, lambda each, replica: float(sum(no[replica] for no in each.rejected.values())))
    drawn = line(counts, x_label="round", y_label="modules")
    return Plot("Modules for which a replica was left out", drawn), Table(("round", "replica", "module", "norm"), rows)


def _bytes(told: Told) -> str:
    series = {
        "between replicas": [(float(each.number), each.between / 1e6) for each in told.rounds],
        "within the replica": [(float(each.number), each.within / 1e6) for each in told.rounds],
    }
    return line(series, x_label="round", y_label="MB")


def _waiting(told: Told) -> str:
    series = [(float(each.number), each.waited) for each in told.rounds]
    return line(series, x_label="round", y_label="seconds")


def _by_replica(told: Told, value: Callable[[Round, int], float]) -> dict[str, list[tuple[float, float]]]:
    """A line for each replica through the rounds that it took part in."""
    series: dict[str, list[tuple[float, float]]] = {}
    for each in told.rounds:
        for replica in range(len(each.steps)):
            series.setdefault(f"replica {replica}", []).append((float(each.number), value(each, replica)))
    return series
