"""A table becomes shards: all rows, in their order, or set aside with a reason; and a report that is exact."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from couler_py.steps.dlrm.data import tsv
from couler_py.steps.dlrm.data.preparing import Settings, prepare, sources
from couler_py.steps.dlrm.data.rows import Rows
from couler_py.steps.dlrm.data.schema import Schema
from couler_py.steps.dlrm.data.shards import Dataset
from couler_py.steps.dlrm.data.synthetic import Synthetic, made

SCHEMA = Schema(dense=("I1",), sparse=("C1", "C2"))
LINES = """1\t3\taa\tb1
0\t\taa\tb2
0\t-2\tcc\t
1\t5\taa\tb2
0\tx\taa\tb2
0\t0\tdd\tb1
"""


def table(folder: Path, text: str = LINES, name: str = "day_0") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    return folder


def test_rows_are_encoded_in_their_order_and_the_last_are_held_out(tmp_path: Path) -> None:
    settings = Settings(schema=SCHEMA, holdout=0.4, bad=0.2, threshold=2, rows_per_file=2)
    prepare(table(tmp_path / "raw"), tmp_path / "out", settings)
    with Dataset(tmp_path / "out" / "train") as train, Dataset(tmp_path / "out" / "test") as test:
        first, last = train.take(0, 3), test.take(0, 2)
        assert [file.rows for file in train.index.files] == [2, 1]
        assert [(each.column, each.rows) for each in train.index.tables] == [("C1", 3), ("C2", 4)]
    assert first.label.tolist() == [1, 0, 0]
    assert first.dense.tolist() == [[pytest.approx(np.log(4))], [0.0], [0.0]]
    assert first.sparse.tolist() == [[2, 2], [2, 3], [1, 0]]  # aa; cc is rare; b1 and b2 occur twice
    assert (last.label.tolist(), last.sparse.tolist()) == ([1, 0], [[2, 3], [1, 2]])


def test_what_is_no_row_is_set_aside_as_it_was_and_reported(tmp_path: Path) -> None:
    prepare(table(tmp_path / "raw"), tmp_path / "out", Settings(schema=SCHEMA, bad=0.2))
    told = json.loads((tmp_path / "out" / "report.json").read_text())
    assert told["quarantined"] == {"rows": 1, "by": {"I1": 1}}
    assert (tmp_path / "out" / "quarantine.txt").read_bytes() == b"0\tx\taa\tb2\n"
    [reason] = (tmp_path / "out" / "quarantine.jsonl").read_text().splitlines()
    assert json.loads(reason) == {"file": "day_0", "row": 5, "reason": "I1 is 'x', no integer of 32 bits"}


def test_too_much_that_is_no_row_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"1 of 6 rows are none, more than bad=0.01 allows: row 5 of day_0: I1 is 'x'"):
        prepare(table(tmp_path / "raw"), tmp_path / "out", Settings(schema=SCHEMA))


def test_the_report_counts_clicks_gaps_categories_and_rare_ones(tmp_path: Path) -> None:
    prepare(table(tmp_path / "raw"), tmp_path / "out", Settings(schema=SCHEMA, bad=0.2, threshold=2))
    told = json.loads((tmp_path / "out" / "report.json").read_text())
    assert (told["rows"], told["click_rate"], told["embedding_rows"]) == (5, 0.4, 7)
    assert told["dense"] == {"I1": {"missing": 0.2}}
    column = told["sparse"]["C1"]
    assert {name: column[name] for name in ("table_rows", "used_rows", "distinct", "missing", "rare")} == {
        "table_rows": 3, "used_rows": 2, "distinct": 3, "missing": 0.0, "rare": 0.4,
    }  # fmt: skip


def test_hashing_reports_its_collisions(tmp_path: Path) -> None:
    rows, _ = made(Synthetic(), 0, 3000)
    (tmp_path / "day").write_bytes(tsv.formatted(rows))
    prepare(tmp_path / "day", tmp_path / "out", Settings(method="hash", rows=500, rows_of={"C1": 40}))
    told = json.loads((tmp_path / "out" / "report.json").read_text())["sparse"]
    assert told["C1"]["table_rows"] == 40
    for column, each in enumerate(told.values()):
        distinct = len(np.unique(rows.sparse[rows.sparse_known[:, column], column]))
        assert each["distinct"] == distinct
        assert each["collisions"] == distinct - each["used_rows"]
        assert each["collisions"] == pytest.approx(each["expected_collisions"], abs=25)


def test_the_same_table_gives_the_same_bytes_however_it_lies_in_files(tmp_path: Path) -> None:
    rows, _ = made(Synthetic(), 0, 1200)
    one, many = tmp_path / "one", tmp_path / "many"
    one.mkdir()
    many.mkdir()
    (one / "day_0").write_bytes(tsv.formatted(rows))
    for day in range(12):
        (many / f"day_{day}").write_bytes(tsv.formatted(rows.chosen(slice(100 * day, 100 * day + 100))))
    for name in ("one", "many"):
        prepare(tmp_path / name, tmp_path / f"{name}-out", Settings(rows_per_file=500))
    for file in ("index.json", "shard-00000.safetensors", "shard-00002.safetensors"):
        assert (tmp_path / "one-out/train" / file).read_bytes() == (tmp_path / "many-out/train" / file).read_bytes()


def test_days_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for name in ("day_10", "day_2.gz", "day_0", "_SUCCESS", ".part"):
        (tmp_path / name).write_bytes(b"")
    assert [each.name for each in sources(tmp_path)] == ["day_0", "day_2.gz", "day_10"]
    with pytest.raises(FileNotFoundError, match="there is no file of a table at"):
        sources(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"rows_of": {"C99": 5}}, "rows_of names 'C99': sparse columns are C1"),
        ({"rows": 2}, "a table of 2 rows: it has at least 3"),
        ({"threshold": 0}, "a threshold of 0"),
        ({"holdout": 1.0}, "holdout is 0 or more and below 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Settings(**settings)


def test_no_row_is_lost_between_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("couler_py.steps.dlrm.data.preparing.BLOCK", 64)
    monkeypatch.setattr(tsv, "BLOCK", 4096)
    rows, _ = made(Synthetic(), 0, 777)
    (tmp_path / "day").write_bytes(tsv.formatted(rows))
    prepare(tmp_path / "day", tmp_path / "out", Settings(rows_per_file=100, holdout=0.25))
    with Dataset(tmp_path / "out/train") as train, Dataset(tmp_path / "out/test") as test:
        labels = np.concatenate([train.take(0, len(train)).label, test.take(0, len(test)).label])
    assert (len(train), len(test)) == (583, 194)
    assert labels.tolist() == Rows.joined([rows]).label.tolist()
