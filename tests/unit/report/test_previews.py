"""Artifacts in pages: what each is shown as, and how much of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from couler_py.ir.quantity import amount
from couler_py.report import cards, previews, text
from couler_py.report.facts import Attachment


@pytest.mark.parametrize(
    ("name", "head", "kind"),
    [
        ("plot", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("page", b"  <!DOCTYPE html><p>", "text/html"),
        ("a.csv", b"x,y\n", "text/csv"),
        ("a.TSV", b"x\ty\n", "text/tab-separated-values"),
        ("a.json", b"{}", "text/plain"),
        ("a.csv", b"\0\0", None),
        ("model.bin", b"weights", None),
        ("a.svg", b"not a picture", None),
    ],
)
def test_files_are_known_by_their_beginning_and_their_name(name: str, head: bytes, kind: str | None) -> None:
    assert previews.kind_of(name, head) == kind


def test_of_a_table_the_first_rows_and_columns_are_shown() -> None:
    content = "\n".join(",".join(f"{row}-{column}" for column in range(20)) for row in range(100)).encode()
    ((table,), _) = previews.cards([Attachment("t", "/t.csv", "text/csv", content)])
    assert isinstance(table, cards.Table)
    assert table.title == "t (first 10 rows, 12 of 20 columns)"
    assert table.columns == tuple(f"0-{column}" for column in range(12))
    assert table.rows[-1] == tuple(f"10-{column}" for column in range(12))


def test_rows_of_different_lengths_and_long_cells_have_their_place() -> None:
    ((table,), _) = previews.cards([Attachment("t", "/t.csv", "text/csv", b"a,b\n1\n1,2,3\n" + b"x" * 300)])
    assert isinstance(table, cards.Table)
    assert table.columns == ("a", "b", "")
    assert table.rows == (("1", "", ""), ("1", "2", "3"), ("x" * 200 + "…", "", ""))


def test_what_only_claims_to_be_a_table_is_shown_as_text() -> None:
    ((card,), _) = previews.cards([Attachment("t", "/t.csv", "text/csv", b'"' + b"x" * 200_000)])
    assert isinstance(card, cards.Text)
    ((empty,), _) = previews.cards([Attachment("t", "/t.csv", "text/csv", b"")])
    assert empty == cards.Text("an empty table", "t")


def test_files_are_read_as_far_as_they_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews, "LARGEST", 10_000)
    for name, content in {"small.png": b"\x89PNG\r\n\x1a\n", "large.html": b"<html>" + b"x" * 20_000}.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "long.txt").write_bytes(b"y" * 200_000)
    places = {path.name: str(path) for path in sorted(tmp_path.iterdir())} | {"far": "s3://x/y", "gone": "/nowhere"}
    found = {each.name: (each.media_type, len(each.content), each.size) for each in previews.attachments(places)}
    assert found == {
        "small.png": ("image/png", 8, 8),
        "large.html": (None, 0, 20_006),
        "long.txt": ("text/plain", previews.HEAD + previews.BEGINNING, 200_000),
        "far": (None, 0, None),
        "gone": (None, 0, None),
    }


def test_logs_are_shown_as_they_would_have_looked_in_the_end() -> None:
    assert (
        text.plain("\x1b[31mred\x1b[0m\r\n 10 %\r 50 %\r100 %\n\x1b]0;title\x07end\x07\u202e")
        == "red\n100 %\nend\ufffd\ufffd"
    )


def test_a_long_line_without_an_end_takes_no_longer_than_its_length() -> None:
    assert text.plain("\x1b]" * 50_000 + "x" * 500_000).endswith("x")


@pytest.mark.parametrize(
    ("value", "words"),
    [(0, "0 s"), (0.042, "0.042 s"), (59.4, "59.4 s"), (71.3, "1 min 11 s"), (3600, "1 h"), (7384, "2 h 3 min"),
     (200_000, "2 d 7 h")],
)  # fmt: skip
def test_durations_read_well(value: float, words: str) -> None:
    assert text.duration(value) == words


@pytest.mark.parametrize(
    ("count", "words"), [(900, "900 B"), (98304, "96 KiB"), (1023 * 1024, "1,023 KiB"), (3 * 1024**3, "3 GiB")]
)
def test_amounts_read_well(count: int, words: str) -> None:
    assert amount(count) == words
