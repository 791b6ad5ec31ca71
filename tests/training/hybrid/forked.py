"""Ranks as processes that fork from one in which torch is already imported: importing is most of what a launch takes.

The fixture `ranks` (`tests/training/conftest.py`) keeps that process for all tests of a run. It reads a line of JSON
for each launch, forks so many ranks, which call the module's `main(rank, store, arguments…)`, and answers with how many
failed; the first that fails ends all. A rank that calls `os._exit(LOST)` is lost, and the others go on without it.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from datetime import timedelta

import torch.distributed as dist

LOST = 77


def begin(store: dist.Store, generation: str, rank: int, count: int, timeout: float = 60.0) -> None:
    """The default process group of some processes, which may be another one later, under another name."""
    dist.init_process_group(
        "gloo",
        store=dist.PrefixStore(generation, store),
        rank=rank,
        world_size=count,
        timeout=timedelta(seconds=timeout),
    )


def main() -> None:
    importlib.import_module("torch._dynamo")  # each rank's first optimizer would, for seconds
    for line in sys.stdin:
        asked = json.loads(line)
        said = os.open(asked["said"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            failed = launch(asked["module"], asked["count"], asked["arguments"], asked["folder"], said)
        except Exception:
            os.write(said, traceback.format_exc().encode())
            failed = asked["count"]
        os.close(said)
        print(failed, flush=True)


def launch(module: str, count: int, arguments: Sequence[str], folder: str, said: int) -> int:
    """Run so many ranks of a module in a folder; what they say goes to a descriptor. Gives how many failed."""
    work = importlib.import_module(module).main
    children = {}
    reading, writing = os.pipe()
    for rank in range(count):
        child = os.fork()
        if not child:
            ended = 1
            try:
                os.close(writing)
                os.dup2(said, 1)
                os.dup2(said, 2)
                os.chdir(folder)
                port = int(os.read(reading, 8))
                work(rank, dist.TCPStore("127.0.0.1", port, is_master=False), *arguments)
                ended = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(ended)
        children[child] = rank
    try:
        # After the forks: its thread might hold a lock, which nobody would release in a child.
        server = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        os.write(writing, f"{server.port:8}".encode() * count)
    finally:  # who has no port by now ends
        os.close(reading)
        os.close(writing)
    failed = 0
    while children:
        child, status = os.wait()
        rank, code = children.pop(child), os.waitstatus_to_exitcode(status)
        if code not in (0, LOST):
            failed += 1
            os.write(said, f"rank {rank} ended with {code}\n".encode())
            for other in children:
                os.kill(other, signal.SIGKILL)
    return failed


if __name__ == "__main__":
    main()
