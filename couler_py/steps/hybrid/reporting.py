"""What a training that planned for its hardware was like, as numbers and as a page."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from couler_py.report.cards import Card, Plot, Table, Text
from couler_py.report.page import Section, page
from couler_py.report.plots.lanes import Lane, lanes
from couler_py.report.plots.xy import line
from couler_py.steps.trace import Trace

if TYPE_CHECKING:
    from couler_py.steps.hybrid.plan import Pipeline
    from couler_py.steps.hybrid.task import Task
    from couler_py.steps.hybrid.telling import Spans, Told

KINDS = {"F": "forward", "B": "backward", "W": "weights"}
EMULATED = (
    "Computation is emulated: each rank really computes something small, and waits for the rest of the time that a "
    "layer is said to take. Transfers, sums, the optimizer, changes of plans and losses are real."
)


def write(task: Task, told: Told, folder: Path) -> None:
    """Write metrics.json, report.html and trace.json."""
    folder.mkdir(parents=True, exist_ok=True)
    trace(told).write(folder / "trace.json")
    (folder / "metrics.json").write_bytes(msgspec.json.encode(told))
    (folder / "report.html").write_text(report(task, told), encoding="utf-8")


def trace(told: Told) -> Trace:
    """The steps that were looked at as a Chrome trace, one after the other."""
    made = Trace()
    at = 0.0
    for each in told.pictures:
        for rank, spans in sorted(each.ranks.items()):
            for kind, start, end in spans:
                made.span(
                    KINDS[kind],
                    process=f"rank {rank}",
                    thread="compute",
                    start=at + start,
                    seconds=end - start,
                    step=each.step,
                )
        at += _length(each.ranks.values()) * 1.1
    return made


def pictures(told: Told) -> list[Card]:
    """Who computed what when in those steps, all in one scale."""
    upto = max((_length(each.ranks.values()) for each in told.pictures), default=0.0)
    found: list[Card] = []
    for each in told.pictures:
        rows = [
            Lane(
                f"rank {rank}" if rank in each.ranks else f"rank {rank}, lost",
                tuple((KINDS[kind], start, end) for kind, start, end in each.ranks.get(rank, ())),
            )
            for rank in range(told.ranks)
        ]
        found.append(Plot(f"Step {each.step}", lanes(rows, title=f"Step {each.step}", upto=upto)))
    return found


def _length(rows: Iterable[Spans]) -> float:
    return max((end for spans in rows for _, _, end in spans), default=0.0)


def report(task: Task, told: Told) -> str:
    """A page: seconds of each step, losses, who was slow, and the plans that followed."""
    seconds = {"a step": [(float(each.step), each.seconds) for each in told.steps]}
    losses = {"training": [(float(each.step), each.loss) for each in told.steps]}
    plans = [
        (each.step, number, "·".join(str(stage.count) for stage in pipeline.stages), pipeline.micros, _ranks(pipeline))
        for each in told.plans
        for number, pipeline in enumerate(each.plan.pipelines)
    ]
    changes = [
        (
            each.step,
            each.why,
            "" if each.predicted is None else f"{each.predicted:.3f}",
            each.moved,
            each.read,
            f"{each.seconds:.3f}",
        )
        for each in told.plans
    ]
    cards = [
        *([Section("", (Text(EMULATED),))] if task.emulated else []),
        Section("Seconds of a step", (Plot("Seconds", line(seconds, x_label="steps", y_label="seconds")),)),
        Section("Loss", (Plot("Loss", line(losses, x_label="steps", y_label="loss")),)),
        Section("Who computed when", tuple(pictures(told))),
        Section(
            "Plans",
            (
                Table(
                    ("from step", "why", "predicted seconds of a step", "bytes moved", "bytes read", "seconds"),
                    tuple(changes),
                ),
            ),
        ),
        Section(
            "Who does what",
            (Table(("from step", "pipeline", "layers by stage", "micro-batches", "ranks by stage"), tuple(plans)),),
        ),
        Section("News", (Table(("after step", "what"), told.news),)),
    ]
    facts = {
        "ranks": told.ranks,
        "pipelines": task.pipelines,
        "micro-batches": task.micros,
        "samples": told.consumed,
        "seconds": round(told.seconds, 1),
        "computation": "emulated by waiting" if task.emulated else "real",
    }
    return page("Training on uneven hardware", cards, facts=facts)


def _ranks(pipeline: Pipeline) -> str:
    return " · ".join("+".join(map(str, stage.ranks)) for stage in pipeline.stages)
