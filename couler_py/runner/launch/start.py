"""The beginning of the program: what is to run, how often it begins again, and how it ends."""

from __future__ import annotations

import json
import shutil
import signal
import sys
import tempfile

from couler_py.runner.launch.agents import torch
from couler_py.runner.launch.members import Job, StoppedError, say
from couler_py.runner.launch.ranks import mpi, processes
from couler_py.runner.launch.watching import HungError

RUN = {"torch": torch, "mpi": mpi, "tensorflow": processes, "generic": processes}


def main(argv: list[str]) -> int:
    spec, words = json.loads(argv[0]), list(argv[1:])
    with tempfile.TemporaryDirectory(prefix="couler-job-") as folder:
        job = Job(spec, [here(words), *(here(each.get("command", [])) for each in spec["roles"])], folder)

        def stop(*_: object) -> None:
            job.stopping = True

        for kind in (signal.SIGTERM, signal.SIGINT):
            signal.signal(kind, stop)
        try:
            return begun(job)
        except StoppedError:
            return 143
        finally:
            job.end_all()


def here(words: list[str]) -> list[str]:
    """A command whose Python is this one where the machine has none of that name."""
    if words and words[0] in ("python", "python3") and shutil.which(words[0]) is None:
        return [sys.executable, *words[1:]]
    return words


def begun(job: Job) -> int:
    """Run the job, and again after it has hung or failed, as often as it may be; gives the exit code."""
    while True:
        job.watch.begin()
        try:
            code = RUN[job.spec["framework"]](job)
        except HungError:
            say(f"no process has computed or written anything for {job.watch.patience:g} seconds: the job hangs")
            members = list(job.members.values())
            job.end_all()
            job.hangs += 1
            if job.again():
                continue
            for each in members:
                each.tell()
            return 1
        # Agents of torchrun have begun again themselves as often as they may.
        if code == 0 or job.spec["framework"] == "torch" or not job.again():
            return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
