"""What became of a queue of trainings, as numbers and as a page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from couler_py.report.cards import Plot, Table
from couler_py.report.page import Section, page
from couler_py.report.plots.xy import line
from couler_py.steps.lora.progress import FINISHED, Progress, last_losses

if TYPE_CHECKING:
    from couler_py.steps.lora.jobs import Job


class Results(msgspec.Struct, frozen=True):
    """How each job went, and what all of them took together."""

    jobs: dict[str, Progress]
    seconds: float
    peak: int
    """Bytes: the base, all that was at work at once, and the largest pass."""
    base: int
    """Bytes of the base alone."""
    turns: int
    passes: int
    padding: float
    """The part of all places in passes that held no token."""
    refused: dict[str, str] = {}
    """Files of the inbox that were no jobs."""

    @property
    def finished(self) -> tuple[str, ...]:
        """Jobs that made all their steps, or stopped early."""
        return tuple(name for name, each in self.jobs.items() if each.state in FINISHED)

    @property
    def losses(self) -> dict[str, float]:
        """Of each that finished and moved: on its held-out lines, or of its last step where there are none."""
        return last_losses(self.jobs)

    @property
    def failed(self) -> dict[str, str]:
        """All others, with the reason."""
        return {name: f"{each.state}: {each.reason}" for name, each in self.jobs.items() if name not in self.finished}


def write(results: Results, jobs: Mapping[str, Job], folder: Path) -> None:
    """Write results.json and report.html."""
    (folder / "results.json").write_bytes(msgspec.json.encode(results))
    (folder / "report.html").write_text(report(results, jobs), encoding="utf-8")


def report(results: Results, jobs: Mapping[str, Job]) -> str:
    """A page: a row for each job, their losses, and what all of it took."""
    cards = [
        Section("Jobs", (_table(results, jobs),)),
        Section("Loss", (Plot("Loss of each step", _losses(results)),)),
    ]
    facts = {
        "jobs": len(results.jobs),
        "finished": len(results.finished),
        "seconds": round(results.seconds, 1),
        "peak MB": round(results.peak / 1e6, 1),
        "of which the base": round(results.base / 1e6, 1),
        "passes": results.passes,
        "padding": f"{results.padding:.1%}",
    }
    return page("Many trainings on one base", cards, facts=facts)


def _table(results: Results, jobs: Mapping[str, Job]) -> Table:
    rows = []
    for name, each in results.jobs.items():
        job = jobs[name]
        kind = f"{type(job.objective).__name__}, {job.adapter.method}, rank {job.adapter.rank}"
        last = each.losses[-1] if each.losses else ""
        held_out = each.seen[-1][1] if each.seen else ""
        rows.append((name, kind, each.state, each.reason, each.step, each.tokens, last, held_out))
    return Table(("job", "kind", "state", "why", "steps", "tokens", "last loss", "held out"), tuple(rows))


def _losses(results: Results) -> str:
    series = {
        name: [(float(number), loss) for number, loss in enumerate(each.losses, 1)]
        for name, each in results.jobs.items()
        if each.losses
    }
    return line(series, x_label="steps", y_label="loss")
