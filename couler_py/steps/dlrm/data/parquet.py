"""The same tables as Parquet: columns by their names, categories as texts of hexadecimal digits or as integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from couler_py.steps.dlrm.data import digits
from couler_py.steps.dlrm.data.rows import Array, Bad, Rows
from couler_py.steps.dlrm.data.schema import Schema

BLOCK = 16_384  # rows that are read at once


def write(path: Path, blocks: Iterable[Rows], schema: Schema) -> int:
    """Write rows as one file, each block as it comes; how many there were. Categories become texts, as in TSV."""
    import pyarrow
    from pyarrow import parquet

    types = {schema.label: pyarrow.int8()}
    types |= dict.fromkeys(schema.dense, pyarrow.int32()) | dict.fromkeys(schema.sparse, pyarrow.string())
    total = 0
    with parquet.ParquetWriter(path, pyarrow.schema(list(types.items()))) as writer:
        for rows in blocks:
            columns = [pyarrow.array(rows.label.astype(np.int8))]
            for number in range(len(schema.dense)):
                missing = ~rows.dense_known[:, number]
                columns.append(pyarrow.array(np.ascontiguousarray(rows.dense[:, number]), mask=missing))
            for number in range(len(schema.sparse)):
                columns.append(_texts(rows.sparse[:, number], rows.sparse_known[:, number]))
            writer.write_table(pyarrow.table(columns, schema=writer.schema))
            total += len(rows)
    return total


def _texts(values: Array, known: Array) -> Any:
    import pyarrow

    text = digits.spelled(values.astype(np.uint64)).astype("<u8")
    offsets = np.arange(0, 8 * len(values) + 1, 8, dtype=np.int32)
    bits = np.packbits(known, bitorder="little")
    return pyarrow.StringArray.from_buffers(
        len(values), pyarrow.py_buffer(offsets), pyarrow.py_buffer(text), pyarrow.py_buffer(bits)
    )


def read(path: Path, schema: Schema) -> Iterator[tuple[Rows, list[Bad]]]:
    """The rows of a file, block by block, and those that are none.

    Raises `ValueError`, naming file and column, where a column is missing or of a type that can't be meant.
    """
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        names = set(file.schema_arrow.names)
        missing = [name for name in schema.columns if name not in names]
        if missing:
            raise ValueError(f"{path.name} has no column {missing[0]!r}; its columns are {', '.join(sorted(names))}")
        first = 1
        for batch in file.iter_batches(batch_size=BLOCK, columns=list(schema.columns)):
            yield _rows(batch, schema, path.name, first)
            first += batch.num_rows


def _rows(batch: Any, schema: Schema, source: str, first: int) -> tuple[Rows, list[Bad]]:
    label, label_known, wrong = _integers(batch.column(schema.label), f"{schema.label} of {source}")
    reasons = {
        int(row): f"{schema.label} is not 0 or 1" for row in np.flatnonzero(wrong | ~label_known | (label >> 1 != 0))
    }
    dense = [_integers(batch.column(name), f"{name} of {source}") for name in schema.dense]
    sparse = [_categories(batch.column(name), f"{name} of {source}") for name in schema.sparse]
    kinds = dict.fromkeys(schema.dense, "integer of 32 bits")
    kinds |= dict.fromkeys(schema.sparse, "number of up to 8 hexadecimal digits")
    for (name, kind), (_, _, wrong) in zip(kinds.items(), dense + sparse, strict=True):
        for row in np.flatnonzero(wrong):
            value = batch.column(name)[int(row)].as_py()
            reasons.setdefault(int(row), f"{name} is {value!r}, no {kind}")
    rows = Rows(
        label.astype(np.uint8),
        np.stack([values for values, _, _ in dense], axis=1).astype(np.int32),
        np.stack([known for _, known, _ in dense], axis=1),
        np.stack([values for values, _, _ in sparse], axis=1).astype(np.uint32),
        np.stack([known for _, known, _ in sparse], axis=1),
    )
    if reasons:
        kept = np.ones(len(rows), bool)
        kept[list(reasons)] = False
        rows = rows.chosen(kept)
    return rows, [Bad(first + row, reason, _text(batch, schema, row)) for row, reason in sorted(reasons.items())]


def _text(batch: Any, schema: Schema, row: int) -> bytes:
    values = (batch.column(name)[row].as_py() for name in schema.columns)
    return "\t".join("" if value is None else str(value) for value in values).encode()


def _integers(column: Any, what: str) -> tuple[Array, Array, Array]:
    """Integers of 32 bits, which are known, and which are none. NaN is a missing value, as pandas writes them."""
    import pyarrow

    known = np.asarray(column.is_valid())
    kind = column.type
    if pyarrow.types.is_boolean(kind) or pyarrow.types.is_integer(kind):
        wide = column.cast(pyarrow.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        wrong = known & ((wide >= 2**31) | (wide < -(2**31)))
    elif pyarrow.types.is_floating(kind):
        number = column.cast(pyarrow.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
        known = known & ~np.isnan(number)
        wrong = known & ~((number == np.floor(number)) & (number < 2**31) & (number >= -(2**31)))
        wide = np.where(wrong | ~known, 0, number).astype(np.int64)
    else:
        raise ValueError(f"{what} is a column of {kind}: it holds integers")
    return np.where(wrong | ~known, 0, wide), known, wrong


def _categories(column: Any, what: str) -> tuple[Array, Array, Array]:
    import pyarrow

    if pyarrow.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    known = np.asarray(column.is_valid())
    kind = column.type
    if pyarrow.types.is_integer(kind):
        wide = column.fill_null(0).cast(pyarrow.int64(), safe=False).to_numpy(zero_copy_only=False)
        wrong = known & ((wide < 0) | (wide >= 2**32))
        return np.where(wrong, 0, wide), known, wrong
    if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
        raise ValueError(f"{what} is a column of {kind}: it holds texts of hexadecimal digits, or integers")
    whole = column.fill_null("").cast(pyarrow.string())
    _, offsets, data = whole.buffers()
    edges = np.frombuffer(offsets, np.int32)[whole.offset : whole.offset + len(whole) + 1].astype(np.int64)
    text = np.frombuffer((data.to_pybytes() if data is not None else b"") + bytes(digits.WIDTH), np.uint8)
    lengths = np.diff(edges)
    words, fine = digits.hexadecimal(digits.loaded(text, edges[:-1], np.minimum(lengths, digits.WIDTH)))
    return words, known & (lengths > 0), known & (~fine | (lengths > digits.WIDTH))
