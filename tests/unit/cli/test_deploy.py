"""`couler deploy` where no Airflow is named: a file in a folder."""

from __future__ import annotations

from pathlib import Path

from tests.unit.cli.conftest import Couler


def test_what_passes_are_asked_for_is_in_the_file(flow: str, couler: Couler, here: Path) -> None:
    (here / "dags").mkdir()
    asked = ["--retry-platform", "2"]
    done = couler("deploy", flow, "--to", "airflow", "--dags-folder", "dags", "--wait", "0", *asked)
    assert done.code == 0
    written = (here / "dags" / "hello.py").read_text()
    assert written == couler("compile", flow, "--to", "airflow", *asked, "-o", "-").out
    assert written != couler("compile", flow, "--to", "airflow", "-o", "-").out


LOCKED = """import couler_py as couler

@couler.step(mutex="one-at-a-time")
def square(x: int) -> int:
    return x * x

@couler.workflow
def alone():
    return square(3)
"""


def test_pools_that_nobody_made_are_named(couler: Couler, here: Path) -> None:
    (here / "dags").mkdir()
    (here / "alone.py").write_text(LOCKED)
    done = couler("deploy", "alone.py", "--to", "airflow", "--dags-folder", "dags", "--wait", "0")
    assert done.code == 0
    assert "nobody made the pools that it needs: one-at-a-time" in " ".join(done.err.split())
