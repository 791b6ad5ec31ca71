"""What a training that planned for its hardware was like, as numbers and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from couler_py.report.cards import Plot, Table
from couler_py.report.page import Section, page
from couler_py.report.plots.xy import line

if TYPE_CHECKING:
    from couler_py.steps.hybrid.plan import Pipeline
    from couler_py.steps.hybrid.runtime.training import Told
    from couler_py.steps.hybrid.task import Task


def write(task: Task, told: Told, folder: Path) -> None:
    """Write metrics.json and report.html."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metrics.json").write_bytes(msgspec.json.encode(told))
    (folder / "report.html").write_text(report(task, told), encoding="utf-8")


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
            f"{each.seconds:.3f}",
        )
        for each in told.plans
    ]
    cards = [
        Section("Seconds of a step", (Plot("Seconds", line(seconds, x_label="steps", y_label="seconds")),)),
        Section("Loss", (Plot("Loss", line(losses, x_label="steps", y_label="loss")),)),
        Section(
            "Plans",
            (Table(("from step", "why", "predicted seconds of a step", "bytes moved", "seconds"), tuple(changes)),),
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
