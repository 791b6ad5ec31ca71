"""Criteo's files of text: a line is the label, integers, and categories of 8 hexadecimal digits, with tabs between."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np

from couler_py.steps.dlrm.data import digits
from couler_py.steps.dlrm.data.rows import Array, Bad, Rows
from couler_py.steps.dlrm.data.schema import Schema

TAB, LINE, RETURN, MINUS, ZERO = 9, 10, 13, ord("-"), ord("0")
BLOCK = 1 << 19  # bytes that are parsed at once: what is made of them stays in the caches of a core
LONGEST = 1 << 20  # bytes of a line: a file without lines is no table
MOST = 2**31
INTEGER = 10  # digits of 32 bits


def formatted(rows: Rows) -> bytes:
    """Rows as lines of text."""
    count = len(rows)
    size = np.abs(rows.dense.astype(np.int64))
    width = len(str(int(size.max(initial=0))))
    numbers = np.zeros((count, rows.dense.shape[1], width + 2), np.uint8)  # a sign, digits, a tab; 0 is left out
    numbers[..., 0] = np.where(rows.dense < 0, MINUS, 0)
    for place in range(width):
        power = 10**place
        shown = (size >= power) if place else np.ones_like(size, bool)
        numbers[..., width - place] = np.where(shown, ZERO + size // power % 10, 0)
    numbers[~rows.dense_known] = 0
    numbers[..., -1] = TAB
    words = np.zeros((count, rows.sparse.shape[1], 9), np.uint8)
    words[..., :8] = digits.spelled(rows.sparse.astype(np.uint64)).astype("<u8")[..., None].view(np.uint8)
    words[~rows.sparse_known] = 0
    words[..., -1] = TAB
    words[:, -1, -1] = LINE
    label = np.full((count, 2), TAB, np.uint8)
    label[:, 0] = ZERO + rows.label
    canvas = np.concatenate([label, numbers.reshape(count, -1), words.reshape(count, -1)], axis=1)
    return canvas[canvas != 0].tobytes()


def parsed(data: bytes, schema: Schema, first: int = 1) -> tuple[Rows, list[Bad]]:
    """The rows of whole lines, and the lines that are none. `first` is the number of the first line in its file."""
    text = np.frombuffer(data + bytes(digits.WIDTH), np.uint8)
    body = text[: len(data)]
    marks = np.flatnonzero((body == TAB) | (body == LINE))
    ends_line = body[marks] == LINE
    starts = np.empty_like(marks)
    starts[:1], starts[1:] = 0, marks[:-1] + 1
    lines = np.flatnonzero(ends_line)
    counts = np.diff(lines, prepend=-1)
    bounds = np.stack([starts[lines - counts + 1], marks[lines]], axis=1)
    columns = schema.columns
    whole = counts == len(columns)
    if not whole.all():
        keep = np.repeat(whole, counts)
        starts, marks = starts[keep], marks[keep]
    begins = starts.reshape(-1, len(columns))
    lengths = marks.reshape(-1, len(columns)) - begins
    lengths[:, -1] -= (lengths[:, -1] > 0) & (text[begins[:, -1] + lengths[:, -1] - 1] == RETURN)
    rows, wrong = _values(text, begins, lengths, schema)
    numbers = np.flatnonzero(whole)
    reasons = {
        int(line): f"{counts[line]} columns, not {len(columns)}: {', '.join(columns[:2])} … {columns[-1]}"
        for line in np.flatnonzero(~whole)
    }
    if wrong.any():
        fine = np.logical_not(wrong.any(axis=1))
        for row in np.flatnonzero(~fine):
            column = int(np.argmax(wrong[row]))
            start = int(begins[row, column])
            reasons[int(numbers[row])] = _reason(schema, column, data[start : start + int(lengths[row, column])])
        rows = rows.chosen(fine)
    bad = [Bad(first + line, reason, data[slice(*bounds[line])]) for line, reason in sorted(reasons.items())]
    return rows, bad


def _values(text: Array, starts: Array, lengths: Array, schema: Schema) -> tuple[Rows, Array]:
    """The values of fields, and for each whether it is none."""
    dense, sparse = slice(1, 1 + len(schema.dense)), slice(1 + len(schema.dense), None)
    wrong = np.zeros(starts.shape, bool)
    label = text[starts[:, 0]] - np.uint8(ZERO)
    wrong[:, 0] = (lengths[:, 0] != 1) | (label > 1)
    numbers, known, wrong[:, dense] = _integers(text, starts[:, dense], lengths[:, dense])
    size = lengths[:, sparse]
    words, fine = digits.hexadecimal(digits.loaded(text, starts[:, sparse], np.minimum(size, digits.WIDTH)))
    wrong[:, sparse] = ~fine | (size > digits.WIDTH)
    return Rows(label, numbers, known, words.astype(np.uint32), size > 0), wrong


def _integers(text: Array, starts: Array, lengths: Array) -> tuple[Array, Array, Array]:
    negative = (text[starts] == MINUS) & (lengths > 1)
    starts, lengths = starts + negative, lengths - negative
    words, fine = digits.decimal(digits.loaded(text, starts, np.minimum(lengths, digits.WIDTH)))
    values = words.astype(np.int64)
    wrong = ~fine
    for place in zip(*np.nonzero(lengths > digits.WIDTH), strict=True):  # a hundred millions and more: few
        field = text[starts[place] : starts[place] + lengths[place]].tobytes()
        wrong[place] = not (field.isdigit() and len(field) <= INTEGER)
        values[place] = 0 if wrong[place] else int(field)
    values = np.where(negative, -values, values)
    wrong |= (values >= MOST) | (values < -MOST)
    return np.where(wrong, 0, values).astype(np.int32), lengths > 0, wrong


def _reason(schema: Schema, column: int, field: bytes) -> str:
    shown = field[:40].decode("utf-8", "backslashreplace")
    if column == 0:
        return f"{schema.label} is {shown!r}, not 0 or 1"
    kind = "integer of 32 bits" if column <= len(schema.dense) else "number of up to 8 hexadecimal digits"
    return f"{schema.columns[column]} is {shown!r}, no {kind}"


def read(path: Path, schema: Schema) -> Iterator[tuple[Rows, list[Bad]]]:
    """The rows of a file, block by block, and the lines that are none; a file of gzip is unpacked on the way.

    Raises `ValueError`, naming the file, where a line has more than a million characters.
    """
    with _opened(path) as file:
        left, line = b"", 1
        while data := file.read(BLOCK):
            data = left + data
            end = data.rfind(b"\n") + 1
            left = data[end:]
            if len(left) > LONGEST:
                raise ValueError(f"{path.name} is no table: line {line + data.count(LINE, 0, end)} has no end")
            if end:
                rows, bad = parsed(data[:end], schema, line)
                line += len(rows) + len(bad)
                yield rows, bad
        if left:
            yield parsed(left + b"\n", schema, line)


def _opened(path: Path) -> IO[bytes]:
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if packed else open(path, "rb")  # type: ignore[return-value]
