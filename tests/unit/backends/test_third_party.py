"""An engine that another package brings, the one of docs/guides/engines.md: installed, listed, compiled to, run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

FLOW = """
import couler_py as couler

say = couler.container("alpine:3.20", ["printf"], ["%s|", couler.argument("text")], inputs={"text": str})

@couler.workflow
def speak():
    first = say(text="$HOME `id` 'and' $(x)")
    second = say(text="@it's # done")
    first >> second
"""
REFUSED = """
import couler_py as couler

@couler.step
def work() -> int:
    return 1

@couler.workflow
def refused():
    couler.map(lambda x: work(), [1, 2])
    couler.on_exit(work)
"""


@pytest.fixture(scope="module")
def site(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the package is installed into, as into any environment."""
    folder = tmp_path_factory.mktemp("site")
    package = checkout / "tests" / "packages" / "couler-make-engine"
    uv = Path(sys.executable).with_name("uv")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--offline", "--python", sys.executable]
    subprocess.run([uv, "pip", "install", *options, "--target", folder, package], check=True)
    return folder


@pytest.fixture
def couler(site: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command line of an environment that has the package."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        program = "from couler_py.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(site), "NO_COLOR": "1", "COLUMNS": "120"},
            capture_output=True,
            text=True,
            check=False,
        )

    return call


def test_the_engine_is_listed_beside_ours(couler: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    assert couler("engines").stdout.split()[:5] == ["FEATURE", "airflow", "argo", "local", "make"]


def test_a_workflow_compiles_to_a_makefile_that_runs(
    couler: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "flow.py").write_text(FLOW)
    done = couler("compile", "flow.py", "--to", "make", "-o", "Makefile")
    assert done.returncode == 0, done.stderr
    made = (tmp_path / "Makefile").read_text()
    assert "2-alpine-2: 1-alpine\n" in made
    ran = subprocess.run(["make", "--silent"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout == "$HOME `id` 'and' $(x)|@it's # done|"


def test_all_that_it_cant_do_is_said_at_once(
    couler: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "flow.py").write_text(REFUSED)
    done = couler("compile", "flow.py", "--to", "make")
    assert done.returncode == 2
    for what in ("a Python function with typed", "fan-out over a list known when", "templates after the run"):
        assert f"error[MAKE1]: make can't do {what}" in done.stderr
