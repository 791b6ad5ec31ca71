"""What a training of a recommender was like, as numbers and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from couler_py.report.cards import Plot, Table
from couler_py.report.page import Section, page
from couler_py.report.plots.xy import line

if TYPE_CHECKING:
    from couler_py.steps.dlrm.judging import Judged
    from couler_py.steps.dlrm.task import Task
    from couler_py.steps.dlrm.training import Told


def write(task: Task, told: Told, folder: Path) -> None:
    """Write metrics.json and report.html."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = msgspec.to_builtins(told) | {"rows_per_second": told.rows_per_second}
    (folder / "metrics.json").write_bytes(msgspec.json.encode(numbers))
    (folder / "report.html").write_text(report(task, told), encoding="utf-8")


def report(task: Task, told: Told) -> str:
    """A page: losses, how good it was and when, whether probabilities are right."""
    losses = [(float(told.begun_at + number), loss) for number, loss in enumerate(told.losses, 1)]
    cards = [Section("Loss", (Plot("Loss", line({"rows of the step": losses}, x_label="steps", y_label="loss")),))]
    if told.seen:
        names = ("step", "AUC", "log loss", "normalised entropy", "calibration")
        rows = tuple((each.step, *_numbers(each.judged)) for each in told.seen)
        bins = told.seen[-1].judged.bins
        right = {
            "observed": [(each.predicted, each.observed) for each in bins],
            "right": [(each.predicted, each.predicted) for each in bins],
        }
        plot = line(right, x_label="predicted", y_label="clicked")
        cards += [Section("Rows for testing", (Table(names, rows),)), Section("Calibration", (Plot("Bins", plot),))]
    if len(told.lives) > 1:
        cards.append(Section("Who trained", (Table(("from step", "ranks"), told.lives),)))
    if told.decisions:
        decided = tuple((each.stage, each.choice, each.why) for each in told.decisions)
        cards.append(Section("What was decided", (Table(("stage", "choice", "because"), decided),)))
    facts = {
        "model": task.shape.kind,
        "ranks": told.ranks,
        "steps": told.steps,
        "rows": told.rows,
        "rows a second": round(told.rows_per_second),
        "began at step": told.begun_at,
        "moves of tables": len(told.moved),
    }
    return page("A recommender's training", cards, facts=facts)


def _numbers(judged: Judged) -> tuple[float, ...]:
    return judged.auc, judged.log_loss, judged.normalised_entropy, judged.calibration
