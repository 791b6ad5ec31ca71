"""What lies in a home is its owner's alone, and nothing that is kept leads out of it."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.store import artifacts, content
from couler_py.store.home import Home, UnsafeHomeError, open_home
from couler_py.store.records import ArtifactRef

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")

NAMES = st.text(alphabet="ab./\\\0 ~é\n", max_size=8) | st.sampled_from(["..", ".", "/", "/etc/passwd", "a/../../b"])


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return open_home(tmp_path / "home")


@needs_root
def test_a_home_of_another_user_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o755)
    os.chown(folder, 1234, 1234)
    with pytest.raises(UnsafeHomeError, match=r"belongs to the user 1234, and this is the user 'root'.*COULER_HOME"):
        open_home(folder)
    assert list(folder.iterdir()) == []


def test_a_home_where_everybody_may_write_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    with pytest.raises(UnsafeHomeError, match=f"everybody may write into {folder}.*`chmod o-w {folder}`"):
        open_home(folder)
    folder.chmod(0o755)
    assert open_home(folder).path == folder


def test_a_new_home_is_its_owners_alone(home: Home) -> None:
    assert home.path.stat().st_mode & 0o077 == 0


# ---- names


@given(NAMES)
def test_a_name_is_one_part_of_a_path_or_refused(name: str) -> None:
    try:
        found = artifacts.part(name)
    except content.ContentError:
        return
    assert (Path("/folder") / found).parent == Path("/folder")
    assert os.path.normpath(f"/folder/{found}") == f"/folder/{found}"


@pytest.mark.parametrize("name", ["..", ".", "a/b", "/etc/passwd", "a\0b", ""])
def test_no_copy_for_people_lands_elsewhere(home: Home, tmp_path: Path, name: str) -> None:
    ref = artifacts.keep_bytes(home, b"x")
    with pytest.raises(content.ContentError, match="can't be the name of a file"):
        artifacts.visible(home, ref, tmp_path / "out", name)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["..", "../a", "/a", "a/../../b", "a//b", "a\0"])
def test_no_member_of_a_folder_stands_outside_of_it(home: Home, name: str) -> None:
    ref = artifacts.keep_bytes(home, b"x")
    with pytest.raises(content.ContentError, match="can't be a path in a folder"):
        artifacts.folder(home, [(name, ref)])


# ---- links and manifests

TARGETS = st.lists(st.sampled_from(["..", ".", "", "a", "b", "link", "sub", "x" * 3]), max_size=6).map("/".join)


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.sampled_from(["link", "sub/link", "sub/b", "a", "sub/sub/c"]), TARGETS),
        min_size=1,
        max_size=4,
        unique_by=lambda pair: pair[0],
    )
)
def test_no_link_that_is_kept_leads_out_of_its_folder(links: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        home = open_home(Path(place) / "home")
        folder = Path(place) / "folder"
        (folder / "sub" / "sub").mkdir(parents=True)
        (folder / "file").write_text("x")
        for path, target in links:
            if target:
                (folder / path).symlink_to(target)
        try:
            ref = artifacts.keep(home, folder)
        except (content.ContentError, OSError):
            return  # it leads nowhere, in a circle, or to a folder outside: said, and nothing kept
        given_ = Path(place) / "given"
        artifacts.give(home, ref, given_, writable=True)
        for path in given_.rglob("*"):
            if path.is_symlink():
                try:
                    reached = Path(os.path.realpath(path, strict=True))
                except OSError:
                    continue  # in a circle, or nowhere
                assert reached.is_relative_to(given_.resolve()), (path, path.readlink())


def test_a_link_through_another_link_is_no_way_out(home: Home, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "here").symlink_to(".")
    (folder / "out").symlink_to("here/../secret")  # by its text inside, in truth beside the folder
    artifacts.give(home, artifacts.keep(home, folder), tmp_path / "given")
    assert not (tmp_path / "given" / "out").is_symlink()
    assert (tmp_path / "given" / "here").is_symlink()


ENTRIES = [
    {"path": "../x", "kind": "folder"},
    {"path": "/x", "kind": "folder"},
    {"path": "a/../../x", "kind": "folder"},
    {"path": "", "kind": "folder"},
    {"path": "x", "kind": "link", "target": "/etc"},
    {"path": "x", "kind": "link", "target": ".."},
    {"path": "a/x", "kind": "link", "target": "../../y"},
    {"path": "x", "kind": "link", "target": "y/../../z"},
]


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_list_of_entries_that_leads_out_is_refused_when_it_is_read(
    home: Home, tmp_path: Path, entry: dict[str, str]
) -> None:
    made = content.keep_bytes(str(home.artifacts), json.dumps([entry]).encode())
    with pytest.raises(content.ContentError, match="which leads out of it"):
        artifacts.give(home, ArtifactRef("folder", made["digest"]), tmp_path / "given")
    assert not list(tmp_path.glob("given/*"))


@given(NAMES, TARGETS)
def test_what_stays_by_the_rule_stays_in_truth(path: str, target: str) -> None:
    if content.is_inside(path) and content.stays(path, target):
        assert os.path.normpath(Path(f"/folder/{path}").parent / target).startswith("/folder")
