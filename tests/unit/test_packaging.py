"""What reaches a user: the sdist, the wheel made from that sdist, and an installation of it far from the checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

# Links at the top level, for people; neither archive follows them.
DOORS = ("backends", "steps", "templates")


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    """The output of a program that has to succeed."""
    ended = subprocess.run(
        command, cwd=cwd, env={**clean_environment(), **variables}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, f"{command}\n{ended.stdout}\n{ended.stderr}"
    return ended.stdout


def clean_environment() -> dict[str, str]:
    """This process's environment, without what would lead another Python back to the checkout."""
    left_out = ("PYTHON", "VIRTUAL_ENV", "COULER")
    return {
        name: value for name, value in os.environ.items() if name == "COULER_LEDGER" or not name.startswith(left_out)
    }


@pytest.fixture(scope="module")
def tracked(checkout: Path) -> list[str]:
    if not (checkout / ".git").exists():
        pytest.skip("which files are tracked is known only in a checkout")
    return run("git", "ls-files", "-z", cwd=checkout).rstrip("\0").split("\0")


@pytest.fixture(scope="module")
def tree(checkout: Path, tracked: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tracked files, as a clone would hold them."""
    copy = tmp_path_factory.mktemp("tree")
    for name in tracked:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(checkout / name, copy / name, follow_symlinks=False)
    return copy


@pytest.fixture(scope="module")
def sdist(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", out, tree, cwd=out)
    (archive,) = out.iterdir()
    return archive


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(out / "source", filter="data")
    (source,) = (out / "source").iterdir()
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out / "made", source, cwd=out)
    (made,) = (out / "made").iterdir()
    return made


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment that holds the wheel and what it requires, nothing else."""
    environment = tmp_path_factory.mktemp("installed") / "env"
    uv = Path(sys.executable).with_name("uv")
    run(uv, "venv", "--quiet", "--python", sys.executable, environment, cwd=wheel.parent)
    run(uv, "pip", "install", "--quiet", "--python", environment / "bin" / "python", wheel, cwd=wheel.parent)
    return environment / "bin"


def test_the_wheel_holds_exactly_the_tracked_files_of_the_package(wheel: Path, tracked: list[str]) -> None:
    held = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    assert sorted(held) == sorted(name for name in tracked if name.startswith("couler_py/"))


def test_the_sdist_holds_each_tracked_file_once_and_no_link(sdist: Path, tracked: list[str]) -> None:
    with tarfile.open(sdist) as archive:
        members = {member.name.split("/", 1)[1]: member for member in archive.getmembers()}
    assert [name for name, member in members.items() if not member.isfile()] == []
    folders = ("couler_py/", "tests/", "examples/", "docs/", "benchmarks/", "images/", "tools/")
    expected = {name for name in tracked if name.startswith(folders)}
    expected |= {"README.md", "LICENSE", "NOTICE", "CHANGELOG.md", "Makefile", "mkdocs.yml"}
    # what hatchling adds by itself
    expected |= {"PKG-INFO", "pyproject.toml", ".gitignore"}
    assert sorted(members) == sorted(expected)


def test_the_wheel_carries_the_licence_the_notice_and_the_marker_of_types(wheel: Path) -> None:
    names = {name.split("/", 1)[1] for name in zipfile.ZipFile(wheel).namelist()}
    assert {"licenses/LICENSE", "licenses/NOTICE", "py.typed", "entry_points.txt"} <= names


def test_the_command_works_from_the_installed_wheel(programs: Path, tmp_path: Path) -> None:
    assert "Usage: couler" in run(programs / "couler", "--help", cwd=tmp_path, NO_COLOR="1", TERM="dumb")


def test_an_example_runs_outside_the_checkout(programs: Path, checkout: Path, tmp_path: Path) -> None:
    shutil.copy(checkout / "examples" / "hello.py", tmp_path)
    printed = json.loads(run(programs / "couler", "run", "hello.py", "--json", cwd=tmp_path))
    assert printed["status"] == "Succeeded"


@pytest.mark.parametrize("door", DOORS)
def test_a_door_at_the_top_leads_into_the_package_and_refuses_to_be_imported(checkout: Path, door: str) -> None:
    if not (checkout / ".git").exists():
        pytest.skip("the doors are in checkouts only")
    assert (checkout / door).readlink() == Path("couler_py") / door
    ended = subprocess.run(
        [sys.executable, "-c", f"import {door}"], cwd=checkout, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert f"ImportError: '{door}' is the folder couler_py/{door}" in ended.stderr
    assert f"write `import couler_py.{door}`" in ended.stderr
