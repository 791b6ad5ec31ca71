"""Texts from files at hand."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

TEXT = (".txt", ".md", ".rst", ".py", ".json", ".csv", ".tex", ".html")


def texts(
    places: Sequence[str | Path] = (), *, endings: Sequence[str] = TEXT, most: int | None = None
) -> Iterator[str]:
    """The texts of files, and of files in folders with one of these endings, in the order of their paths.

    Without places, the sources of Python's standard library: a real corpus of 10 MB that every machine has. `most` ends
    after so many bytes. What is not UTF-8 is left out where a folder was named, and an error where the file was.
    Raises `FileNotFoundError` for a place that isn't there, `ValueError` for a file that is not UTF-8.
    """
    left = most
    for path, named in _files([Path(place) for place in places] or [standard_library()], endings):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            if named:
                raise ValueError(f"{path} is no text in UTF-8: {error}") from error
            continue
        data = text.encode()
        if left is not None and len(data) >= left:
            if cut := data[:left].decode(errors="ignore"):
                yield cut
            return
        if text:
            yield text
        if left is not None:
            left -= len(data)


def standard_library() -> Path:
    """The folder with the sources of Python's standard library."""
    return Path(sysconfig.get_paths()["stdlib"])


def _files(places: list[Path], endings: Sequence[str]) -> Iterator[tuple[Path, bool]]:
    for place in places:
        if place.is_file():
            yield place, True
        elif place.is_dir():
            inside = (path for path in place.rglob("*") if path.suffix in endings)
            for path in sorted(inside, key=lambda path: path.relative_to(place).parts):
                if path.is_file() and not {"site-packages", "__pycache__"} & set(path.relative_to(place).parts):
                    yield path, False
        else:
            raise FileNotFoundError(f"{place} is neither a file nor a folder")
