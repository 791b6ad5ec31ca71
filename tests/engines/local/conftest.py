"""Fixtures of the local engine's tests: a home of its own for each, processes of the engine, and who is left behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from couler_py.ir import Workflow, to_json

DRIVE = Path(__file__).with_name("drive.py")


class Driver:
    """The engine in a process of its own, its events read line by line."""

    def __init__(self, verb: str, home: Path, what: str):
        self.process = subprocess.Popen(
            [sys.executable, str(DRIVE), verb, str(home), what],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "TEST_ENGINE_HOME": str(home)},
        )
        self.run = ""
        self.summary: dict[str, Any] = {}

    def events(self) -> Iterator[dict[str, Any]]:
        """What happens, until the engine is gone."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event = json.loads(line)
            if event["kind"] == "id":
                self.run = event["path"]
            elif event["kind"] == "end":
                self.summary = event
            yield event

    def until(self, **wanted: Any) -> dict[str, Any]:
        """Read up to the first event with these members."""
        for event in self.events():
            if all(event.get(key) == value for key, value in wanted.items()):
                return event
        raise AssertionError(f"the engine ended without {wanted}")

    def finish(self) -> dict[str, Any]:
        """Read to the end, and give the summary."""
        for _ in self.events():
            pass
        self.process.wait()
        return self.summary

    def kill(self) -> None:
        """kill -9, of the engine's process alone."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)


class Drivers:
    """Starts engines on one home."""

    def __init__(self, home: Path):
        self.home = home
        self._started: list[Driver] = []

    def run(self, workflow: Workflow) -> Driver:
        file = self.home.parent / f"workflow-{len(self._started)}.json"
        file.write_text(to_json(workflow))
        return self._start("run", str(file))

    def resume(self, run: str) -> Driver:
        return self._start("resume", run)

    def retry(self, run: str) -> Driver:
        return self._start("retry", run)

    def _start(self, verb: str, what: str) -> Driver:
        driver = Driver(verb, self.home, what)
        self._started.append(driver)
        return driver

    def close(self) -> None:
        for driver in self._started:
            driver.process.kill()
            driver.process.wait()
            assert driver.process.stdout is not None
            driver.process.stdout.close()
        # Steps outlive an engine that is killed: those of a test that failed would keep their share of the machine.
        until = time.monotonic() + 30
        while (left := processes_of(self.home)) and time.monotonic() < until:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def drivers(home: Path) -> Iterator[Drivers]:
    found = Drivers(home)
    yield found
    found.close()


def processes_of(home: Path) -> dict[int, str]:
    """The processes that were started, directly or not, by engines on a home: their ids and commands."""
    mark = f"TEST_ENGINE_HOME={home}\0".encode()
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if mark in (folder / "environ").read_bytes() + b"\0":
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z":
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


def integrity(home: Path) -> str:
    """What SQLite says of the store's consistency: "ok"."""
    with closing(sqlite3.connect(home / "couler.sqlite")) as connection:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
