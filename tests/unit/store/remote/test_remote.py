"""Artifacts that go to a store and come back from it, with another home in between."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from couler_py.store import artifacts, content
from couler_py.store.records import ArtifactRef
from couler_py.store.remote import DamagedError, MissingError, Remote, RemoteError, parse
from couler_py.store.remote.drivers import Blob, Driver
from couler_py.store.remote.location import blob_name
from tests.unit.store.remote.conftest import IMPATIENT, Opener, home_of


def folder_of(path: Path) -> Path:
    """A folder with all that folders may have."""
    (path / "empty").mkdir(parents=True)
    (path / "sub" / "deep").mkdir(parents=True)
    (path / "sub" / "ümlaut {{x}}").write_text("text")
    (path / "nothing").touch()
    (path / "run").write_text("#!/bin/sh")
    (path / "run").chmod(0o755)
    (path / "link").symlink_to("sub/ümlaut {{x}}")
    return path


def seen(path: Path) -> dict[str, Any]:
    """What is at a path."""
    if path.is_file():
        return {"": path.read_bytes()}
    return {
        str(each.relative_to(path)): (
            str(each.readlink()) if each.is_symlink() else each.read_bytes() if each.is_file() else "folder"
        )
        for each in path.rglob("*")
    }


def driver(remote: Remote) -> Driver:
    assert remote._driver is not None
    return remote._driver


def objects(remote: Remote) -> set[str]:
    return {each.name for each in driver(remote).entries("sha256/")}


@pytest.mark.parametrize("size", [0, 1, 100_000, 9 << 20])
def test_a_file_comes_back_as_it_was(size: int, store: Opener, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(os.urandom(size))
    here, there = store(), store("other")
    ref = artifacts.keep(home_of(tmp_path), tmp_path / "file")
    here.put(ref)
    there.get(ref)
    artifacts.give(home_of(tmp_path, "other"), ref, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "file").read_bytes()
    assert objects(here) == {blob_name(ref.digest)}


def test_a_folder_comes_back_as_it_was(store: Opener, tmp_path: Path) -> None:
    made = folder_of(tmp_path / "made")
    here, there = store(), store("other")
    ref = artifacts.keep(home_of(tmp_path), made)
    here.put(ref)
    there.get(ref)
    artifacts.give(home_of(tmp_path, "other"), ref, tmp_path / "copy")
    assert seen(tmp_path / "copy") == seen(made)
    assert os.access(tmp_path / "copy" / "run", os.X_OK)


def test_of_a_folder_the_list_comes_alone_if_that_is_asked_for(store: Opener, tmp_path: Path) -> None:
    ref = artifacts.keep(home_of(tmp_path), folder_of(tmp_path / "made"))
    store().put(ref)
    there = store("other")
    there.get(ref, list_only=True)
    assert artifacts.member(home_of(tmp_path, "other"), ref, "sub/ümlaut {{x}}") is not None
    assert content.manifest(str(home_of(tmp_path, "other").artifacts), ref.digest)
    assert len([each for each in home_of(tmp_path, "other").artifacts.rglob("??/*") if each.is_file()]) == 1


def test_what_is_there_is_not_sent_again(store: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(os.urandom(200_000))
    ref = artifacts.keep(home_of(tmp_path), tmp_path / "file")
    store().put(ref)
    again = store()
    monkeypatch.setattr(driver(again), "upload", None)
    again.put(ref)


def test_whether_an_artifact_can_be_had(store: Opener, tmp_path: Path) -> None:
    ref = artifacts.keep(home_of(tmp_path), folder_of(tmp_path / "made"))
    here, there = store(), store("other")
    assert here.holds(ref)
    assert not there.holds(ref)
    here.put(ref)
    assert there.holds(ref)
    gone = hashlib.sha256(b"text").hexdigest()
    driver(here).delete(blob_name(gone))
    assert not there.holds(ref)
    assert here.holds(ref)


def test_what_is_nowhere_is_named(store: Opener) -> None:
    remote = store()
    for ref in (ArtifactRef("file", "ab" + "c" * 62, 5), ArtifactRef("folder", "ab" + "c" * 62, 5)):
        with pytest.raises(MissingError, match=f"/sha256/ab/{'c' * 62} isn't in the store"):
            remote.get(ref)


def alter(remote: Remote, digest: str, data: bytes) -> None:
    driver(remote).delete(blob_name(digest))
    driver(remote).write(blob_name(digest), data)


@pytest.mark.parametrize("data", [b"jello", b"hell", b"hello you", b""])
def test_an_altered_object_is_found_and_never_comes_here(data: bytes, store: Opener, tmp_path: Path) -> None:
    ref = artifacts.keep_bytes(home_of(tmp_path), b"hello")
    here, there = store(), store("other")
    here.put(ref)
    alter(here, ref.digest, data)
    if data.startswith(b"hello"):  # longer: what was asked for is right, and nothing else is read
        there.get(ref)
        return
    with pytest.raises(DamagedError, match="was altered"):
        there.get(ref)
    root = home_of(tmp_path, "other").artifacts
    assert [each for each in root.rglob("*") if each.is_file()] == []


def test_an_altered_list_of_a_folder_is_found(store: Opener, tmp_path: Path) -> None:
    ref = artifacts.keep(home_of(tmp_path), folder_of(tmp_path / "made"))
    here, there = store(), store("other")
    here.put(ref)
    alter(here, ref.digest, b'[{"path":"../../evil","kind":"link","target":"/"}]')
    with pytest.raises(DamagedError, match="was altered"):
        there.get(ref)


@pytest.mark.parametrize("size", [10, 9 << 20])
def test_what_is_damaged_here_is_not_sent(size: int, store: Opener, tmp_path: Path) -> None:
    home = home_of(tmp_path)
    ref = artifacts.keep_bytes(home, bytes(size))
    blob = Path(content.blob_path(str(home.artifacts), ref.digest))
    blob.chmod(0o644)
    blob.write_bytes(bytes(size - 1) + b"x")
    remote = store()
    with pytest.raises(DamagedError, match="is damaged"):
        remote.put(ref)
    assert objects(remote) == set()


def test_a_list_that_is_damaged_here_comes_anew(store: Opener, tmp_path: Path) -> None:
    home = home_of(tmp_path)
    ref = artifacts.keep(home, folder_of(tmp_path / "made"))
    remote = store()
    remote.put(ref)
    place = Path(content.blob_path(str(home.artifacts), ref.digest))
    place.chmod(0o644)
    place.write_bytes(b"[]")
    remote.get(ref)
    assert len(content.manifest(str(home.artifacts), ref.digest)) == 7


def test_a_file_that_is_in_the_store_alone_needs_no_copy_here_to_count_as_kept(store: Opener, tmp_path: Path) -> None:
    ref = artifacts.keep(home_of(tmp_path), folder_of(tmp_path / "made"))
    store().put(ref)
    home = home_of(tmp_path)
    shutil.rmtree(home.artifacts)
    home.artifacts.mkdir()
    again = store()
    again.put(ref)
    driver(again).delete(blob_name(hashlib.sha256(b"text").hexdigest()))
    third = store()
    with pytest.raises(MissingError, match="isn't in the store, nor in"):
        third.put(ref)


def test_many_at_once_get_each_file_once(store: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = home_of(tmp_path)
    refs = [artifacts.keep_bytes(home, bytes([number]) * 100) for number in range(20)]
    remote = store()
    sent: list[str] = []
    upload = driver(remote).upload

    def counting(name: str, blob: Blob, work: Any) -> None:
        sent.append(blob.digest)
        upload(name, blob, work)

    monkeypatch.setattr(driver(remote), "upload", counting)
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(remote.put, refs * 10))
    assert sorted(sent) == sorted(ref.digest for ref in refs)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"<html>", "isn't ours"),
        (b'{"couler": "artifacts", "layout": 2}', "upgrade couler-py"),
    ],
)
def test_a_place_that_is_something_else_is_refused(data: bytes, says: str, store: Opener) -> None:
    driver(store()).write("couler.json", data)
    with pytest.raises(RemoteError, match=says):
        store()


def test_the_second_home_takes_the_place_as_it_is(store: Opener) -> None:
    first = driver(store()).read("couler.json", 0, 100)
    assert json.loads(first) == {"couler": "artifacts", "layout": 1}
    assert driver(store("other")).read("couler.json", 0, 100) == first


# ---- what keeps a store from being used, before anything relies on it


def test_a_bucket_that_is_not_there_is_said_so(client: Any, tmp_path: Path) -> None:
    remote = Remote(parse("s3://nobody-made-this"), home_of(tmp_path), IMPATIENT)
    with pytest.raises(RemoteError, match="there is no such bucket: make it"):
        remote.open()
    remote.close()


def test_no_credentials_are_said_so(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    remote = Remote(parse("s3://data"), home_of(tmp_path), IMPATIENT)
    with pytest.raises(RemoteError, match="no credentials were found"):
        remote.open()
    remote.close()


@pytest.mark.parametrize(("scheme", "extra"), [("s3", "s3"), ("gs", "gcs"), ("oss", "oss"), ("az", "az")])
def test_a_missing_driver_names_what_to_install(
    scheme: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("s3fs", "gcsfs", "ossfs", "adlfs", "couler_py.store.remote.s3"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "couler_py.store.remote.s3")
    remote = Remote(parse(f"{scheme}://data"), home_of(tmp_path), IMPATIENT)
    with pytest.raises(RemoteError, match=rf"pip install 'couler-py\[{extra}\]'"):
        remote.open()
    remote.close()


def test_a_folder_that_may_not_be_written_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    remote = Remote(parse(str(tmp_path / "file" / "store")), home_of(tmp_path), IMPATIENT)
    with pytest.raises(RemoteError, match="store"):
        remote.open()
    remote.close()
