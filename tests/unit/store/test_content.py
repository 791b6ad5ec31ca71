"""Files and folders by their content."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.store import artifacts, content
from couler_py.store.home import Home, open_home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return open_home(tmp_path / "home")


def root(home: Home) -> str:
    return str(home.artifacts)


def tree(folder: Path) -> dict[str, bytes | str]:
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = str(path.readlink())
        elif path.is_file():
            found[name] = path.read_bytes()
        else:
            found[name] = "folder"
    return found


def test_a_file_is_kept_under_the_sha256_of_its_content(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"hello")
    ref = artifacts.keep(home, file)
    assert ref.digest == hashlib.sha256(b"hello").hexdigest()
    assert Path(content.blob_path(root(home), ref.digest)).read_bytes() == b"hello"
    assert file.read_bytes() == b"hello"


def test_what_is_moved_in_is_gone_and_read_only(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"x")
    ref = content.keep(root(home), str(file), move=True)
    assert not file.exists()
    assert Path(content.blob_path(root(home), ref["digest"])).stat().st_mode & 0o777 == 0o444


def test_a_hard_link_is_copied_never_taken(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"one")
    os.link(file, tmp_path / "b")
    ref = content.keep(root(home), str(file), move=True)
    (tmp_path / "b").write_bytes(b"two")
    assert Path(content.blob_path(root(home), ref["digest"])).read_bytes() == b"one"


def test_a_folder_comes_back_as_it_was(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    (folder / "empty").mkdir(parents=True)
    (folder / "sub").mkdir()
    (folder / "sub" / "a").write_bytes(b"1")
    (folder / "run").write_bytes(b"#!/bin/sh\n")
    (folder / "run").chmod(0o755)
    (folder / "link").symlink_to("sub/a")
    ref = artifacts.keep(home, folder)
    artifacts.give(home, ref, tmp_path / "back")
    assert tree(tmp_path / "back") == tree(folder)
    assert (tmp_path / "back" / "run").stat().st_mode & 0o777 == 0o555
    assert (tmp_path / "back").stat().st_mode & 0o777 == 0o555


def test_the_digest_of_a_folder_depends_on_its_content_alone(home: Home, tmp_path: Path) -> None:
    for name, order in (("one", ["a", "b"]), ("two", ["b", "a"])):
        for each in order:
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / each).write_text(each)
    assert artifacts.keep(home, tmp_path / "one") == artifacts.keep(home, tmp_path / "two")


def test_a_link_that_leads_outside_is_replaced_by_its_content(home: Home, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside")
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "link").symlink_to("../secret")
    artifacts.give(home, artifacts.keep(home, folder), tmp_path / "back")
    assert tree(tmp_path / "back") == {"link": b"outside"}


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (os.mkfifo, "x is a pipe: what is kept is files and folders, so delete it, or copy what it holds"),
        (lambda path: socket.socket(socket.AF_UNIX).bind(str(path)), "x is a socket: what is kept is"),
        (lambda path: path.symlink_to("/dev/null"), "x is a link to '/dev/null', which is a device: what"),
        (
            lambda path: path.symlink_to("/nowhere"),
            "x is a link to '/nowhere', which can't be read: No such file",
        ),
        (lambda path: path.symlink_to(path), "x', which can't be read: Too many levels of symbolic links"),
    ],
)
def test_what_is_neither_file_nor_folder_is_refused(
    make: Callable[[Path], None], said: str, inside: bool, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the paths of sockets are short
    folder = Path("d")
    folder.mkdir()
    make(folder / "x" if not said.startswith("x'") else (tmp_path / "d" / "x"))
    with pytest.raises(content.ContentError) as refused:
        artifacts.keep(home, folder if inside else folder / "x")
    assert said in str(refused.value)


def test_a_link_to_a_folder_elsewhere_is_refused(home: Home, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x").symlink_to("/usr")
    with pytest.raises(content.ContentError, match="x is a link to '/usr', which is a folder elsewhere"):
        artifacts.keep(home, tmp_path / "d")


def test_damage_is_found_when_it_is_read(home: Home, tmp_path: Path) -> None:
    ref = artifacts.keep_bytes(home, b"good")
    blob = Path(content.blob_path(root(home), ref.digest))
    blob.chmod(0o644)
    blob.write_bytes(b"evil")
    with pytest.raises(content.ContentError, match="is damaged"):
        artifacts.give(home, ref, tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_fan_in_is_a_folder_of_padded_indexes(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "x").write_text("in")
    members = [(0, artifacts.keep_bytes(home, b"zero")), (12, artifacts.keep(home, folder))]
    artifacts.give(home, artifacts.gather(home, members), tmp_path / "back")
    assert tree(tmp_path / "back") == {"000000": b"zero", "000012": "folder", "000012/x": b"in"}


def test_what_nobody_needs_is_collected(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "x").write_text("kept")
    kept = artifacts.keep(home, folder)
    artifacts.keep_bytes(home, b"lost")
    assert artifacts.collect(home, {kept.digest}, older_than=-1) == (1, 4)
    artifacts.give(home, kept, tmp_path / "back")
    assert tree(tmp_path / "back") == {"x": b"kept"}


def test_what_is_kept_again_is_young_again(home: Home, tmp_path: Path) -> None:
    ref = artifacts.keep_bytes(home, b"old")
    blob = Path(content.blob_path(str(home.artifacts), ref.digest))
    os.utime(blob, (0, 0))
    artifacts.keep_bytes(home, b"old")
    assert blob.stat().st_mtime > 0
    (tmp_path / "file").write_bytes(b"old")
    os.utime(blob, (0, 0))
    artifacts.keep(home, tmp_path / "file")
    assert blob.stat().st_mtime > 0


def test_what_a_loss_of_power_cut_short_is_kept_anew(home: Home, tmp_path: Path) -> None:
    ref = artifacts.keep_bytes(home, b"whole")
    blob = Path(content.blob_path(str(home.artifacts), ref.digest))
    blob.chmod(0o644)
    blob.write_bytes(b"")
    assert artifacts.keep_bytes(home, b"whole") == ref
    artifacts.give(home, ref, tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == b"whole"


def test_what_is_kept_while_others_collect_stays(home: Home) -> None:
    """Kept again, of what is old and needed by nobody, at the moment at which it would have gone."""
    data = [b"%d" % number for number in range(3000)]
    blobs = [Path(content.blob_path(root(home), artifacts.keep_bytes(home, each).digest)) for each in data]
    for blob in blobs:
        os.utime(blob, (0, 0))
    collecting = threading.Thread(target=artifacts.collect, args=(home, set()), kwargs={"older_than": 60.0})
    collecting.start()
    for each in data:
        artifacts.keep_bytes(home, each)
    collecting.join()
    assert [blob for blob in blobs if not blob.exists()] == []
    assert list((home.artifacts / "tmp").iterdir()) == []


def test_a_folder_that_was_altered_keeps_nobody_from_collecting(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "x").write_text("kept")
    kept = artifacts.keep(home, folder)
    blob = Path(content.blob_path(str(home.artifacts), kept.digest))
    blob.chmod(0o644)
    blob.write_text("[]")
    artifacts.keep_bytes(home, b"lost")
    assert artifacts.collect(home, {kept.digest}, older_than=-1) == (2, 8)


def test_what_a_step_has_dated_back_is_young(home: Home, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    os.utime(tmp_path / "file", (0, 0))
    content.keep(str(home.artifacts), str(tmp_path / "file"), move=True)
    assert artifacts.collect(home, set()) == (0, 0)


def test_what_is_young_is_not_collected(home: Home) -> None:
    artifacts.keep_bytes(home, b"new")
    assert artifacts.collect(home, set()) == (0, 0)


NAMES = st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=20).filter(
    lambda name: name not in (".", "..") and len(name.encode()) < 200
)


@given(st.dictionaries(NAMES, st.binary(max_size=50), max_size=5))
def test_any_names_and_bytes_come_back(tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]) -> None:
    folder = tmp_path_factory.mktemp("any")
    home = open_home(folder / "home")
    (folder / "d").mkdir()
    for name, data in files.items():
        (folder / "d" / name).write_bytes(data)
    artifacts.give(home, artifacts.keep(home, folder / "d"), folder / "back")
    assert tree(folder / "back") == tree(folder / "d")


def as_anybody(program: str, *arguments: object) -> str:
    """What a Python program prints that may do what the owner of its files may; root may more, and gives that up."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root can't give up its rights without setpriv (util-linux)")
        rights = "-dac_override,-dac_read_search"
        command = ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}", *command]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_a_read_only_folder_is_taken(home: Home, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_text("x")
    (tmp_path / "d").chmod(0o555)
    keep = "import sys; from couler_py.store import content; print(content.keep(*sys.argv[1:], move=True)['size'])"
    assert as_anybody(keep, root(home), tmp_path / "d") == "1\n"
    (tmp_path / "d").chmod(0o755)


