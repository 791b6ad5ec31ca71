"""The command line as its users call it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

FLOW = """
import couler_py as couler


@couler.step
def greet(name: str, times: int) -> str:
    return " ".join(["hello", *[name] * times])


@couler.workflow
def hello(name: str = "world", times: int = 1):
    return greet(name, times)
"""


class Result(msgspec.Struct, frozen=True):
    code: int
    out: str
    err: str


Couler = Callable[..., Result]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, which also holds the runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COULER_HOME", str(tmp_path / ".couler"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.fixture
def flow(here: Path) -> str:
    """A file with one workflow of one step."""
    (here / "flow.py").write_text(FLOW)
    return "flow.py"


@pytest.fixture
def couler(here: Path, capsys: pytest.CaptureFixture[str]) -> Couler:
    """The command line, called in this process."""
    from couler_py.cli.app import group

    def call(*arguments: str) -> Result:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            group().main(list(arguments), prog_name="couler")
        printed = capsys.readouterr()
        code = ended.value.code
        return Result(code if isinstance(code, int) else 0, printed.out, printed.err)

    return call
