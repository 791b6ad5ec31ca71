"""Deleting from a store that several homes share."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from couler_py.store import artifacts
from couler_py.store.records import ArtifactRef
from couler_py.store.remote import Remote, RemoteError
from couler_py.store.remote import claims as claiming
from couler_py.store.remote.location import blob_name
from couler_py.store.remote.sweep import Swept
from tests.unit.store.remote.conftest import Opener, home_of

NOW = -60.0
"""A time of grace after which all is old: it ends a minute from now."""


def put(remote: Remote, tmp_path: Path, data: bytes, home: str = "home") -> ArtifactRef:
    ref = artifacts.keep_bytes(home_of(tmp_path, home), data)
    remote.put(ref)
    return ref


def put_folder(remote: Remote, tmp_path: Path, **files: str) -> ArtifactRef:
    made = tmp_path / "-".join(files.values())
    made.mkdir()
    for name, text in files.items():
        (made / name).write_text(text)
    ref = artifacts.keep(home_of(tmp_path), made)
    remote.put(ref)
    return ref


def there(remote: Remote) -> set[str]:
    assert remote._driver is not None
    return {each.name for each in remote._driver.entries("sha256/")}


def names(*refs: ArtifactRef) -> set[str]:
    return {blob_name(ref.digest) for ref in refs}


def pieces(remote: Remote) -> list[Any]:
    assert remote._driver is not None
    return list(remote._driver.entries("claims/"))


def test_what_no_run_needs_goes_and_the_rest_stays(store: Opener, tmp_path: Path) -> None:
    remote = store()
    kept = put(remote, tmp_path, b"kept")
    put(remote, tmp_path, b"gone!")
    assert remote.sweep({kept.digest}, grace=NOW) == Swept(1, 5)
    assert there(remote) == names(kept)
    assert remote.sweep({kept.digest}, grace=NOW) == Swept(0, 0)
    assert remote.sweep(set(), grace=NOW) == Swept(1, 4)
    assert there(remote) == set()
    assert pieces(remote) == []


def test_a_dry_run_deletes_nothing(store: Opener, tmp_path: Path) -> None:
    remote = store()
    ref = put(remote, tmp_path, b"12345")
    assert remote.sweep(set(), grace=NOW, dry_run=True) == Swept(1, 5)
    assert there(remote) == names(ref)
    assert len(pieces(remote)) == 1


def test_what_is_young_stays(store: Opener, tmp_path: Path) -> None:
    remote = store()
    ref = put(remote, tmp_path, b"young")
    assert remote.sweep(set(), grace=60.0) == Swept(0, 0)
    assert there(remote) == names(ref)


def test_what_another_home_claims_stays_until_it_needs_it_no_more(store: Opener, tmp_path: Path) -> None:
    first, second = store(), store("other")
    shared = put(first, tmp_path, b"shared")
    put(second, tmp_path, b"shared", "other")
    assert first.sweep(set(), grace=NOW) == Swept(0, 0)
    assert there(first) == names(shared)
    assert second.sweep(set(), grace=NOW) == Swept(1, 6)


def test_what_this_home_has_not_put_stays(store: Opener, tmp_path: Path) -> None:
    first, second = store(), store("other")
    other = put(second, tmp_path, b"others", "other")
    assert first.sweep(set(), grace=NOW) == Swept(0, 0)
    assert there(first) == names(other)


def test_a_folder_that_is_needed_keeps_its_files(store: Opener, tmp_path: Path) -> None:
    remote = store()
    kept = put_folder(remote, tmp_path, a="one", b="two")
    put_folder(remote, tmp_path, a="one", b="three")
    remote.sweep({kept.digest}, grace=NOW)
    files = {blob_name(hashlib.sha256(text).hexdigest()) for text in (b"one", b"two")}
    assert there(remote) == files | names(kept)


def test_a_folder_that_is_needed_keeps_its_files_though_its_list_is_only_in_the_store(
    store: Opener, tmp_path: Path
) -> None:
    remote = store()
    kept = put_folder(remote, tmp_path, a="one")
    artifacts.collect(home_of(tmp_path), set(), older_than=-60.0)
    remote.sweep({kept.digest}, grace=NOW)
    assert there(remote) == names(kept) | {blob_name(hashlib.sha256(b"one").hexdigest())}


def test_what_was_claimed_anew_while_it_went_on_stays(
    store: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = store(), store("other")
    shared = put(first, tmp_path, b"shared")
    driver: Any = first._driver
    seen: list[str] = []
    entries = driver.entries

    def second_claims(prefix: str) -> Any:
        if len(seen) == 1:  # between the first look at the claims and the last
            put(second, tmp_path, b"shared", "other")
        seen.append(prefix)
        return entries(prefix)

    monkeypatch.setattr(driver, "entries", second_claims)
    first.sweep(set(), grace=NOW)
    assert there(second) == names(shared)


def test_one_that_is_killed_before_its_end_is_made_good_by_the_next(
    store: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = store()
    kept = put(remote, tmp_path, b"kept")
    for number in range(5):
        put(remote, tmp_path, f"gone {number}".encode())
    driver: Any = remote._driver
    delete, left = driver.delete, [None, None]

    def dying(name: str) -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop()
        delete(name)

    monkeypatch.setattr(driver, "delete", dying)
    with pytest.raises(KeyboardInterrupt):
        remote.sweep({kept.digest}, grace=NOW)
    monkeypatch.setattr(driver, "delete", delete)
    remote.sweep({kept.digest}, grace=NOW)
    assert there(remote) == names(kept)


def test_claims_that_something_else_wrote_stop_it(store: Opener, tmp_path: Path) -> None:
    remote = store()
    ref = put(remote, tmp_path, b"x")
    assert remote._driver is not None
    remote._driver.write(f"claims/{'0' * 32}/1", b"<html>")
    with pytest.raises(RemoteError, match="nothing is deleted"):
        remote.sweep(set(), grace=NOW)
    assert there(remote) == names(ref)


def test_calls_at_the_same_time_share_a_claim(store: Opener, tmp_path: Path) -> None:
    remote = store()
    assert remote._claims is not None
    remote._claims.claim({"a" * 64: False, "b" * 64: True})
    remote._claims.claim({"a" * 64: False})
    assert len(pieces(remote)) == 1
    (piece,) = pieces(remote)
    assert claiming.owner(piece) == claiming.home_id(home_of(tmp_path).path)


def test_a_home_has_one_id(tmp_path: Path) -> None:
    home = home_of(tmp_path).path
    assert claiming.home_id(home) == claiming.home_id(home) != claiming.home_id(home_of(tmp_path, "other").path)
