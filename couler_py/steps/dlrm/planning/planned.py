"""A training of `dlrm.train` planned from what is asked, what its data is like, and what ran here; written down."""

from __future__ import annotations

from pathlib import Path

import msgspec

from couler_py.report.cards import Plot, Table, Text
from couler_py.report.page import Section, page
from couler_py.report.plots.xy import line
from couler_py.steps.dlrm.data.shards import Dataset, identity
from couler_py.steps.dlrm.planning.allocation import GIB
from couler_py.steps.dlrm.planning.deciding import Decided, Wanted, decide
from couler_py.steps.dlrm.planning.decisions import Decision, as_text
from couler_py.steps.dlrm.planning.memory import activation_bytes, table_bytes
from couler_py.steps.dlrm.planning.records import features_of, load_of, recorded
from couler_py.steps.dlrm.planning.scaling import Needs
from couler_py.steps.dlrm.planning.step import Asked
from couler_py.store.database import StoreError

TABLES = 26
"""Of Criteo's format, where the data isn't known yet."""
PROCESS = 0.5 * GIB
"""Of a process that has imported torch."""


def planned(asked: str, data: Path | None = None, home: str | None = None) -> Decided:
    """The plan for what is asked (JSON of `Asked`), with the sizes of tables where the shards are there already.

    `home` is the store of runs that is read where nothing else was said; one that can't be read counts as none, and the
    first decision says so. Raises `ValueError` for what is no `Asked`.
    """
    given = msgspec.json.decode(asked, type=Asked)
    task, width = given.task, given.task.shape.table_width
    tables, rows, needs, of = TABLES, 0.0, Needs(), ""
    if data is not None:
        with Dataset(data) as shards:
            sizes = [each.rows for each in shards.index.tables]
            rows = float(len(shards))
        tables, of = len(sizes), identity(data)
        part = -(-task.batch // task.micro_batches)
        shared = sum(table_bytes(each, width, task.row_optimizer) for each in sizes)
        needs = Needs(PROCESS + activation_bytes(part, tables, width), shared if task.shape.kind != "dense" else 0.0)
    wanted = Wanted(
        given.job,
        features_of(task, rows=rows, data=of, tables=tables),
        load_of(task, tables),
        given.space,
        given.goal,
        needs,
        measured=given.measured,
        rows=rows * task.epochs,
        explore=given.explore,
    )
    try:
        return decide(wanted, (*given.history, *recorded(given.home or home or _around())))
    except StoreError as error:
        found = decide(wanted, given.history)
        unread = Decision("warm start", "no earlier runs", str(error), confidence="low")
        return msgspec.structs.replace(found, decisions=(unread, *found.decisions))


def _around() -> str | None:
    """The home that this process works in, as a step does: the folder above that has a store of runs."""
    found = next((each for each in Path.cwd().parents if (each / "couler.sqlite").exists()), None)
    return str(found) if found is not None else None


def lines(found: Decided) -> list[str]:
    """A plan in words: what is given, and each decision."""
    speed = "nobody knows how fast" if found.rows_per_second is None else f"{found.rows_per_second:,.0f} rows a second"
    return [f"{found.allocation}: {speed}, {found.confidence} confidence", *as_text(found.decisions)]


def write(found: Decided, folder: Path) -> None:
    """Write plan.json and plan.html into a new folder."""
    folder.mkdir(parents=True)
    (folder / "plan.json").write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1))
    (folder / "plan.html").write_text(report(found), encoding="utf-8")


def report(found: Decided) -> str:
    """A page: what was decided and why, what was rejected, and what speed costs."""
    given = found.allocation
    sections = []
    for each in found.decisions:
        cards: list[Text | Table] = [Text(f"{each.choice}\nbecause {each.why}")]
        if each.inputs:
            cards.append(Table(("from", ""), tuple(each.inputs.items())))
        if each.rejected:
            cards.append(Table(("not chosen", "why"), tuple((other.choice, other.why) for other in each.rejected)))
        sections.append(Section(each.stage.capitalize(), tuple(cards)))
    if len(found.front) > 1:
        curve = {"undominated": [(cost, speed) for _, cost, speed in found.front]}
        plot = line(curve, x_label="cost an hour", y_label="rows a second")
        sections.insert(0, Section("What speed costs", (Plot("Undominated allocations", plot),)))
    facts = {
        "workers": given.workers,
        "cores of a worker": given.worker_cores,
        "GiB of a worker": round(given.worker_memory / GIB, 3),
        "rows a second": round(found.rows_per_second) if found.rows_per_second is not None else "unknown",
        "cost an hour": found.cost,
        "confidence": found.confidence,
    }
    return page("A plan for a recommender's training", sections, facts=facts)
