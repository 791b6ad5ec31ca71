"""Tables as Parquet: the same rows as in text, whoever wrote them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pyarrow
import pytest
from pyarrow import parquet as arrow

from couler_py.steps.dlrm.data import parquet, tsv
from couler_py.steps.dlrm.data.preparing import Settings, prepare
from couler_py.steps.dlrm.data.rows import Rows
from couler_py.steps.dlrm.data.schema import CRITEO, Schema
from couler_py.steps.dlrm.data.shards import Dataset
from couler_py.steps.dlrm.data.synthetic import Synthetic, blocks, made

SMALL = Schema(dense=("I1",), sparse=("C1",))


def test_rows_come_back_as_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "BLOCK", 100)
    monkeypatch.setattr("couler_py.steps.dlrm.data.synthetic.BLOCK", 170)
    assert parquet.write(tmp_path / "day.parquet", blocks(Synthetic(), 500), CRITEO) == 500
    found = list(parquet.read(tmp_path / "day.parquet", CRITEO))
    assert all(not bad for _, bad in found)
    assert tsv.formatted(Rows.joined([rows for rows, _ in found])) == tsv.formatted(made(Synthetic(), 0, 500)[0])


def test_what_pandas_writes_is_understood_and_prepared_to_the_same_shards(tmp_path: Path) -> None:
    (tmp_path / "day").write_bytes(tsv.formatted(made(Synthetic(), 0, 400)[0]))
    frame = pandas.read_csv(tmp_path / "day", sep="\t", names=CRITEO.columns, dtype=dict.fromkeys(CRITEO.sparse, "str"))
    assert frame["I1"].dtype == np.float64  # gaps are NaN
    frame["C3"] = frame["C3"].astype("category")
    frame.to_parquet(tmp_path / "day.parquet")
    for name in ("day", "day.parquet"):
        prepare(tmp_path / name, tmp_path / f"{name}-out", Settings())
    with Dataset(tmp_path / "day-out/train") as one, Dataset(tmp_path / "day.parquet-out/train") as other:
        assert one.index == other.index


def test_integers_are_categories_too() -> None:
    frame = pyarrow.record_batch({"label": [True, False], "I1": [1, None], "C1": [0xFFFFFFFF, None]})
    rows, bad = parquet._rows(frame, SMALL, "day.parquet", 1)
    assert not bad
    assert (rows.label.tolist(), rows.sparse.tolist()) == ([1, 0], [[0xFFFFFFFF], [0]])
    assert rows.sparse_known.tolist() == [[True], [False]]


def test_what_is_no_row_is_told(tmp_path: Path) -> None:
    columns = {
        "label": [0, 2, None, 1, 1, 1],
        "I1": [1.0, 1.0, 1.0, 1.5, 1e10, 7.0],
        "C1": ["aa", "aa", "aa", "aa", "aa", "x"],
    }
    arrow.write_table(pyarrow.table(columns), tmp_path / "day.parquet")
    [(rows, bad)] = parquet.read(tmp_path / "day.parquet", SMALL)
    assert rows.dense.tolist() == [[1]]
    assert [(each.row, each.reason) for each in bad] == [
        (2, "label is not 0 or 1"),
        (3, "label is not 0 or 1"),
        (4, "I1 is 1.5, no integer of 32 bits"),
        (5, "I1 is 10000000000.0, no integer of 32 bits"),
        (6, "C1 is 'x', no number of up to 8 hexadecimal digits"),
    ]
    assert bad[-1].text == b"1\t7.0\tx"


def test_columns_that_are_missing_or_of_another_kind_are_named(tmp_path: Path) -> None:
    arrow.write_table(pyarrow.table({"label": [1], "I1": [1]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"a.parquet has no column 'C1'; its columns are I1, label"):
        list(parquet.read(tmp_path / "a.parquet", SMALL))
    arrow.write_table(pyarrow.table({"label": [1], "I1": ["1"], "C1": ["aa"]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"I1 of b.parquet is a column of string: it holds integers"):
        list(parquet.read(tmp_path / "b.parquet", SMALL))
