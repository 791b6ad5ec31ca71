"""Tests of training with a real torch, in its own environment (`make test-training`); elsewhere none is looked into."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from subprocess import run

import pytest

INSTALLED = importlib.util.find_spec("torch") is not None
collect_ignore_glob = [] if INSTALLED else ["*/test_*.py", "test_*.py"]

# Two processors are shared by several processes that each would take both.
os.environ.setdefault("OMP_NUM_THREADS", "1")


Launch = Callable[..., str]


def torchrun(
    checkout: Path, folder: Path, module: str, processes: int, *arguments: str, timeout: float = 240, **variables: str
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
    done = run(command, capture_output=True, text=True, timeout=timeout, env=environment, check=False, cwd=folder)
    if done.returncode:
        said = [f"--- {path.parent.name} {path.name}\n{path.read_text()[-4000:]}" for path in logs.rglob("std*.log")]
        pytest.fail("\n".join([f"{module} ended with {done.returncode}", *sorted(said), done.stderr[-3000:]]))
    return done.stdout


@pytest.fixture
def launch(checkout: Path, tmp_path: Path) -> Launch:
    """`launch("module", 4, "argument", …)`: `torchrun` in the test's own folder."""
    return partial(torchrun, checkout, tmp_path)
