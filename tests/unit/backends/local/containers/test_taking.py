"""Outputs of containers: files and folders as they are, and nothing that leads out of them."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from couler_py.backends.local.containers.taking import TakingError, check, move_left, unpack


def tar(*members: tuple[str, bytes, str], mode: int = 0o644) -> io.BytesIO:
    """A tar of members: their names, types, and content or targets."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type, member.mode = kind, mode
            if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
                member.linkname = content
            member.size = len(content) if kind == tarfile.REGTYPE else 0
            archive.addfile(member, io.BytesIO(content.encode()))
    made.seek(0)
    return made


FILE, FOLDER, LINK, SAME, PIPE = tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE


def test_a_file_is_taken_under_another_name_and_stays_executable(tmp_path: Path) -> None:
    assert unpack(tar(("tool", FILE, "x"), mode=0o4755), str(tmp_path / "out")) == ""
    assert ((tmp_path / "out").read_text(), (tmp_path / "out").stat().st_mode & 0o7777) == ("x", 0o755)


def test_a_folder_is_taken_with_links_inside_it_and_files_of_two_names(tmp_path: Path) -> None:
    members = (
        ("d", FOLDER, ""),
        ("d/sub", FOLDER, ""),
        ("d/sub/a", FILE, "1"),
        ("d/l", LINK, "sub/a"),
        ("d/same", SAME, "d/sub/a"),
    )
    unpack(tar(*members), str(tmp_path / "out"))
    assert [(tmp_path / "out" / name).read_text() for name in ("sub/a", "l", "same")] == ["1", "1", "1"]


def test_what_is_a_link_itself_is_followed_by_who_asked(tmp_path: Path) -> None:
    assert unpack(tar(("l", LINK, "/etc/passwd")), str(tmp_path / "out")) == "/etc/passwd"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "members",
    [
        (("d", FOLDER, ""), ("d/l", LINK, "/etc")),
        (("d", FOLDER, ""), ("d/l", LINK, "../..")),
        (("d", FOLDER, ""), ("d/l", LINK, "x/../../y")),
        (("d", FOLDER, ""), ("d/../../x", FILE, "1")),
        (("d", FOLDER, ""), ("/x", FILE, "1")),
        (("d", FOLDER, ""), ("e/x", FILE, "1")),
        (("d", FOLDER, ""), ("d/s", SAME, "../../etc/passwd")),
        (("d", FOLDER, ""), ("d/p", PIPE, "")),
        (("d", FOLDER, ""), ("d/a", LINK, "b"), ("d/a", FILE, "1")),
        (("p", PIPE, ""),),
    ],
)
def test_what_leads_out_or_is_no_file_is_refused(tmp_path: Path, members: tuple[tuple[str, bytes, str], ...]) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(TakingError):
        unpack(tar(*members), str(tmp_path / "in" / "out"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_a_shared_folder_gives_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "left" / "data").mkdir(parents=True)
    (tmp_path / "left" / "data" / "x").write_text("1")
    (tmp_path / "left" / "data" / "l").symlink_to("x")
    (tmp_path / "left" / "data.suffix").write_text(".csv")
    assert move_left(str(tmp_path / "left"), "data", str(tmp_path / "data"), value=False) is True
    assert ((tmp_path / "data" / "l").read_text(), (tmp_path / "data.suffix").read_text()) == ("1", ".csv")
    assert move_left(str(tmp_path / "left"), "none", str(tmp_path / "none"), value=False) is False


def test_a_shared_folder_gives_no_links_out_of_it_and_no_pipes(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "l").symlink_to("../link")
    for name in ("link", "pipe", "folder"):
        with pytest.raises(TakingError):
            check(str(tmp_path / name), value=False)
    with pytest.raises(TakingError, match="it is no file"):
        check(str(tmp_path / "folder"), value=True)
