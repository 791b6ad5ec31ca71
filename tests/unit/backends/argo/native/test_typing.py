"""A type checker knows the fields: what is wrong is said before anything runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WRONG = """\
import couler_py as couler
from couler_py import argo_native as argo

with argo.Workflow("w", entrypont="a") as w:
    one = argo.container("one", imag="x")
    two = argo.container("two", image=3)
    argo.container("three", image="x", env=[{"nam": "x"}])
    with argo.dag("main") as main:
        a = one("a", when=1)
        reveal_type(a.result)
        reveal_type(a & ~a)


@couler.workflow(argo={"podGC": {"strategy": "Now"}})
def flow() -> None: ...
"""

RIGHT = """\
import couler_py as couler
from couler_py import argo_native as argo
from couler_py.argo_native import words

retry: words.RetryStrategy = {"limit": 3, "affinity": {"nodeAntiAffinity": {}}}

with argo.Workflow("w", templateDefaults={"container": {"image": "x"}}, retryStrategy=retry) as w:
    one = argo.container("one", image="x", volumes=[{"name": "v", "emptyDir": {}}])
    with argo.dag("main", dag={"failFast": False}):
        one("a", hooks={"exit": {"template": one}}, withItems=[1, {"a": 2}], withParam=argo.input("x"))


@couler.step(argo={"retryStrategy": retry, "script": {"livenessProbe": {"exec": {"command": ["true"]}}}})
def step() -> int:
    return 1


@couler.workflow(argo={"podGC": {"strategy": "OnPodSuccess"}, "stopStrategy": {"expression": "true"}})
def flow() -> int:
    return step.argo_task(onExit="step")()
"""


def checked(program: str, folder: Path) -> list[str]:
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[5])
    return [line.partition("program.py:")[2] for line in done.stdout.splitlines() if ": note: Possible" not in line]


def test_mistakes_are_errors_at_their_lines(tmp_path: Path) -> None:
    found = checked(WRONG, tmp_path)
    errors = {int(line.partition(":")[0]) for line in found if ": error:" in line}
    assert {4, 5, 6, 7, 9, 14} <= errors
    revealed = [line.partition('"')[2].rstrip('"').rpartition(".")[2] for line in found if "Revealed type" in line]
    assert revealed == ["Reference", "Depends"]


def test_what_is_right_passes(tmp_path: Path) -> None:
    assert checked(RIGHT, tmp_path) == []
