"""What every test may use, and how long each room took."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.cluster.fixtures", "tests.cluster.containers", "tests.cluster.swift"]

# No test depends on how fast the machine is; a failure prints what reproduces it.
settings.register_profile("couler", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("couler")

ROOT = Path(__file__).resolve().parent.parent

# Tests may be started with signals ignored (by nohup, or in the background of a script), and programs inherit that:
# those under test must hear the signals that they are sent.
for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number is signal.SIGINT else signal.SIG_DFL)

_leave = subprocess.Popen.__exit__


def _end(program: subprocess.Popen[Any], kind: type[BaseException] | None, *more: Any) -> None:
    """A test that fails, or takes too long, doesn't wait for the end of what it started in a `with`."""
    if kind is not None:
        program.kill()
    _leave(program, kind, *more)


subprocess.Popen.__exit__ = _end  # type: ignore[method-assign]

# Runs of tests share this machine among themselves, and not with others that go on beside them.
_ledger = tempfile.TemporaryDirectory(prefix="couler-ledger-")
os.environ["COULER_LEDGER"] = _ledger.name


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder of the checkout that these tests lie in."""
    return ROOT


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """Argo's own CRDs and example manifests: $COULER_REFERENCE_DATA, else a folder beside the checkout."""
    folder = Path(os.environ.get("COULER_REFERENCE_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no reference data: {folder} does not exist; COULER_REFERENCE_DATA names another folder")
    return folder


def room_of(nodeid: str) -> str:
    """`tests/unit/ir/test_graph.py::test_x` is in the room `unit/ir`."""
    folders = nodeid.split("::")[0].split("/")[1:-1]
    return "/".join(folders[:2]) or "tests"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the seconds that each room's tests took, all processes together."""
    rooms: dict[str, float] = defaultdict(float)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                rooms[room_of(report.nodeid)] += report.duration
    terminalreporter.section("seconds in each room")
    for room, seconds in sorted(rooms.items()):
        terminalreporter.write_line(f"{seconds:8.1f}  {room}")
