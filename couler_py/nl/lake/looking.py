"""All entries that there are: of one's own lake, of those that a team shares, and of this package."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from couler_py import templates
from couler_py.nl.lake.entries import LARGEST, SHIPPED, Entry, Found, LakeError
from couler_py.nl.lake.reading import read
from couler_py.store.home import home_path


def folders() -> tuple[Path, ...]:
    """The folders that are read, the nearest first."""
    listed = os.environ.get("COULER_LAKE", "").split(os.pathsep)
    return (home_path() / "lake", *(Path(each).absolute() for each in listed if each))


def all_entries(where: Sequence[Path] | None = None) -> tuple[Found, ...]:
    """All entries, of the nearest lake first. A name that two lakes have is the nearer one's.

    Raises `LakeError` for a file that is no entry, with its path.
    """
    found: dict[str, Found] = {}
    for folder in folders() if where is None else where:
        for entry in _of_folder(folder):
            found.setdefault(entry.key, Found(entry, str(folder)))
    for entry in shipped():
        found.setdefault(entry.key, Found(entry, SHIPPED))
    return tuple(found.values())


@functools.cache
def shipped() -> tuple[Entry, ...]:
    """The steps that come with this package, with their source."""
    return read(Path(templates.__file__).parent / "nl" / "steps.py", source=True)


def _of_folder(folder: Path) -> Iterator[Entry]:
    if not folder.is_dir():
        return
    for file in sorted(folder.glob("*.json")):
        try:
            if file.stat().st_size > LARGEST:
                raise LakeError(f"{file} is larger than an entry of a lake may be")
            yield msgspec.json.decode(file.read_bytes(), type=Entry)
        except msgspec.MsgspecError as error:
            raise LakeError(f"{file} is no entry of a lake: {error}") from error
        except OSError as error:
            raise LakeError(f"{file}: {error.strerror or error}") from error
