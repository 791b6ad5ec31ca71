"""From files of a table to shards: rows parsed, categories encoded, what is no row set aside, and a report of all."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
import numpy as np

from couler_py.steps.dlrm.data import parquet, tsv
from couler_py.steps.dlrm.data.counting import Counter
from couler_py.steps.dlrm.data.encoding import Dictionary, Encoder, Hashing, Method, numeric
from couler_py.steps.dlrm.data.quarantine import quarantined
from couler_py.steps.dlrm.data.report import Seen, report
from couler_py.steps.dlrm.data.rows import Bad, Rows
from couler_py.steps.dlrm.data.schema import CRITEO, Schema
from couler_py.steps.dlrm.data.shards import Index, Writer

TRAIN, TEST, REPORT = "train", "test", "report.json"
BLOCK = 32_768  # rows that are encoded at once


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a table is prepared. Raises `ValueError` for what makes no sense."""

    method: Method = "dictionary"
    rows: int = 1_000_000
    """Rows of an embedding table: of each with "hash", at most with "dictionary"."""
    rows_of: Mapping[str, int] = {}
    """The same for columns that differ."""
    threshold: int = 1
    """With "dictionary", how often a category occurs to have a place of its own."""
    holdout: float = 0.0
    """The part of the rows, the last ones, that is for testing: what comes later is what is to be predicted."""
    rows_per_file: int = 262_144
    bad: float = 0.01
    """The part of the rows that may be none."""
    schema: Schema = CRITEO

    def __post_init__(self) -> None:
        unknown = sorted(set(self.rows_of) - set(self.schema.sparse))
        if unknown:
            raise ValueError(f"rows_of names {unknown[0]!r}: sparse columns are {', '.join(self.schema.sparse)}")
        least = min([self.rows, *self.rows_of.values()])
        if least < 3:
            raise ValueError(f"a table of {least} rows: it has at least 3")
        if self.threshold < 1:
            raise ValueError(f"a threshold of {self.threshold}: it is at least 1")
        if not 0 <= self.holdout < 1 or not 0 <= self.bad <= 1:
            raise ValueError("holdout is 0 or more and below 1; bad is 0 to 1")

    def table(self, column: str) -> int:
        """Rows of a column's table."""
        return self.rows_of.get(column, self.rows)


def sources(data: Path) -> list[Path]:
    """The files of a table: the one that is named, or those of a folder in the order of their names.

    `day_2` comes before `day_10`. Raises `FileNotFoundError` where there is none.
    """
    if data.is_dir():
        inside = [each for each in data.iterdir() if each.is_file() and not each.name.startswith((".", "_"))]
        found = sorted(inside, key=_order)
    else:
        found = [data] if data.exists() else []
    if not found:
        raise FileNotFoundError(f"there is no file of a table at {data}")
    return found


def _order(path: Path) -> list[tuple[int, str]]:
    """Numbers in a name are compared as numbers."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|\D+", path.name)]


def read(path: Path, schema: Schema) -> Iterator[tuple[Rows, list[Bad]]]:
    """The rows of a file, TSV or Parquet (told by its first bytes), and what in it is none."""
    with open(path, "rb") as file:
        columnar = file.read(4) == b"PAR1"
    return parquet.read(path, schema) if columnar else tsv.read(path, schema)


def prepare(data: Path, out: Path, settings: Settings = Settings()) -> tuple[Index, Index | None]:
    """Write `train/`, `test/` (where rows are held out), `report.json` and what was set aside into a folder.

    Rows stay in their order. What is no row stands in `quarantine.txt` as it was, with its reason in
    `quarantine.jsonl`. A dictionary and a holdout each need a pass before.

    Raises `ValueError` where more rows than `settings.bad` are none, with the first reasons.
    """
    began = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    files = sources(data)
    encoders, total = _encoders(files, settings)
    kept = total - round(total * settings.holdout) if total is not None else None
    seen = Seen(settings.schema, [each.table for each in encoders])
    tables = tuple(each.table for each in encoders)
    train = Writer(out / TRAIN, settings.schema, tables, settings.rows_per_file)
    test = Writer(out / TEST, settings.schema, tables, settings.rows_per_file) if settings.holdout else None
    with quarantined(out) as quarantine:
        for rows in _gathered(files, settings.schema, quarantine.add):
            sparse = np.stack(
                [
                    encoder.places(rows.sparse[:, column], rows.sparse_known[:, column])
                    for column, encoder in enumerate(encoders)
                ],
                axis=1,
            )
            dense = numeric(rows.dense, rows.dense_known)
            edge = len(rows) if kept is None else min(len(rows), max(0, kept - seen.rows))
            train.add(rows.label[:edge], dense[:edge], sparse[:edge])
            if test is not None:
                test.add(rows.label[edge:], dense[edge:], sparse[edge:])
            seen.add(rows, sparse)
    quarantine.judge(seen.rows, settings.bad)
    found = train.close(), test.close() if test is not None else None
    told = report(seen, quarantine.reasons, time.monotonic() - began)
    (out / REPORT).write_text(json.dumps(told, indent=1), encoding="utf-8")
    return found


def _encoders(files: list[Path], settings: Settings) -> tuple[list[Encoder], int | None]:
    """What encodes each column, and how many rows there are where that had to be found out."""
    names = settings.schema.sparse
    counters = [Counter() for _ in names] if settings.method == "dictionary" else []
    total = None
    if counters or settings.holdout:
        total = 0
        for rows in _gathered(files, settings.schema, lambda *_: None):
            total += len(rows)
            for column, counter in enumerate(counters):
                counter.add(rows.sparse[rows.sparse_known[:, column], column])
    if not counters:
        return [Hashing(name, settings.table(name)) for name in names], total
    return [
        Dictionary(name, *counter.counted(), threshold=settings.threshold, most=settings.table(name))
        for name, counter in zip(names, counters, strict=True)
    ], total


def _gathered(files: list[Path], schema: Schema, bad: Callable[[Path, Bad], None]) -> Iterator[Rows]:
    """The rows of all files in blocks that are worth encoding."""
    waiting: list[Rows] = []
    for path in files:
        for rows, wrong in read(path, schema):
            for each in wrong:
                bad(path, each)
            waiting.append(rows)
            if sum(map(len, waiting)) >= BLOCK:
                yield Rows.joined(waiting)
                waiting = []
    if waiting:
        yield Rows.joined(waiting)
