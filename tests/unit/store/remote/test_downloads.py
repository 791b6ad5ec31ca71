"""Downloads that are cut off, and what they leave."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from couler_py.store import artifacts, content
from couler_py.store.records import ArtifactRef
from couler_py.store.remote import Remote, RemoteError
from couler_py.store.remote.downloads import PIECE
from tests.unit.store.remote.conftest import Opener, home_of

SIZE = 3 * PIECE + 7


@pytest.fixture
def ref(store: Opener, tmp_path: Path) -> ArtifactRef:
    made = artifacts.keep_bytes(home_of(tmp_path), os.urandom(SIZE))
    store().put(made)
    return made


class Asked:
    """Notes where pieces begin that are asked for, and breaks from one on."""

    def __init__(self, remote: Remote, breaks_from: int | None = None):
        self.starts: list[int] = []
        driver: Any = remote._driver
        read = driver.read

        def noting(name: str, start: int, end: int) -> bytes:
            if breaks_from is not None and start >= breaks_from:
                raise PermissionError("no")
            self.starts.append(start)
            return bytes(read(name, start, end))

        driver.read = noting


def partial(tmp_path: Path, ref: ArtifactRef) -> Path:
    return home_of(tmp_path, "other").artifacts / "tmp" / f"fetch-{ref.digest}"


def arrived(tmp_path: Path, ref: ArtifactRef) -> bool:
    place = content.blob_path(str(home_of(tmp_path, "other").artifacts), ref.digest)
    return content.digest_of(place) == ref.digest


def test_a_download_that_was_cut_off_goes_on_where_it_was(store: Opener, ref: ArtifactRef, tmp_path: Path) -> None:
    first = store("other")
    Asked(first, 2 * PIECE)
    with pytest.raises(RemoteError):
        first.get(ref)
    assert partial(tmp_path, ref).stat().st_size == 2 * PIECE
    again = store("other")
    asked = Asked(again)
    again.get(ref)
    assert sorted(asked.starts) == [2 * PIECE, 3 * PIECE]
    assert arrived(tmp_path, ref)
    assert not partial(tmp_path, ref).exists()


def test_what_is_left_of_a_download_and_damaged_comes_anew(store: Opener, ref: ArtifactRef, tmp_path: Path) -> None:
    remote = store("other")
    partial(tmp_path, ref).parent.mkdir()
    partial(tmp_path, ref).write_bytes(b"x" * PIECE)
    remote.get(ref)
    assert arrived(tmp_path, ref)


def test_what_is_left_of_a_download_and_too_long_is_no_matter(store: Opener, ref: ArtifactRef, tmp_path: Path) -> None:
    remote = store("other")
    partial(tmp_path, ref).parent.mkdir()
    partial(tmp_path, ref).write_bytes(b"x" * (SIZE + 1))
    remote.get(ref)
    assert arrived(tmp_path, ref)


def test_a_piece_that_comes_short_is_asked_for_again(store: Opener, ref: ArtifactRef, tmp_path: Path) -> None:
    remote = store("other")
    driver: Any = remote._driver
    read, short = driver.read, [True]

    def once_short(name: str, start: int, end: int) -> bytes:
        data = bytes(read(name, start, end))
        return data[:-1] if start == PIECE and short.pop() is True and not short else data

    driver.read = lambda name, start, end: once_short(name, start, end) if short else bytes(read(name, start, end))
    remote.get(ref)
    assert arrived(tmp_path, ref)
