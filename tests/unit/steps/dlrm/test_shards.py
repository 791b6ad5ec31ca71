"""Shards: any rows come back as they were written; what was cut, altered or not finished is noticed."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path

import numpy as np
import pytest

from couler_py.steps.dlrm.data.encoding import Table
from couler_py.steps.dlrm.data.reading import Pieces, ahead, batches
from couler_py.steps.dlrm.data.schema import Schema
from couler_py.steps.dlrm.data.shards import Dataset, Writer, identity
from couler_py.steps.dlrm.sharding.messages import Lease, Piece

SCHEMA = Schema(dense=("I1", "I2"), sparse=("C1", "C2", "C3"))
TABLES = tuple(Table(name, 99, "hash") for name in SCHEMA.sparse)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """23 rows in files of 5."""
    writer = Writer(tmp_path / "shards", SCHEMA, TABLES, 5)
    for start, stop in ((0, 2), (2, 14), (14, 14), (14, 23)):
        numbers = np.arange(start, stop)
        dense = np.stack([numbers, -numbers], axis=1).astype(np.float32)
        writer.add((numbers % 2).astype(np.uint8), dense, np.stack([numbers] * 3, axis=1).astype(np.int32))
    assert [file.rows for file in writer.close().files] == [5, 5, 5, 5, 3]
    return tmp_path / "shards"


def test_any_range_of_rows_is_read_across_files(folder: Path) -> None:
    with Dataset(folder) as data:
        for start in range(24):
            for stop in range(start, 24):
                found = data.take(start, stop)
                expected = list(range(start, stop))
                assert found.rows.tolist() == expected
                assert found.sparse[:, 2].tolist() == expected
                assert found.dense[:, 1].tolist() == [-each for each in expected]
                assert found.label.tolist() == [each % 2 for each in expected]
        with pytest.raises(IndexError, match="rows 20 to 24: there are 23"):
            data.take(20, 24)


def test_copies_of_shards_are_the_same_data_and_other_rows_are_not(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    assert identity(tmp_path / "copy") == identity(folder)
    writer = Writer(tmp_path / "other", SCHEMA, TABLES, 5)
    writer.add(np.ones(23, np.uint8), np.zeros((23, 2), np.float32), np.zeros((23, 3), np.int32))
    writer.close()
    assert identity(tmp_path / "other") != identity(folder)


def test_other_readers_of_safetensors_read_a_file(folder: Path) -> None:
    from safetensors.numpy import load_file

    found = load_file(folder / "shard-00001.safetensors")
    assert found["sparse"].tolist() == [[each] * 3 for each in range(5, 10)]
    assert found["label"].tolist() == [1, 0, 1, 0, 1]
    assert found["dense"].shape == (5, 2)


def test_what_was_cut_altered_or_not_finished_is_noticed(folder: Path) -> None:
    file = folder / "shard-00003.safetensors"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    with pytest.raises(ValueError, match=f"shard-00003.safetensors has {len(whole) - 1} bytes, not {len(whole)}"):
        Dataset(folder)
    file.write_bytes(whole[:-1] + b"\7")
    with pytest.raises(ValueError, match=r"shard-00003.safetensors was altered"), Dataset(folder) as data:
        data.verify()
    (folder / "index.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"has no index.json: it is no folder of shards, or is not whole"):
        Dataset(folder)


def test_batches_stay_within_ranges_and_a_seed_permutes_their_rows(folder: Path) -> None:
    with Dataset(folder) as data:
        plain = [each.rows.tolist() for each in batches(data, [(4, 9), (20, 23)], 3)]
        assert plain == [[4, 5, 6], [7, 8], [20, 21, 22]]
        mixed = list(batches(data, [(0, 23)], 8, shuffle=(1, "epoch", 0)))
        order = np.concatenate([each.rows for each in mixed])
        assert sorted(order.tolist()) == list(range(23)) != order.tolist()
        assert np.concatenate([each.sparse[:, 0] for each in mixed]).tolist() == order.tolist()
        again = [each.rows.tolist() for each in batches(data, [(0, 23)], 8, shuffle=(1, "epoch", 0))]
        other = [each.rows.tolist() for each in batches(data, [(0, 23)], 8, shuffle=(1, "epoch", 1))]
        assert again == [each.rows.tolist() for each in mixed] != other
        with pytest.raises(ValueError, match="batches of 0 rows"):
            next(batches(data, [(0, 3)], 0))


def test_a_shard_is_read_on_from_its_cursor_in_the_same_order(folder: Path) -> None:
    with Dataset(folder) as data:
        whole = [batch.rows.tolist() for batch, _ in Pieces(data, seed=3).leased(Lease(1, 0, 5, 16), 4)]
        order = list(itertools.chain(*whole))
        assert sorted(order) == list(range(5, 16)) != order
        later = [
            (batch.rows.tolist(), cursor) for batch, cursor in Pieces(data, seed=3).leased(Lease(9, 0, 5, 16, 4), 4)
        ]
        assert later == [(whole[1], 8), (whole[2], 11)]
        assert [batch.rows.tolist() for batch, _ in Pieces(data).leased(Lease(1, 0, 5, 8), 2)] == [[5, 6], [7]]
        assert next(Pieces(data, seed=3).leased(Lease(1, 1, 5, 16), 4))[0].rows.tolist() != whole[0]


def test_pieces_of_several_shards_are_one_batch(folder: Path) -> None:
    with Dataset(folder) as data:
        found = Pieces(data).drawn([Piece(0, 0, 10, 8, 10), Piece(0, 20, 23, 0, 3)])
        assert found.rows.tolist() == found.sparse[:, 0].tolist() == [8, 9, 20, 21, 22]
        with pytest.raises(ValueError, match="a batch of no pieces"):
            Pieces(data).drawn([])


def test_what_is_read_ahead_comes_in_order_and_so_do_errors() -> None:
    def numbers():
        yield from range(20)
        raise RuntimeError("the disk is gone")

    reader = ahead(numbers(), 3)
    assert [next(reader) for _ in range(20)] == list(range(20))
    with pytest.raises(RuntimeError, match="the disk is gone"):
        next(reader)


def test_nobody_reads_ahead_for_a_reader_who_left() -> None:
    import threading

    before = threading.active_count()
    reader = ahead(iter(range(10**9)), 2)
    assert next(reader) == 0
    reader.close()
    assert threading.active_count() == before


def test_a_folder_without_rows_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no row to write"):
        Writer(tmp_path / "none", SCHEMA, TABLES, 5).close()
