"""Steps that another package brings, those of docs/steps.md: installed, imported by name, run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import couler_py.steps

FLOW = """
import couler_py as couler
from couler_py.steps import greeting

@couler.workflow
def flow():
    return greeting.greet("Ada", "fr")
"""


@pytest.fixture(scope="module")
def site(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the package is installed into, as into any environment."""
    folder = tmp_path_factory.mktemp("site")
    package = checkout / "tests" / "packages" / "couler-greet-steps"
    uv = Path(sys.executable).with_name("uv")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--offline", "--python", sys.executable]
    subprocess.run([uv, "pip", "install", *options, "--target", folder, package], check=True)
    return folder


def call(program: str, site: Path, here: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(site), "NO_COLOR": "1", "COULER_HOME": str(here / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_step_runs_and_its_source_travels(site: Path, tmp_path: Path) -> None:
    (tmp_path / "flow.py").write_text(FLOW)
    said = call("from couler_py.cli import main; main()", site, tmp_path, "run", "flow.py")
    assert "result = bonjour Ada" in said
    call("from couler_py.cli import main; main()", site, tmp_path, "compile", "flow.py", "--to", "argo", "-o", "f.yaml")
    text = (tmp_path / "f.yaml").read_text()
    assert "def words(language: str) -> str:" in text
    assert "import couler_greet" not in text


def test_it_is_listed_and_ours_are_found_first(site: Path, tmp_path: Path) -> None:
    program = "from couler_py import steps; print(sorted(steps.installed()), steps.sklearn.__name__)"
    assert call(program, site, tmp_path) == "['greeting', 'sklearn'] couler_py.steps.sklearn\n"


def test_a_step_that_there_isnt_is_an_error_with_those_that_there_are() -> None:
    with pytest.raises(
        AttributeError, match=r"no attribute 'skleam'; it has compare, copy, dlrm, edit, evaluate, http"
    ):
        couler_py.steps.skleam  # noqa: B018
