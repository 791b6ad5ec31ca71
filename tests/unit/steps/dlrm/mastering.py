"""Masters and workers as forked processes of a test, which can be killed."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from couler_py.steps.dlrm.sharding import journal
from couler_py.steps.dlrm.sharding.master import SETTINGS, Master
from couler_py.steps.dlrm.sharding.settings import Settings
from couler_py.steps.dlrm.sharding.worker import Worker
from couler_py.store import faults

FORK = multiprocessing.get_context("fork")


def started(work: Callable[..., None], *arguments: object) -> multiprocessing.process.BaseProcess:
    """A process that does something."""
    process = FORK.Process(target=work, args=arguments)
    process.start()
    return process


def _serve(folder: Path, fault: str, compact: int) -> None:
    journal.COMPACT = compact
    if fault:
        os.environ["COULER_FAULT_MARK"] = str(folder / "mark")
        faults._fault = faults._Fault(fault)
    master = Master(folder)
    signal.signal(signal.SIGTERM, master.stop)
    master.serve()


class Restarts:
    """How often a master had to be started again."""

    count = 0


@contextlib.contextmanager
def mastered(folder: Path, settings: Settings, fault: str = "", compact: int = 4096) -> Iterator[Restarts]:
    """A master that is killed once, at a point, and started again whenever it dies."""
    folder.mkdir()
    (folder / SETTINGS).write_bytes(msgspec.json.encode(settings))
    told, over, changing = Restarts(), threading.Event(), threading.Lock()
    process = started(_serve, folder, fault, compact)

    def watch() -> None:
        nonlocal process
        while True:
            process.join()
            with changing:
                if over.is_set():
                    return
                told.count += 1
                process = started(_serve, folder, fault, compact)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield told
    finally:
        with changing:
            over.set()
            process.terminate()
        watcher.join()


def work(folder: Path, name: str, out: Path, chunk: int, die_at: int = 0) -> None:
    """Train on shards until there are none: a row is in the model once its number is in a file.

    At the `die_at`-th chunk the process is killed, after the rows are in the model and before it has said so.
    """
    chunks = 0
    with Worker(folder, name) as worker, open(out, "a") as model:
        for lease in worker.leases():
            for first in range(lease.cursor, lease.rows, chunk):
                last = min(lease.rows, first + chunk)
                model.writelines(f"{row}\n" for row in range(lease.start + first, lease.start + last))
                model.flush()
                chunks += 1
                if chunks == die_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                worker.advance(lease, last)


def rows_of(*models: Path) -> list[int]:
    """The rows that are in models, each as often as it is."""
    return sorted(int(line) for model in models if model.exists() for line in model.read_text().split())
