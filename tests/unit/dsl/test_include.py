"""Files that travel with a step: found, packed the same every time, and never a secret."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from couler_py.dsl.errors import DefinitionError
from couler_py.dsl.include import covers, included, pack, project_include
from couler_py.ir.model import Source
from couler_py.settings import SettingsError

PLACE = Source("flow.py", 3)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a package, a script in a folder of its own, and data."""
    (tmp_path / "pyproject.toml").write_text("")
    for name, text in {
        "mypkg/__init__.py": "",
        "mypkg/model.py": "x = 1\n",
        "mypkg/__pycache__/model.pyc": "no",
        "conf/a.yaml": "a: 1\n",
        "conf/b.json": "{}",
        "flows/flow.py": "",
        "flows/beside.py": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def paths(project: Path, *patterns: str, file: str = "flow.py") -> tuple[str, ...]:
    (project / file).touch()
    found = included(patterns, str(project / file), PLACE, "train")
    assert found is not None
    return found.archive.paths


def test_folders_and_patterns_are_packed_without_what_tools_leave(project: Path) -> None:
    assert paths(project, "mypkg", "conf/*.yaml") == ("conf/a.yaml", "mypkg/__init__.py", "mypkg/model.py")


def test_pattern_is_looked_for_beside_the_file_then_at_the_root(project: Path) -> None:
    assert paths(project, "beside.py", file="flows/flow.py") == ("beside.py",)
    assert paths(project, "mypkg", file="flows/flow.py") == ("mypkg/__init__.py", "mypkg/model.py")


def test_negative_pattern_leaves_out(project: Path) -> None:
    assert paths(project, "mypkg", "!mypkg/model.py") == ("mypkg/__init__.py",)


def test_src_layout_is_imported_without_src(project: Path) -> None:
    (project / "src").mkdir()
    (project / "mypkg").rename(project / "src" / "mypkg")
    assert paths(project, "src/mypkg") == ("mypkg/__init__.py", "mypkg/model.py")


def test_archive_unpacks_to_the_files(project: Path) -> None:
    found = included(["mypkg"], str(project / "flow.py"), PLACE, "train")
    assert found is not None
    data = pack(found.root, found.archive.paths)
    assert hashlib.sha256(data).hexdigest() == found.archive.digest
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        file = archive.extractfile("mypkg/model.py")
        assert file is not None
        assert file.read() == b"x = 1\n"


def test_times_owners_and_modes_are_no_part_of_the_archive(project: Path) -> None:
    before = pack(project, ["mypkg/model.py"])
    os.utime(project / "mypkg/model.py", (1, 1))
    (project / "mypkg/model.py").chmod(0o600)
    assert pack(project, ["mypkg/model.py"]) == before
    (project / "mypkg/model.py").chmod(0o700)
    assert pack(project, ["mypkg/model.py"]) != before


def test_gzip_reads_an_archive_of_several_blocks(tmp_path: Path) -> None:
    (tmp_path / "big.bin").write_bytes(os.urandom(200_000))
    (tmp_path / "a.tar.gz").write_bytes(pack(tmp_path, ["big.bin"]))
    subprocess.run(["gzip", "--test", str(tmp_path / "a.tar.gz")], check=True)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(contents=st.dictionaries(st.from_regex(r"[a-zé]{1,40}", fullmatch=True), st.binary(max_size=300), max_size=4))
def test_pack_keeps_any_content(tmp_path: Path, contents: dict[str, bytes]) -> None:
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    with tarfile.open(fileobj=io.BytesIO(pack(tmp_path, contents)), mode="r:gz") as archive:
        found = {entry.name: archive.extractfile(entry).read() for entry in archive}  # type: ignore[union-attr]
    assert found == contents


@pytest.mark.parametrize(
    ("pattern", "message"),
    [("nothing*", "nothing matches"), ("../x", "leads outside"), ("/etc/passwd", "leads outside")],
)
def test_pattern_that_can_not_be_packed_is_refused(project: Path, pattern: str, message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        paths(project, pattern)


def test_one_text_instead_of_a_list_is_refused(project: Path) -> None:
    with pytest.raises(DefinitionError, match=r"write include=\['mypkg'\]"):
        included("mypkg", str(project / "flow.py"), PLACE, "train")


@pytest.mark.parametrize("name", [".env", "id_rsa", "key.pem"])
def test_what_looks_like_a_secret_is_refused_unless_left_out(project: Path, name: str) -> None:
    (project / "mypkg" / name).write_text("s3cret")
    with pytest.raises(DefinitionError, match="looks like a secret"):
        paths(project, "mypkg")
    assert paths(project, "mypkg", f"!mypkg/{name}") == ("mypkg/__init__.py", "mypkg/model.py")


def test_link_inside_is_followed_and_one_that_leads_outside_is_refused(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (project / "mypkg" / "link.yaml").symlink_to(project / "conf" / "a.yaml")
    assert "mypkg/link.yaml" in paths(project, "mypkg")
    outside = tmp_path_factory.mktemp("outside") / "x"
    outside.write_text("")
    (project / "mypkg" / "out").symlink_to(outside)
    with pytest.raises(DefinitionError, match="leads outside"):
        paths(project, "mypkg")


def test_link_to_its_own_folder_ends(project: Path) -> None:
    (project / "mypkg" / "again").symlink_to(project / "mypkg")
    assert paths(project, "mypkg") == ("mypkg/__init__.py", "mypkg/model.py")


def test_project_configuration_includes_for_every_step(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.couler]\ninclude = ["mypkg"]\n')
    found = project_include(str(project / "flows" / "flow.py"))
    assert found is not None
    assert found.archive.paths == ("mypkg/__init__.py", "mypkg/model.py")
    assert covers([found], project / "mypkg")
    assert not covers([found], project / "conf")


def test_unknown_key_of_the_configuration_is_refused(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.couler]\nincludes = ["mypkg"]\n')
    with pytest.raises(SettingsError, match=r"CLR133.*includes"):
        project_include(str(project / "flows" / "flow.py"))


@pytest.mark.parametrize("pattern", ["*", "*/*", "**/*.json", "."])
def test_no_pattern_packs_secrets_of_this_machine(project: Path, pattern: str) -> None:
    for home in (".couler", "runs-of-mine"):
        (project / home / "secrets").mkdir(parents=True)
        (project / home / "couler.sqlite").touch()
        (project / home / "secrets" / "password.json").write_text("{}")
    assert not [path for path in paths(project, "mypkg", pattern) if "secrets" in path]


def test_what_is_never_packed_is_not_packed_by_name_either(project: Path) -> None:
    (project / ".couler" / "secrets").mkdir(parents=True)
    (project / ".couler" / "secrets" / "password.json").write_text("{}")
    with pytest.raises(DefinitionError, match="nothing matches"):
        paths(project, ".couler/secrets/password.json")
