"""Ranks as processes that fork from one in which torch is already imported: importing is most of what a launch takes.

`launched` runs them: `python -m tests.training.hybrid.forked MODULE COUNT [ARGUMENT …]` calls the module's
`main(rank, store, arguments…)` in each; the first that fails ends all. A rank that calls `os._exit(LOST)` is lost, and
the others go on without it.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import traceback
from datetime import timedelta
from pathlib import Path

import pytest
import torch.distributed as dist

LOST = 77


def launched(checkout: Path, folder: Path, module: str, count: int, *arguments: str, timeout: float = 900) -> str:
    """What the ranks of a module print; the test fails where one does, or where they wait for ever."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.training.hybrid.forked", module, str(count), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
        check=False,
        cwd=folder,
    )
    if done.returncode:
        pytest.fail(f"{module} ended with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
    return done.stdout


def begin(store: dist.Store, generation: str, rank: int, count: int, timeout: float = 240.0) -> None:
    """The default process group of some processes, which may be another one later, under another name."""
    dist.init_process_group(
        "gloo",
        store=dist.PrefixStore(generation, store),
        rank=rank,
        world_size=count,
        timeout=timedelta(seconds=timeout),
    )


def main() -> int:
    module, count, *arguments = sys.argv[1:]
    work = importlib.import_module(module).main
    server = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    children = {}
    for rank in range(int(count)):
        child = os.fork()
        if not child:
            ended = 1
            try:
                work(rank, dist.TCPStore("127.0.0.1", server.port, is_master=False), *arguments)
                ended = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(ended)
        children[child] = rank
    failed = 0
    while children:
        child, status = os.wait()
        rank, code = children.pop(child), os.waitstatus_to_exitcode(status)
        if code not in (0, LOST) and not failed:
            failed = 1
            print(f"rank {rank} ended with {code}", file=sys.stderr)
            for other in children:
                os.kill(other, signal.SIGKILL)
    return failed


if __name__ == "__main__":
    sys.exit(main())
