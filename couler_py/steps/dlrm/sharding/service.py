"""A master as a process of its own, which is started again when it dies."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec

from couler_py.steps.checkpoint.places import Folder
from couler_py.steps.dlrm.sharding.master import SETTINGS
from couler_py.steps.dlrm.sharding.settings import Settings

STARTS = 60.0  # seconds that a master has to start
AGAIN = 20
"""How often a master is started again before it counts as broken."""


class Service:
    """A master that runs, and how often it had to be started again. It ends with this process, however that ends."""

    def __init__(self, folder: Path, host: str):
        self._folder, self._host = folder, host
        self.restarts = 0
        self._over = threading.Event()
        self._process = self._started()
        self._watcher = threading.Thread(target=self._watch, name="master of shards", daemon=True)
        self._watcher.start()

    @property
    def pid(self) -> int:
        """The process of the master that runs now."""
        return self._process.pid

    def stop(self) -> None:
        """End it."""
        self._over.set()
        self._process.terminate()
        self._watcher.join()

    def _started(self) -> subprocess.Popen[bytes]:
        module = "couler_py.steps.dlrm.sharding.master"
        command = [sys.executable, "-m", module, str(self._folder), self._host, str(os.getpid())]
        with open(self._folder / "log", "ab") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log)
        assert process.stdout is not None
        with process.stdout as said:
            ready = bool(select.select([said], [], [], STARTS)[0]) and said.readline() == b"ready\n"
        if not ready and process.poll() is None:
            process.kill()
        if not ready and not self.restarts:
            raise RuntimeError(f"the master of shards didn't start: {self._folder / 'log'} says why")
        return process

    def _watch(self) -> None:
        while True:
            self._process.wait()
            if self._over.is_set() or self.restarts >= AGAIN:  # workers that find no master say so
                return
            self.restarts += 1
            self._process = self._started()
            if self._over.is_set():
                self._process.terminate()


@contextlib.contextmanager
def serving(folder: str | os.PathLike[str], settings: Settings, host: str = "127.0.0.1") -> Iterator[Service]:
    """Run a master on a folder while the block runs; a folder that has been used goes on where it was.

    With `host="0.0.0.0"` workers of other machines reach it, at the address in `address.json`, with the content of
    `token`. Raises `ValueError` where the folder was used with other settings, and `RuntimeError` where the master
    doesn't start.
    """
    place = Path(folder)
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = place / SETTINGS
    if path.exists():
        found = msgspec.json.decode(path.read_bytes(), type=Settings)
        if found != settings:
            raise ValueError(f"{place} is of another training: {found}, not {settings}")
    else:
        Folder(place).swap(SETTINGS, msgspec.json.encode(settings))
    service = Service(place, host)
    try:
        yield service
    finally:
        service.stop()
