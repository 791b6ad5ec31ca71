"""Criteo's files: every value comes back as it was, and what is no row is told, with its line and column."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.steps.dlrm.data import digits, tsv
from couler_py.steps.dlrm.data.rows import Rows
from couler_py.steps.dlrm.data.schema import CRITEO, Schema
from couler_py.steps.dlrm.data.synthetic import Synthetic, made

SMALL = Schema(dense=("I1", "I2"), sparse=("C1", "C2"))
INTEGERS = st.none() | st.integers(-(2**31), 2**31 - 1)
CATEGORIES = st.none() | st.integers(0, 2**32 - 1)


def line(label: int, dense: list[int | None], sparse: list[int | None]) -> str:
    """A line as Criteo writes it."""
    numbers = ["" if each is None else str(each) for each in dense]
    return "\t".join([str(label), *numbers, *("" if each is None else f"{each:08x}" for each in sparse)]) + "\n"


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.tuples(INTEGERS, INTEGERS), st.tuples(CATEGORIES, CATEGORIES)),
        min_size=1, max_size=9,
    )
)  # fmt: skip
def test_any_values_are_read_as_they_were_written_and_written_as_they_were_read(rows: list) -> None:
    text = "".join(line(*row) for row in rows).encode()
    found, bad = tsv.parsed(text, SMALL)
    assert not bad
    for number, (label, dense, sparse) in enumerate(rows):
        assert found.label[number] == label
        assert found.dense_known[number].tolist() == [each is not None for each in dense]
        assert found.dense[number].tolist() == [each or 0 for each in dense]
        assert found.sparse_known[number].tolist() == [each is not None for each in sparse]
        assert found.sparse[number].tolist() == [each or 0 for each in sparse]
    assert tsv.formatted(found) == text


def test_capitals_and_ends_of_lines_of_windows_are_understood() -> None:
    found, bad = tsv.parsed(b"1\t-5\t\tDEADbeef\t0a\r\n0\t7\t8\t\t\r\n", SMALL)
    assert not bad
    assert found.sparse.tolist() == [[0xDEADBEEF, 0x0A], [0, 0]]
    assert found.sparse_known.tolist() == [[True, True], [False, False]]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ("2\t1\t1\taa\tbb", "label is '2', not 0 or 1"),
        ("\t1\t1\taa\tbb", "label is '', not 0 or 1"),
        ("0\t1.5\t1\taa\tbb", "I1 is '1.5', no integer of 32 bits"),
        ("0\t1\t-\taa\tbb", "I2 is '-', no integer of 32 bits"),
        ("0\t2147483648\t1\taa\tbb", "I1 is '2147483648', no integer of 32 bits"),
        ("0\t12345678901\t1\taa\tbb", "I1 is '12345678901', no integer of 32 bits"),
        ("0\t1\t1\tgg\tbb", "C1 is 'gg', no number of up to 8 hexadecimal digits"),
        ("0\t1\t1\taa\t123456789", "C2 is '123456789', no number of up to 8 hexadecimal digits"),
        ("0\t1\t1\taa\t\x11\x12", r"C2 is '\x11\x12', no number of up to 8 hexadecimal digits"),
        ("0\t1\t1\taa", "4 columns, not 5: label, I1 … C2"),
        ("0\t1\t1\taa\tbb\tcc", "6 columns, not 5: label, I1 … C2"),
        ("", "1 columns, not 5: label, I1 … C2"),
    ],
)
def test_a_line_that_is_no_row_is_told_and_the_others_are_read(wrong: str, reason: str) -> None:
    text = f"1\t1\t1\taa\tbb\n{wrong}\n0\t2\t2\tcc\tdd\n".encode()
    found, [bad] = tsv.parsed(text, SMALL, first=10)
    assert found.dense[:, 0].tolist() == [1, 2]
    assert (bad.row, bad.reason, bad.text) == (11, reason, wrong.encode())


def test_a_file_is_the_same_rows_in_blocks_and_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _ = made(Synthetic(), 0, 300)
    text = tsv.formatted(rows)
    (tmp_path / "day_0").write_bytes(text[:-1])  # the last line may lack its end
    (tmp_path / "day_0.gz").write_bytes(gzip.compress(text))
    monkeypatch.setattr(tsv, "BLOCK", 1000)
    for name in ("day_0", "day_0.gz"):
        parts = [found for found, bad in tsv.read(tmp_path / name, CRITEO) if not bad]
        assert len(parts) > 50
        assert tsv.formatted(Rows.joined(parts)) == text


def test_line_numbers_go_on_from_block_to_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tsv, "BLOCK", 64)
    good = "0\t1\t1\taa\tbb\n"
    (tmp_path / "day").write_text(good * 20 + "no row\n" + good * 20 + "nor this\n")
    assert [each.row for _, bad in tsv.read(tmp_path / "day", SMALL) for each in bad] == [21, 42]


def test_a_file_without_lines_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(np.zeros(3 << 20, np.uint8).tobytes())
    with pytest.raises(ValueError, match="image is no table: line 1 has no end"):
        list(tsv.read(tmp_path / "image", SMALL))


def test_every_character_in_every_place_is_a_digit_or_told() -> None:
    for place in range(8):
        texts = [b"0" * place + bytes([byte]) + b"0" * (7 - place) for byte in range(256)]
        words = np.array([int.from_bytes(text, "little") for text in texts], np.uint64)
        values, fine = digits.hexadecimal(words)
        assert [byte for byte in range(256) if fine[byte]] == sorted(b"0123456789ABCDEFabcdef")
        assert all(int(values[byte]) == int(texts[byte], 16) for byte in range(256) if fine[byte])
        _, fine = digits.decimal(words)
        assert [byte for byte in range(256) if fine[byte]] == list(b"0123456789")
