"""Rows a second that a core brings to training, beside loaders that are made of pandas, and the memory of a long read.

    .venv-train/bin/python -m benchmarks.dlrm.input [--rows 400000] [--long 10000000] [--batch 2048]

All loaders give the same: batches of labels, 13 numbers as log(1 + x), and 26 places in tables of a million rows. A
rate is rows by seconds of processor, all threads of a process counted. Rows are of `dlrm.generate`. For the long read
131,072 rows are written again and again, until there are so many: what is read is as large as if they differed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from pyarrow import parquet as arrow

from couler_py.steps.dlrm.data import synthetic, tsv
from couler_py.steps.dlrm.data.encoding import Hashing, numeric
from couler_py.steps.dlrm.data.preparing import Settings, prepare
from couler_py.steps.dlrm.data.reading import Pieces, batches
from couler_py.steps.dlrm.data.schema import CRITEO
from couler_py.steps.dlrm.data.shards import Dataset, Writer
from couler_py.steps.dlrm.sharding.messages import Lease

TABLE = 1_000_000
Batches = Iterator[tuple[Any, Any, Any]]


def pandas_text(path: Path, batch: int) -> Batches:
    """Text, as people load it: chunks of pandas, gaps filled, categories hashed by pandas."""
    types = dict.fromkeys(CRITEO.sparse, "str")
    for frame in pandas.read_csv(path, sep="\t", names=CRITEO.columns, dtype=types, chunksize=65_536):
        dense = np.log1p(frame[list(CRITEO.dense)].fillna(0).clip(lower=0)).to_numpy(np.float32)
        places = [
            pandas.util.hash_array(frame[name].fillna("").to_numpy(object), categorize=False) % TABLE
            for name in CRITEO.sparse
        ]
        yield from cut(frame["label"].to_numpy(np.float32), dense, np.stack(places, axis=1).astype(np.int32), batch)


def pandas_prepared(path: Path, batch: int) -> Batches:
    """The same rows, encoded before and kept as Parquet: row groups as frames of pandas, cut into batches."""
    with arrow.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            frame = file.read_row_group(group).to_pandas()
            dense = frame[list(CRITEO.dense)].to_numpy(np.float32)
            sparse = frame[list(CRITEO.sparse)].to_numpy(np.int32)
            yield from cut(frame["label"].to_numpy(np.float32), dense, sparse, batch)


def pandas_shuffled(path: Path, batch: int) -> Batches:
    """The same, each row group shuffled."""
    with arrow.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            frame = file.read_row_group(group).to_pandas().sample(frac=1, random_state=group)
            dense = frame[list(CRITEO.dense)].to_numpy(np.float32)
            sparse = frame[list(CRITEO.sparse)].to_numpy(np.int32)
            yield from cut(frame["label"].to_numpy(np.float32), dense, sparse, batch)


def ours_text(path: Path, batch: int) -> Batches:
    """Text, parsed and hashed on the way."""
    encoders = [Hashing(name, TABLE) for name in CRITEO.sparse]
    for rows, _ in tsv.read(path, CRITEO):
        places = [each.places(rows.sparse[:, n], rows.sparse_known[:, n]) for n, each in enumerate(encoders)]
        dense = numeric(rows.dense, rows.dense_known)
        yield from cut(rows.label.astype(np.float32), dense, np.stack(places, axis=1), batch)


def ours_prepared(folder: Path, batch: int) -> Batches:
    """Shards, as they lie."""
    with Dataset(folder) as data:
        for each in batches(data, [(0, len(data))], batch):
            yield each.label, each.dense, each.sparse


def ours_shuffled(folder: Path, batch: int) -> Batches:
    """Shards of a master, each shuffled."""
    with Dataset(folder) as data:
        pieces = Pieces(data, seed=0)
        for start in range(0, len(data), 65_536):
            lease = Lease(1, 0, start, min(len(data), start + 65_536))
            for each, _ in pieces.leased(lease, batch):
                yield each.label, each.dense, each.sparse


def cut(label: Any, dense: Any, sparse: Any, batch: int) -> Batches:
    for first in range(0, len(label), batch):
        part = slice(first, first + batch)
        yield label[part], dense[part], sparse[part]


def rate(loader: Callable[[Path, int], Batches], path: Path, batch: int, rows: int, repeats: int = 3) -> float:
    """The best of some runs, in rows for each second of processor. A loader that isn't read whole is an error."""
    best = 0.0
    for _ in range(repeats):
        began, seen = time.process_time(), 0
        for label, dense, sparse in loader(path, batch):
            assert dense.shape == (len(label), 13)
            assert sparse.shape == (len(label), 26)
            seen += len(label)
        assert seen == rows
        best = max(best, rows / (time.process_time() - began))
    return best


