"""Start the same processes without an engine, two at once; nothing waits, and nothing is kept. Arguments: see `runs`.

With "spawn" after them by `posix_spawn`, else by `subprocess`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import runs
from programs import usable_processors


def run(waits: list[list[int]], commands: bool, folder: Path) -> int:
    command = ["true"] if commands else [sys.executable, "-c", "pass"]
    start = _spawn if "spawn" in sys.argv[4:] else _subprocess
    with ThreadPoolExecutor(usable_processors()) as pool:
        return sum(pool.map(start, [command] * len(waits)))


def _subprocess(command: list[str]) -> bool:
    return subprocess.run(command, check=False).returncode == 0


def _spawn(command: list[str]) -> bool:
    pid = os.posix_spawnp(command[0], command, os.environ)
    return os.waitpid(pid, 0)[1] == 0


if __name__ == "__main__":
    runs.main(run)
