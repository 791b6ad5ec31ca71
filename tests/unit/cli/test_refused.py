"""Documents in Argo's own words that Argo would refuse: compiled with a warning, neither run nor submitted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Couler

PROGRAM = """\
from couler_py import argo_native as argo

with argo.Workflow(generateName="hello-", entrypoint="hello"%s) as hello:
    argo.container("hello", image="alpine:3.20", command=["echo", "{{inputs.parameters.x}}"])
"""
YAML = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: hello-}
spec:
  entrypoint: hello
  templates:
  - name: hello
    container: {image: alpine:3.20, command: [echo, "{{inputs.parameters.x}}"]}
"""
REFUSED = "[CLR467]: the template 'hello' has no 'inputs.parameters.x'"


@pytest.fixture(params=["hello.py", "hello.yaml"])
def broken(request: pytest.FixtureRequest, here: Path) -> str:
    (here / "hello.py").write_text(PROGRAM % "")
    (here / "hello.yaml").write_text(YAML)
    return str(request.param)


def test_it_is_written_with_a_warning(couler: Couler, broken: str) -> None:
    shown = couler("compile", broken)
    assert shown.code == 0
    assert shown.out.startswith("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\n")
    assert f"warning{REFUSED}" in shown.err
    assert f" --> {broken}:" in shown.err.replace(str(Path.cwd()) + "/", "")


def test_it_is_not_run(couler: Couler, broken: str) -> None:
    shown = couler("run", broken, "--runtime", "process")
    assert shown.code == 2
    assert f"error{REFUSED}" in shown.err
    assert couler("runs").err == "no runs yet\n"


@pytest.mark.parametrize("command", ["graph", "plan"])
def test_it_is_neither_drawn_nor_planned(couler: Couler, broken: str, command: str) -> None:
    shown = couler(command, broken)
    assert shown.code == 2
    assert f"error{REFUSED}" in shown.err


def test_a_program_is_not_submitted(couler: Couler, here: Path) -> None:
    (here / "hello.py").write_text(PROGRAM % "")
    # No cluster is there: what is refused never asks for one.
    shown = couler("submit", "hello.py", "--to", "argo", "--server", "http://127.0.0.1:9")
    assert shown.code == 2
    assert f"error{REFUSED}" in shown.err


def test_of_what_is_written_unchecked_nothing_is_said(couler: Couler, here: Path) -> None:
    (here / "hello.py").write_text(PROGRAM % ", check=False")
    shown = couler("compile", "hello.py")
    assert (shown.code, shown.err) == (0, "")
