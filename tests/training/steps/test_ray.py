"""A job of a real Ray, started on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from couler_py.steps import ray

PROGRAM = """
import os, ray
ray.init()
square = ray.remote(lambda x: x * x)
print("sum", sum(ray.get([square.remote(each) for each in range(4)])), os.environ["WORD"])
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_TMPDIR", "/tmp")  # its sockets have short names
    Path("code").mkdir()
    Path("code/program.py").write_text(PROGRAM)


def test_a_program_runs_in_its_folder_and_what_it_prints_is_kept() -> None:
    done = ray.submit("python program.py", working_dir=Path("code"), variables={"WORD": "x"}, poll=0.5)
    assert "sum 14 x" in done.log.read_text().splitlines()


def test_a_program_that_fails_is_an_error_with_the_end_of_its_log() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)ended as FAILED: .*KeyError: 'WORD'"):
        ray.submit("python program.py", working_dir=Path("code"), poll=0.5)
