"""Corpora in files: texts at hand, their tokens, and rows to train on."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from couler_py.steps.corpus.files import standard_library, texts
from couler_py.steps.corpus.tokenizers import END, ByteTokenizer, PairTokenizer
from couler_py.steps.corpus.tokens import Index, Rows, write


def test_texts_of_a_folder_come_in_the_order_of_their_paths(tmp_path: Path) -> None:
    for name, text in {"b.txt": "two", "a/c.md": "one", "d.bin": "no", "__pycache__/e.txt": "no"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "f.txt").write_bytes(b"\xff")
    assert list(texts([tmp_path])) == ["one", "two"]


def test_a_file_that_is_no_text_is_named_where_it_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"f\.txt is no text in UTF-8"):
        list(texts([tmp_path / "f.txt"]))


def test_a_place_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere is neither a file nor a folder"):
        list(texts([tmp_path / "nowhere"]))


def test_so_many_bytes_are_the_most_and_no_letter_is_cut(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("äöü")
    (tmp_path / "b.txt").write_text("abc")
    assert list(texts([tmp_path], most=5)) == ["äö"]
    assert list(texts([tmp_path], most=8)) == ["äöü", "ab"]


def test_without_places_it_is_the_standard_library() -> None:
    assert (standard_library() / "__future__.py").read_text() in texts()


def test_each_document_ends_with_its_sign(tmp_path: Path) -> None:
    assert write(["ab", "c"], ByteTokenizer(), tmp_path) == Index(tokens=5, documents=2, vocabulary=259, width=2)
    rows = Rows(tmp_path, 4)
    assert rows.take([0]).tolist() == [[97, 98, END, 99, END]]


def test_a_row_is_one_token_longer_than_its_length_and_shares_it_with_the_next(tmp_path: Path) -> None:
    write(["abcdefgh"], ByteTokenizer(), tmp_path)
    rows = Rows(tmp_path, 3)
    assert len(rows) == 2
    assert rows.take([1, 0]).tolist() == [[100, 101, 102, 103], [97, 98, 99, 100]]
    assert rows.take([0]).dtype == numpy.int64


def test_documents_of_a_row_are_numbered(tmp_path: Path) -> None:
    write(["ab", "c", "de"], ByteTokenizer(), tmp_path)
    rows = Rows(tmp_path, 7)
    assert rows.documents(rows.take([0])).tolist() == [[0, 0, 0, 1, 1, 2, 2, 2]]


def test_large_vocabularies_take_four_bytes(tmp_path: Path) -> None:
    large = PairTokenizer(tuple((97, 98) for _ in range(1 << 16)))
    assert write(["x"], large, tmp_path).width == 4


def test_a_file_that_was_cut_off_is_told(tmp_path: Path) -> None:
    write(["abcdefgh"], ByteTokenizer(), tmp_path)
    (tmp_path / "tokens.bin").write_bytes(b"ab")
    with pytest.raises(ValueError, match=r"tokens\.bin has 2 bytes, not 18: cut off\?"):
        Rows(tmp_path, 3)


def test_too_few_tokens_for_a_row_are_told(tmp_path: Path) -> None:
    write(["ab"], ByteTokenizer(), tmp_path)
    with pytest.raises(ValueError, match=r"3 tokens in .*: a row takes 9"):
        Rows(tmp_path, 8)


def test_a_row_that_there_is_not_is_an_error(tmp_path: Path) -> None:
    write(["abcdefgh"], ByteTokenizer(), tmp_path)
    with pytest.raises(IndexError, match="rows 2 to 2: there are 2"):
        Rows(tmp_path, 3).take([2])


def test_what_was_broken_off_has_no_index(tmp_path: Path) -> None:
    def documents() -> object:
        yield "whole"
        raise KeyboardInterrupt

    write(["old"], ByteTokenizer(), tmp_path)
    with pytest.raises(KeyboardInterrupt):
        write(documents(), ByteTokenizer(), tmp_path)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        Rows(tmp_path, 2)