def test_what_a_step_has_closed_is_deleted_too(tmp_path: Path) -> None:
    (tmp_path / "d" / "closed").mkdir(parents=True)
    (tmp_path / "d" / "closed" / "f").write_text("x")
    (tmp_path / "d" / "closed").chmod(0)
    as_anybody("import sys; from couler_py.store import content; content.remove(sys.argv[1])", tmp_path / "d")
    assert not (tmp_path / "d").exists()


def test_a_folder_that_cant_be_read_is_no_empty_one(home: Home, tmp_path: Path) -> None:
    (tmp_path / "d" / "closed").mkdir(parents=True)
    (tmp_path / "d" / "closed").chmod(0)
    keep = """
import sys
import threading
from couler_py.store import content
try:
    content.keep(*sys.argv[1:])
except PermissionError as error:
    print(error.filename)
"""
    assert as_anybody(keep, root(home), tmp_path / "d") == f"{tmp_path}/d/closed\n"
    (tmp_path / "d" / "closed").chmod(0o755)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_was_altered_is_deleted_so_that_it_can_be_kept_anew(kind: str, home: Home, tmp_path: Path) -> None:
    source = tmp_path / "source"
    if kind == "folder":
        source.mkdir()
    (source / "file" if kind == "folder" else source).write_bytes(b"good")
    ref = artifacts.keep(home, source)
    blob = Path(content.blob_path(root(home), ref.digest))
    blob.chmod(0o644)
    blob.write_bytes(b"E" * blob.stat().st_size)
    with pytest.raises(content.LostContentError) as caught:
        artifacts.give(home, ref, tmp_path / "back")
    assert caught.value.digest == ref.digest
    assert str(blob) in str(caught.value)
    assert artifacts.keep(home, source) == ref
    content.remove(str(tmp_path / "back"))
    artifacts.give(home, ref, tmp_path / "back")
    assert (tmp_path / "back" / "file" if kind == "folder" else tmp_path / "back").read_bytes() == b"good"


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_missing_is_named(kind: str, home: Home, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir() if kind == "folder" else source.touch()
    ref = artifacts.keep(home, source)
    blob = Path(content.blob_path(root(home), ref.digest))
    blob.unlink()
    with pytest.raises(content.LostContentError, match=f"{blob} is missing"):
        artifacts.give(home, ref, tmp_path / "back")
