"""Tests of training with a real torch, in its own environment (`make test-training`); elsewhere none is looked into."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired, run

import pytest

INSTALLED = importlib.util.find_spec("torch") is not None
collect_ignore_glob = [] if INSTALLED else ["*/test_*.py", "test_*.py"]

# Two processors are shared by several processes that each would take both.
os.environ.setdefault("OMP_NUM_THREADS", "1")


Launch = Callable[..., str]

HERE = Path(__file__).resolve().parent
LONGEST = 600
"""Seconds that a test of training may take: several processes import torch, beside whatever else runs."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LONGEST))


def torchrun(
    checkout: Path, folder: Path, module: str, processes: int, *arguments: str, timeout: float = 500, **variables: str
) -> str:
    """Run a module in so many processes of one torchrun; it gives their output.

    A launch costs seconds, mostly imports: put many checks into one. Which rank said what is in the folders that
    torchrun writes beside; the last lines of each stand in the error of a launch that fails.
    """
    logs = folder / "torchrun"
    command = [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"),
        *(f"--log-dir={logs}", "--tee=3", "--module", module, *arguments),
    ]
    environment = os.environ | {"PYTHONPATH": str(checkout)} | variables
    try:
        done = run(command, capture_output=True, text=True, timeout=timeout, env=environment, check=False, cwd=folder)
    except TimeoutExpired:
        pytest.fail("\n".join([f"{module} was not done after {timeout:g} s", *last_lines(logs)]))
    if done.returncode:
        pytest.fail("\n".join([f"{module} ended with {done.returncode}", *last_lines(logs), done.stderr[-3000:]]))
    return done.stdout


def last_lines(logs: Path) -> list[str]:
    """What each rank said last."""
    return sorted(f"--- {path.parent.name} {path.name}\n{path.read_text()[-4000:]}" for path in logs.rglob("std*.log"))


@pytest.fixture
def launch(checkout: Path, tmp_path: Path) -> Launch:
    """`launch("module", 4, "argument", …)`: `torchrun` in the test's own folder."""
    return partial(torchrun, checkout, tmp_path)


class Ranks:
    """A process in which torch is imported, from which ranks fork: `tests/training/hybrid/forked.py`."""

    def __init__(self, checkout: Path):
        self._checkout = checkout
        self._environment = os.environ | {"PYTHONPATH": str(checkout)}  # as no test has changed it
        self._process: Popen[str] | None = None

    def __call__(self, folder: Path, module: str, count: int, *arguments: str) -> str:
        """What so many ranks of a module say, which run in a folder; the test fails where one does."""
        said = folder / "ranks.log"
        asked = {"module": module, "count": count, "arguments": arguments, "folder": str(folder), "said": str(said)}
        try:
            failed = self._asked(json.dumps(asked))
        except BaseException:  # a time-out: it still waits for its ranks
            self.end()
            sys.stderr.write(said.read_text()[-9000:] if said.exists() else "")
            raise
        if failed != "0":
            if not failed:
                self.end()
            told = said.read_text()[-9000:] if said.exists() else ""
            pytest.fail(f"{module}: {failed or 'all'} ranks failed\n{told}")
        return said.read_text()

    def _asked(self, line: str) -> str:
        if self._process is None:
            self._process = Popen(
                [sys.executable, "-m", "tests.training.hybrid.forked"],
                stdin=PIPE,
                stdout=PIPE,
                text=True,
                env=self._environment,
                cwd=self._checkout,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def end(self) -> None:
        """End it, with ranks that a test left behind."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.communicate()
            self._process = None


@pytest.fixture(scope="session")
def forking(checkout: Path) -> Iterator[Ranks]:
    """The process from which the ranks of a whole run fork: importing torch takes longer than most tests."""
    made = Ranks(checkout)
    yield made
    made.end()


@pytest.fixture
def ranks(forking: Ranks, tmp_path: Path) -> Launch:
    """`ranks("module", 4, "argument", …)`: that many ranks in the test's own folder."""
    return partial(forking, tmp_path)
