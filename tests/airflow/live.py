"""A running Airflow with the workflows of `flows.py`, as tests of the client see it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
from couler_py.backends.airflow.client import AirflowClient, write
from couler_py.backends.airflow.client.deploying import errors_of, wait
from couler_py.backends.base import FINISHED, Bundle, RunStatus
from tests.airflow import flows, server

SECONDS_TO_READ = 300.0


class Live:
    """A server, a client of it, and what each workflow compiles to."""

    def __init__(self, at: server.Server, store: Path):
        self.server = at
        self.store = str(store)
        self.client = AirflowClient()
        self.api = self.client._server
        self.bundles = {each.name: self.compiled(each) for each in flows.ALL}

    def compiled(self, workflow: Any) -> Bundle:
        return couler.compile(workflow, to="airflow", operators="local", artifacts=self.store)

    def deploy_all(self) -> None:
        deployed = [write(each, self.server.dags) for each in self.bundles.values()]
        for each, bundle in zip(deployed, self.bundles.values(), strict=True):
            wait(self.api, each, bundle.text, errors_of(self.api, each.path), SECONDS_TO_READ)

    def start(self, workflow: str, /, **parameters: Any) -> str:
        return self.client.submit(self.bundles[workflow], parameters=parameters)

    def until(self, run: str, task: str, status: str) -> RunStatus:
        """The run when a task has come so far, which may be so for a few seconds only."""
        while (found := self.client.status(run)).status not in FINISHED:
            if any(each.name == task and each.status == status for each in found.tasks):
                return found
            time.sleep(0.2)
        raise AssertionError(f"{task} was never {status}: {states(found)}")

    def ended(self, run: str) -> RunStatus:
        *_, last = self.client.watch(run)
        return last


def states(status: RunStatus) -> Mapping[str, str]:
    """The status of each task by its path."""
    return {task.name: task.status for task in status.tasks}


@contextmanager
def started(home: Path) -> Iterator[Live]:
    """Start it, tell couler of it by the environment, and put all workflows there."""
    with pytest.MonkeyPatch.context() as patch, server.running(home / "home") as at:
        for name in [each for each in os.environ if each.startswith("COULER_AIRFLOW_")]:
            patch.delenv(name)
        for name, value in at.environment.items():
            patch.setenv(name, value)
        found = Live(at, home / "store")
        found.deploy_all()
        yield found
