"""How the programs that are measured are started: each in a new process, nothing of this environment in theirs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
OURS = Path(sys.executable)
PEERS = HERE.parent / ".venv-bench" / "bin" / "python"


class FailedError(Exception):
    """A program that ended with an error; the text is the last thing that it said."""


def output(python: Path, *arguments: object) -> str:
    """What a Python program prints. Raises `FailedError`."""
    # The package is found where it is installed, and hashes differ in every process, as they do for users.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    ended = subprocess.run([python, *map(str, arguments)], capture_output=True, text=True, env=kept, check=False)
    if ended.returncode:
        raise FailedError((ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"])[-1])
    return ended.stdout


def version(python: Path, distribution: str) -> str | None:
    """The version that an environment has of a distribution; None where it has none."""
    code = f"import importlib.metadata as m; print(m.version({distribution!r}))"
    try:
        return output(python, "-c", code).strip()
    except FailedError:
        return None


def usable_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