def encoded(table: Path, folder: Path) -> Path:
    """Shards as Parquet, row groups of 65,536 rows."""
    with Dataset(folder) as data:
        whole = data.take(0, len(data))
    columns = {"label": whole.label.astype(np.int8)}
    columns |= {name: whole.dense[:, n] for n, name in enumerate(CRITEO.dense)}
    columns |= {name: whole.sparse[:, n] for n, name in enumerate(CRITEO.sparse)}
    pandas.DataFrame(columns).to_parquet(table, row_group_size=65_536)
    return table


def long(folder: Path, rows: int) -> None:
    """Write a table that takes long to read: one block of rows, again and again."""
    block = synthetic.made(synthetic.Synthetic(), 0, 131_072)[0]
    dense, sparse = numeric(block.dense, block.dense_known), (block.sparse % TABLE).astype(np.int32)
    tables = tuple(Hashing(name, TABLE).table for name in CRITEO.sparse)
    writer = Writer(folder, CRITEO, tables, 131_072)
    for start in range(0, rows, 131_072):
        part = slice(0, min(131_072, rows - start))
        writer.add(block.label[part], dense[part], sparse[part])
    writer.close()


def memory(folder: Path, rows: int, batch: int) -> tuple[float, float]:
    """The most memory that a process which only reads had after a tenth of a long read, and at its end, in MB."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_memory, (folder, rows, batch))


def _memory(folder: Path, rows: int, batch: int) -> tuple[float, float]:
    peaks, seen = [], 0
    for label, _, _ in ours_shuffled(folder, batch):
        seen += len(label)
        if not peaks and seen >= rows // 10:
            peaks.append(peak())
    assert seen == rows
    return peaks[0], peak()


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--long", type=int, default=10_000_000, help="rows of the long read; 0: none")
    parser.add_argument("--batch", type=int, default=2048)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        began = time.process_time()
        with open(folder / "day_0", "wb") as file:
            for block in synthetic.blocks(synthetic.Synthetic(), given.rows):
                file.write(tsv.formatted(block))
        print(f"made and written as text       {given.rows / (time.process_time() - began):12,.0f} rows/s of a core")
        for method in ("hash", "dictionary"):
            began = time.process_time()
            prepare(folder / "day_0", folder / "out", Settings(method=method, rows=TABLE))
            spent = time.process_time() - began
            print(f"prepared, {method:<20} {given.rows / spent:12,.0f} rows/s of a core")
        shards = folder / "out" / "train"
        table = encoded(folder / "encoded.parquet", shards)
        print(f"{'':<24}{'pandas':>12}{'ours':>14}   times")
        compared = {
            "text": (pandas_text, folder / "day_0", ours_text, folder / "day_0"),
            "encoded": (pandas_prepared, table, ours_prepared, shards),
            "encoded and shuffled": (pandas_shuffled, table, ours_shuffled, shards),
        }
        for name, (theirs, theirs_at, ours, ours_at) in compared.items():
            before = rate(theirs, theirs_at, given.batch, given.rows)
            after = rate(ours, ours_at, given.batch, given.rows)
            print(f"{name:<24}{before:12,.0f}{after:14,.0f}{after / before:8.1f}", flush=True)
        if given.long:
            long(folder / "long", given.long)
            early, late = memory(folder / "long", given.long, given.batch)
            print(f"memory after a tenth of {given.long:,} rows {early:.0f} MB, at their end {late:.0f} MB")


if __name__ == "__main__":
    sys.exit(main())
