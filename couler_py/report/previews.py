"""What of a run's artifacts a page shows: pictures, pages of HTML, tables and short texts, within bounds."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from couler_py.ir.quantity import amount
from couler_py.report.cards import Card, Html, Image, Table, Text, image_type
from couler_py.report.facts import Attachment

LARGEST = 4 * 1024 * 1024
"""The most bytes of one artifact that are shown."""

MOST = 8 * 1024 * 1024
"""The most bytes of all artifacts that are shown."""

HEAD = 4096  # bytes that say what a file is
BEGINNING = 64 * 1024  # bytes of a table or a text, of which only the beginning is shown
ROWS, COLUMNS, CELL = 10, 12, 200
LETTERS = 4000

_TABLES = {".csv": ",", ".tsv": "\t"}
_BEGINNINGS = frozenset({"text/csv", "text/tab-separated-values", "text/plain"})
_TEXTS = frozenset({".txt", ".md", ".json", ".yaml", ".yml", ".log"})


def kind_of(name: str, head: bytes) -> str | None:
    """The media type that a file is shown as, by its name and its first bytes; None for what isn't shown."""
    found = image_type(head)
    if found is not None:
        return found
    if head[:512].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return "text/html"
    suffix = PurePosixPath(name).suffix.lower()
    if b"\0" in head:
        return None
    if suffix in _TABLES:
        return "text/tab-separated-values" if suffix == ".tsv" else "text/csv"
    return "text/plain" if suffix in _TEXTS else None


def attachments(places: Mapping[str, str]) -> Iterator[Attachment]:
    """The artifacts of a run, by name and place, with the content of those that a page can show."""
    for name, place in places.items():
        path = Path(place)
        if "://" in place or not path.is_file():
            yield Attachment(name, place)
            continue
        size = path.stat().st_size
        with path.open("rb") as file:
            content = file.read(HEAD)
            kind = kind_of(path.name, content)
            if kind in _BEGINNINGS:
                content += file.read(BEGINNING)
            elif kind is not None and size <= LARGEST:
                content += file.read(LARGEST)
            else:
                kind, content = None, b""
        yield Attachment(name, place, kind, content, size)


def cards(attachments: Iterable[Attachment], most: int = MOST) -> tuple[list[Card], int]:
    """The artifacts that have room, as cards, and how many that could be shown have none."""
    shown: list[Card] = []
    seen: set[bytes] = set()
    missing = 0
    for each in attachments:
        # The output of a step is often that of the graphs around it too.
        if each.media_type is None or each.content in seen:
            continue
        if len(each.content) > most:
            missing += 1
            continue
        seen.add(each.content)
        most -= len(each.content)
        shown.append(_card(each, each.media_type))
    return shown, missing


def _card(each: Attachment, media_type: str) -> Card:
    if media_type.startswith("image/"):
        return Image(each.name, each.content, media_type)
    if media_type == "text/html":
        return Html(each.name, each.content.decode("utf-8", "replace"), height=480)
    if media_type == "text/plain":
        text = each.content.decode("utf-8", "replace")
        size = len(each.content) if each.size is None else each.size
        more = f"\n… ({amount(size)} in all)" if len(text) > LETTERS or size > len(each.content) else ""
        return Text(text[:LETTERS] + more, each.name)
    return _table(each, "\t" if media_type == "text/tab-separated-values" else ",")


def _table(each: Attachment, delimiter: str) -> Card:
    """The first rows and columns of a table. What can't be read as one is shown as the text that it is."""
    text = each.content.decode("utf-8-sig", "replace")
    try:
        rows = list(itertools.islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), ROWS + 2))
    except csv.Error:
        return Text(text[:LETTERS], each.name)
    if not rows or not rows[0]:
        return Text("an empty table", each.name)
    wide = max(map(len, rows))
    head, *body = (tuple(_cells(row, min(wide, COLUMNS))) for row in rows)
    notes = []
    if len(body) > ROWS:
        notes.append(f"first {ROWS} rows")
    if wide > COLUMNS:
        notes.append(f"{COLUMNS} of {wide} columns")
    title = f"{each.name} ({', '.join(notes)})" if notes else each.name
    return Table(head, tuple(body[:ROWS]), title)


def _cells(row: list[str], count: int) -> Iterator[str]:
    for cell in [*row, *[""] * count][:count]:
        yield cell if len(cell) <= CELL else f"{cell[:CELL]}…"
