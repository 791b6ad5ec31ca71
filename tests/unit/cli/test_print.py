"""`couler print`: a workflow as Python source."""

from __future__ import annotations

from pathlib import Path

from tests.unit.cli.conftest import Couler

FLOW = """\
import couler_py as couler


@couler.step
def greet(name: str) -> str:
    return f"hello {name}"


@couler.workflow
def hello(name: str = "world"):
    return greet(name)
"""


def test_a_file_prints_as_it_was_written(couler: Couler, here: Path) -> None:
    (here / "flow.py").write_text(FLOW)
    shown = couler("print", "flow.py")
    assert (shown.code, shown.out) == (0, FLOW)


def test_ir_becomes_a_python_file(couler: Couler, here: Path) -> None:
    (here / "flow.py").write_text(FLOW)
    assert couler("compile", "flow.py", "--to", "ir", "-o", "flow.json").code == 0
    assert couler("print", "flow.json", "-o", "again.py").code == 0
    assert (here / "again.py").read_text() == FLOW
