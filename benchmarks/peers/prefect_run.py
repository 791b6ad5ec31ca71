"""Run a graph with Prefect, on the ephemeral server that it starts for who has none. Arguments: see `runs`.

The server is started by the untimed graph. Tasks run in threads of this process, as many at once as the machine has
processors; nothing is kept of what they return, and logs aren't sent to the server.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

home = tempfile.mkdtemp(prefix="couler-bench-prefect-")
atexit.register(shutil.rmtree, home, ignore_errors=True)
os.environ |= {
    "PREFECT_HOME": home,
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
}

import runs  # noqa: E402 - the settings are read by the import
from prefect import flow, task  # noqa: E402
from prefect.task_runners import ThreadPoolTaskRunner  # noqa: E402
from programs import usable_processors  # noqa: E402


@task
def true() -> None:
    subprocess.run(["true"], check=True)


@task
def nothing() -> None:
    pass


@flow(task_runner=ThreadPoolTaskRunner(max_workers=usable_processors()))
def graph(waits: list[list[int]], commands: bool) -> int:
    step = true if commands else nothing
    futures: list = []
    for producers in waits:
        futures.append(step.submit(wait_for=[futures[producer] for producer in producers]))
    for future in futures:
        future.wait()
    return sum(future.state.is_completed() for future in futures)


def run(waits: list[list[int]], commands: bool, folder: Path) -> int:
    return graph(waits, commands)


if __name__ == "__main__":
    runs.main(run)
