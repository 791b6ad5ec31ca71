"""Runs on one Airflow. A run is named `airflow:DAG/RUN`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from couler_py.backends.airflow.client import address, backfills, deploying, logs, outputs, steering
from couler_py.backends.airflow.client.login import connect
from couler_py.backends.airflow.client.naming import dag_of, generated, joined, split
from couler_py.backends.airflow.client.parameters import typed
from couler_py.backends.airflow.client.server import Server
from couler_py.backends.airflow.client.status import instant, run_status, task_statuses, with_outputs
from couler_py.backends.airflow.client.tree import Place, places
from couler_py.backends.airflow.client.watching import changes
from couler_py.backends.base import (
    FINISHED,
    Bundle,
    Instant,
    LogLine,
    NotOffered,
    OptionError,
    RunNotFoundError,
    RunStatus,
    TaskStatus,
)
from couler_py.backends.rest.failures import ConflictError, MissingError
from couler_py.backends.rest.pacing import Pacing
from couler_py.backends.rest.request import JSON
from couler_py.settings import load
from couler_py.settings.model import AirflowSettings

NOTE = "started by couler"
EXPLAINED = 5
"""Of so many failed tasks a status says what went wrong: each takes a call."""


class AirflowClient:
    """Steers runs on one Airflow, 3.1 or later.

    `server` is the URL of its api-server, `token` or `token_file` what lets us in; without them it is a user with a
    password. What isn't given comes from `settings` and the environment: see `address.find`. `authority` is a file of
    certificates to trust; `insecure` trusts everybody, and lets a password travel unencrypted.

    Raises `EngineUnreachableError` where no Airflow is named, or it doesn't let us in.
    """

    engine = "airflow"

    def __init__(
        self,
        *,
        server: str = "",
        token: str = "",
        token_file: str | Path = "",
        authority: str | Path = "",
        insecure: bool = False,
        settings: AirflowSettings | None = None,
        pacing: Pacing | None = None,
    ):
        place = address.find(
            settings or load().airflow,
            server=server,
            token=token,
            token_file=str(token_file),
            authority=str(authority),
            insecure=insecure,
        )
        self._server = Server(connect(place, pacing))
        self._first_starts: dict[tuple[str, int], float | None] = {}
        self._failures: dict[tuple[str, int], str] = {}

    def __repr__(self) -> str:
        return f"AirflowClient({self._server.http.name})"

    # ---- starting

    def deploy(
        self, bundle: Bundle, folder: str | Path, *, seconds: float = 330.0, pools: Mapping[str, int] = {}
    ) -> deploying.Deployed:
        """Put a DAG file into the folder of DAGs, and wait until Airflow has read it.

        `pools` are those that it needs, by name and slots: what isn't there is made. Without seconds (0) nothing is
        waited for, and Airflow is asked for the pools alone.
        Raises `ImportFailedError` with Airflow's words, and `NotReadYetError` after so many seconds.
        """
        path = deploying.place(folder, next(iter(bundle.files)))
        before = deploying.errors_of(self._server, path) if seconds else {}
        made = deploying.make_pools(self._server, pools)
        deployed = msgspec.structs.replace(deploying.write(bundle, folder), pools=made)
        return deploying.wait(self._server, deployed, bundle.text, before, seconds) if seconds else deployed

    def differs(self, bundle: Bundle) -> bool:
        """Whether Airflow has another file of that name than the bundle's."""
        found = self._server.source(Path(next(iter(bundle.files))).stem)
        return found is not None and found != bundle.text

    def submit(self, bundle: Bundle, *, parameters: Mapping[str, Any] | None = None, **options: Any) -> str:
        """Start a run of a DAG that is deployed; one that is paused goes on.

        Raises `NotOffered` where Airflow has no such DAG, and `OptionError` for options: there are none.
        """
        if options:
            raise OptionError(f"airflow: submit has no option {sorted(options)[0]!r}")
        return self.trigger(Path(next(iter(bundle.files))).stem, parameters or {})

    def trigger(self, dag: str, parameters: Mapping[str, Any]) -> str:
        """Start a run of a DAG by its id. Raises `NotOffered` where there is none."""
        self._unpaused(dag)
        name = generated()
        conf = msgspec.to_builtins(dict(parameters))
        try:
            self._server.trigger(dag, name, conf, NOTE)
        except ConflictError:  # it was sent twice, for its answer got lost: nobody else makes up this name
            self._run(joined(dag, name))
        return joined(dag, name)

    def _unpaused(self, dag: str) -> None:
        try:
            found = self._server.dag(dag)
        except MissingError:
            raise NotOffered(
                f"Airflow has no DAG {dag!r}: `couler deploy FILE --to airflow --dags-folder DIR` puts it there"
            ) from None
        if found.get("is_paused"):
            self._server.pause(dag, paused=False)

    def backfill(
        self, bundle: Bundle, begin: float, end: float, *, parallel: int = 1, again: bool = False, **options: Any
    ) -> Iterator[Sequence[Instant]]:
        """Have the instants of a DAG's schedule run that haven't; with `again`, those too whose runs failed.

        Gives those that have a run each time that something has changed, until all have ended: Airflow goes on with
        them whether anybody looks or not.
        """
        if options:
            raise OptionError(f"airflow: backfill has no option {sorted(options)[0]!r}")
        dag = Path(next(iter(bundle.files))).stem
        self._unpaused(dag)
        backfills.start(self._server, dag, begin, end, parallel=parallel, again=again)
        yield from backfills.watch(lambda: backfills.instants(self._server, dag, begin, end))

    # ---- looking

    def status(self, run: str) -> RunStatus:
        dag, name = split(run)
        found = self._run(run)
        instances = self._server.instances(dag, name)
        tasks = task_statuses(found, instances, self._first_start)
        status = run_status(found, self._explained(tasks, instances), instances)
        gave = outputs.of_run(self._server, instances) if status.status == "Succeeded" else {}
        return with_outputs(status, gave, self._defaults(dag))

    def watch(self, run: str) -> Iterator[RunStatus]:
        """The status each time it changes, until the run has ended."""
        yield from changes(lambda: self.status(run), self._server.http.pacing)

    def logs(self, run: str, task: str | None = None, *, follow: bool = False) -> Iterator[LogLine]:
        """What the steps of a run wrote, and what Airflow says went wrong with them."""
        self._run(run)
        yield from logs.lines(self._server, *split(run), task, follow=follow)

    def attempt_logs(self, run: str) -> Iterator[tuple[str, str]]:
        """By the path of its task, all that was logged in each attempt that has begun, Airflow's own words too."""
        self._run(run)
        yield from logs.whole(self._server, *split(run))

    def list(self) -> Iterable[RunStatus]:
        """The runs of all DAGs, newest first, without their tasks."""
        for each in self._server.runs():
            yield run_status(each)

    def artifacts(self, run: str) -> Mapping[str, str]:
        """The files that tasks gave: `TASK/NAME` to the path or URI at which they lie."""
        dag, name = split(run)
        found: dict[str, str] = {}
        for place in self._places(run):
            if place.instance is not None and place.phase == "Succeeded":
                gave = outputs.of_instance(self._server, place.instance)
                found |= {f"{place.path}/{key}": value for key, value in outputs.files(gave, dag, name)}
        return found

    # ---- steering

    def stop(self, run: str) -> None:
        """Let running steps end, start no others, run exit handlers."""
        self._run(run)
        steering.stop(self._server, *split(run))

    def terminate(self, run: str) -> None:
        """End everything now, without exit handlers."""
        self._run(run)
        steering.terminate(self._server, *split(run))

    def suspend(self, run: str) -> None:
        """Airflow pauses whole DAGs. Raises `NotOffered`."""
        raise NotOffered(
            f"Airflow suspends no single run: `couler pause airflow:{dag_of(run)}` holds all runs of the DAG"
        )

    def pause(self, name: str) -> None:
        """Start no runs of a DAG and no further tasks of its runs, until `unpause`."""
        self._pause(name, paused=True)

    def unpause(self, name: str) -> None:
        """Go on with a DAG that was paused."""
        self._pause(name, paused=False)

    def _pause(self, name: str, *, paused: bool) -> None:
        try:
            self._server.pause(dag_of(name), paused=paused)
        except MissingError:
            raise RunNotFoundError(f"there is no DAG {dag_of(name)!r} on this Airflow") from None

    def resume(self, run: str, *, outputs: Mapping[str, Any] | None = None, task: str | None = None) -> str:
        """Answer what a run waits for people with; go on with a run whose DAG is paused."""
        dag, name = split(run)
        waiting = {
            place.path: place.instance
            for place in self._places(run)
            if place.instance is not None and place.phase == "Suspended" and task in (None, place.path)
        }
        answered = steering.approve(self._server, dag, name, waiting, dict(outputs or {}))
        paused = bool(self._server.dag(dag).get("is_paused"))
        if not answered and not paused:
            raise NotOffered(
                f"nothing in {run} waits" + (f" at {task}" if task else "") + " for a person: `couler status` says how "
                "it stands"
            )
        if paused:
            self._server.pause(dag, paused=False)
        return run

    def retry(self, run: str) -> str:
        """Run failed tasks again with all that follows them, and keep those that succeeded."""
        self._run(run)
        steering.retry(self._server, *split(run))
        return run

    def rerun(self, run: str, *, parameters: Mapping[str, str] = {}) -> str:
        """Start a new run like an old one; `parameters` are other values, as they are typed.

        Raises `ValueError` for one that the DAG doesn't have.
        """
        dag, _ = split(run)
        before = dict(self._run(run).get("conf") or {})
        return self.trigger(dag, before | typed(self._server.dag(dag).get("params") or {}, parameters))

    def delete(self, run: str) -> None:
        """Forget a run with its XComs. Raises `NotOffered` where it goes on."""
        if run_status(self._run(run)).status not in (*FINISHED, "Pending"):
            raise NotOffered(f"{run} has not ended yet: `couler terminate {run}` ends it")
        self._server.delete_run(*split(run))

    # ---- details

    def _run(self, run: str) -> JSON:
        try:
            return self._server.run(*split(run))
        except MissingError:
            raise RunNotFoundError(f"there is no run {run} on this Airflow") from None

    def _places(self, run: str) -> Sequence[Place]:
        self._run(run)
        return list(places(self._server.instances(*split(run))))

    def _defaults(self, dag: str) -> dict[str, Any]:
        """The values that a DAG's parameters have by default."""
        found: Mapping[str, Any] = self._server.dag(dag).get("params") or {}
        return {name: each.get("value") if isinstance(each, Mapping) else each for name, each in found.items()}

    def _first_start(self, instance: JSON) -> float | None:
        """When the first attempt of a task began: what has been doesn't change."""
        key = (instance["id"], instance["try_number"])
        if key not in self._first_starts:
            starts = [instant(each.get("start_date")) for each in self._server.tries(instance)]
            self._first_starts[key] = min((each for each in starts if each is not None), default=None)
        return self._first_starts[key]

    def _explained(self, tasks: Sequence[TaskStatus], instances: Sequence[JSON]) -> Sequence[TaskStatus]:
        """The tasks, those that failed with the last that their logs say."""
        by_path = {place.path: place.instance for place in places(instances)}
        found, left = [], EXPLAINED
        for task in tasks:
            instance = by_path.get(task.name)
            if task.status == "Failed" and instance is not None and left:
                left -= 1
                key = (instance["id"], instance["try_number"])
                if key not in self._failures:
                    self._failures[key] = logs.failure(self._server, instance)
                task = msgspec.structs.replace(task, message=self._failures[key])
            found.append(task)
        return found
