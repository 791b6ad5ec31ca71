"""The past instants of a schedule, run on this machine, each once: a run's name is made of the instant."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from couler_py.backends.base import FINISHED, Instant, RunNotFoundError, RunPhase
from couler_py.backends.interrupts import awaited
from couler_py.backends.local.lifecycle import RunBusyError
from couler_py.ir.instants import instants
from couler_py.ir.model import Workflow
from couler_py.ir.names import legal_name
from couler_py.store.records import RunRecord

if TYPE_CHECKING:
    from couler_py.backends.local.client import LocalClient

LONGEST = 80
"""Characters of a workflow's name in that of a run, which may have 100."""

LOOK = 0.5
"""Seconds between two looks at a run that works in another process."""


def name_of(workflow: str, at: float) -> str:
    """The name of the run of an instant.

    >>> name_of("nightly", 1767232800.0)
    'nightly-at-20260101T020000Z'
    """
    return f"{legal_name('argo', 'workflow', workflow)[:LONGEST]}-at-{_utc(at):%Y%m%dT%H%M%SZ}"


def wanted(workflow: Workflow, before: Iterable[RunRecord], begin: float, end: float, *, again: bool) -> list[Instant]:
    """The instants of a span, both ends included; Pending is what is to be worked on, or waited for.

    That is what has no run `before`, or one that hasn't ended; with `again`, one that failed too. Raises `ValueError`
    for a workflow without a schedule.
    """
    if workflow.schedule is None:
        raise ValueError(f"{workflow.name} has no schedule, so it has no past instants: @couler.workflow(schedule=…)")
    known = {each.scheduled: each for each in before}
    found = []
    for instant in instants(workflow.schedule, _utc(begin), _utc(end)):
        at = instant.timestamp()
        there = known.get(at)
        ended: tuple[RunPhase, ...] = ("Succeeded",) if again else ("Succeeded", "Failed")
        if there is None:
            found.append(Instant(at))
        else:
            status: RunPhase = next((each for each in ended if each == there.status), "Pending")
            found.append(Instant(at, there.id, status))
    return found


class Backfill:
    """Works on instants. `client` makes a client, `start` begins the run of that name for an instant with it."""

    def __init__(
        self,
        workflow: str,
        before: Iterable[RunRecord],
        client: Callable[[], LocalClient],
        start: Callable[[LocalClient, str, datetime], None],
    ):
        self._workflow = workflow
        self._before = {each.id: str(each.status) for each in before}
        self._client = client
        self._start = start
        self._working: list[LocalClient] = []
        self._stopped = threading.Event()

    def drive(self, instants: Sequence[Instant], parallel: int) -> Generator[list[Instant], None, None]:
        """Work on those that are Pending, the earliest first; gives all of them whenever one has changed.

        At most `parallel` are worked on at once. On Ctrl-C nothing more is begun, and the steps of what runs are asked
        to end; the second time they are killed. So it is where nobody listens any longer.
        """
        now = {each.at: each for each in instants}
        waiting: queue.SimpleQueue[Instant] = queue.SimpleQueue()
        for each in instants:
            if each.status == "Pending":
                waiting.put(each)
        told: queue.SimpleQueue[Instant | BaseException | None] = queue.SimpleQueue()
        threads = [
            threading.Thread(target=self._work, args=(waiting, told), name=f"couler backfill {number}")
            for number in range(min(parallel, waiting.qsize()))
        ]
        try:
            yield from self._tell(now, told, threads)
        finally:
            self._stop()

    def _tell(
        self,
        now: dict[float, Instant],
        told: queue.SimpleQueue[Instant | BaseException | None],
        threads: Sequence[threading.Thread],
    ) -> Generator[list[Instant], None, None]:
        """What threads do, until all have ended. Raises what one of them did."""
        try:
            yield list(now.values())
        except KeyboardInterrupt:  # it may come while who listens works on what was given
            self._stop()
        for thread in threads:
            thread.start()
        left, failed = len(threads), None
        while left:
            try:
                found = awaited(told)
                if isinstance(found, Instant):
                    now[found.at] = found
                    yield list(now.values())
            except KeyboardInterrupt:
                self._stop()
                continue
            if found is None:
                left -= 1
            elif not isinstance(found, Instant):
                failed = found
        if failed is not None:
            raise failed

    def _stop(self) -> None:
        self._stopped.set()
        for each in list(self._working):
            each.interrupt()

    def _work(
        self, waiting: queue.SimpleQueue[Instant], told: queue.SimpleQueue[Instant | BaseException | None]
    ) -> None:
        while not self._stopped.is_set():
            try:
                each = waiting.get_nowait()
            except queue.Empty:
                break
            name = each.run or name_of(self._workflow, each.at)
            try:
                told.put(Instant(each.at, name, "Running"))
                told.put(Instant(each.at, name, self._one(name, each)))
            except BaseException as error:  # handed to who waits
                self._stopped.set()
                told.put(error)
        told.put(None)

    def _one(self, name: str, instant: Instant) -> RunPhase:
        """Run an instant to its end, or wait for the end where another process works on it."""
        client = self._client()
        self._working.append(client)
        try:
            return self._followed(client, name, instant)
        finally:
            self._working.remove(client)

    def _followed(self, client: LocalClient, name: str, instant: Instant) -> RunPhase:
        try:
            self._begin(client, name, instant)
        except RunBusyError:
            return self._elsewhere(client, name)
        except ValueError:  # somebody else has just begun a run of this name
            if self._status(client, name) is None:
                raise
        if name not in client.own:
            return self._elsewhere(client, name)
        if self._stopped.is_set():
            client.interrupt()
        *_, last = client.watch(name)
        return last.status

    def _begin(self, client: LocalClient, name: str, instant: Instant) -> None:
        before = self._before.get(name)
        if before is None:
            self._start(client, name, _utc(instant.at))
        elif before == "Failed":
            client.retry(name)
        elif before == "Stopped":
            client.resume(name)

    def _elsewhere(self, client: LocalClient, name: str) -> RunPhase:
        """How a run ends that another process works on, or is about to put into the store."""
        while (found := self._status(client, name)) not in FINISHED:
            if self._stopped.wait(LOOK):
                break
        return found or "Pending"

    def _status(self, client: LocalClient, name: str) -> RunPhase | None:
        try:
            return client.status(name).status
        except RunNotFoundError:
            return None


def _utc(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)
