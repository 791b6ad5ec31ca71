"""What a report page is made of. A card is data; how it looks is the page's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec


class Text(msgspec.Struct, frozen=True, tag="text"):
    """Plain text. Line breaks are kept; nothing in it is markup."""

    text: str
    title: str = ""


class Table(msgspec.Struct, frozen=True, tag="table"):
    """Rows of values, as wide as `columns`."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], title: str = "") -> Table:
        """A table of mappings: their keys are the columns, in order of first use."""
        columns = tuple(dict.fromkeys(key for row in rows for key in row))
        return cls(columns, tuple(tuple(row.get(column, "") for column in columns) for row in rows), title)


class Plot(msgspec.Struct, frozen=True, tag="plot"):
    """A picture as SVG text, as `couler_py.report.plots` makes them. It is shown as an image: nothing in it runs."""

    title: str
    svg: str


class Image(msgspec.Struct, frozen=True, tag="image"):
    """A picture: its bytes and its media type ("image/png")."""

    title: str
    content: bytes
    media_type: str = "image/png"

    @classmethod
    def read(cls, path: str | Path, title: str = "") -> Image:
        """A picture from a file; its media type follows from its first bytes.

        Raises `ValueError` for a file that is no picture that browsers show.
        """
        content = Path(path).read_bytes()
        media_type = image_type(content)
        if media_type is None:
            raise ValueError(f"{path} is neither PNG, JPEG, GIF, WebP nor SVG")
        return cls(title or Path(path).name, content, media_type)


class Html(msgspec.Struct, frozen=True, tag="html"):
    """HTML of somebody else's. It is shown in a frame of its own, without scripts and without access to the page."""

    title: str
    html: str
    height: int = 480


Card: TypeAlias = Text | Table | Plot | Image | Html

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def image_type(content: bytes) -> str | None:
    """The media type of a picture by its first bytes; None for anything else."""
    for signature, media_type in _SIGNATURES:
        if content.startswith(signature):
            return media_type
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    head = content[:512].lstrip(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"<svg") or (head.startswith(b"<?xml") and b"<svg" in content[:2048]):
        return "image/svg+xml"
    return None
