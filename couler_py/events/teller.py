"""Brings the events of a run to their places, beside the run: one worker writes them down, one a place delivers."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable, Sequence

import msgspec

from couler_py.events.model import Event
from couler_py.events.outbox import Outbox, Refused
from couler_py.events.places import Place, RefusedError, UnreachableError
from couler_py.ir.diagnostics import CoulerError

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds between two tries of a place that can't be reached: doubled from the first to the longest."""
PATIENCE = 5.0
"""Seconds that the end of a run waits for its last events to be delivered."""


class Left(msgspec.Struct, frozen=True):
    """What a place doesn't have: how many events wait for it, how many it refused, and what it said last."""

    place: str
    waiting: int
    refused: int
    reason: str = ""


class Teller:
    """Of one run. `tell` costs its caller next to nothing; `close` waits a moment for what is under way."""

    def __init__(self, outbox: Outbox, places: Sequence[Place]):
        self.outbox = outbox
        self._places = tuple(places)
        self._queue: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._changed = threading.Condition()
        self._closing = False
        self._complete = False
        self._reasons: dict[str, str] = {}
        self._problem = ""
        self._writer = threading.Thread(target=self._write, name="couler events", daemon=True)
        self._workers = [
            threading.Thread(target=self._deliver, args=(place,), name=f"couler events {place.name}", daemon=True)
            for place in self._places
        ]
        for thread in (self._writer, *self._workers):
            thread.start()

    def tell(self, event: Event) -> None:
        """Something has happened."""
        self._queue.put(event)

    def close(self, patience: float = PATIENCE) -> tuple[Left, ...]:
        """End the work, and say what is left undone. What waits stays in the outbox."""
        until = time.monotonic() + patience
        self._queue.put(None)
        self._writer.join(patience)
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for worker in self._workers:
            worker.join(max(until - time.monotonic(), 0.0))
        return self.left()

    def left(self) -> tuple[Left, ...]:
        """What places don't have, those that have everything left out."""
        found = left(self.outbox, self._places, self._reasons)
        if self._problem:
            found = (Left("the folder of the run", 0, 0, self._problem), *found)
        return found

    def _write(self) -> None:
        ended = False
        while not ended:
            batch = [self._queue.get()]
            while not self._queue.empty():
                batch.append(self._queue.get())
            ended = None in batch
            try:
                self.outbox.add(event for event in batch if event is not None)
            except OSError as problem:  # a full disk: the run itself says more
                self._problem = str(problem)
            with self._changed:
                self._complete = ended
                self._changed.notify_all()

    def _deliver(self, place: Place) -> None:
        done = self.outbox.delivered(place.name)
        wait = FIRST_WAIT
        while True:
            with self._changed:
                while done >= len(self.outbox.events) and not (self._complete or self._closing):
                    self._changed.wait()
                if done >= len(self.outbox.events):
                    return
                last = self._closing
            try:
                done = self._some(place, done)
                wait = FIRST_WAIT
            except UnreachableError as problem:
                self._reasons[place.name] = str(problem)
                done = self.outbox.delivered(place.name)
                if last:
                    return
                with self._changed:
                    self._changed.wait_for(lambda: self._closing, timeout=wait)
                wait = min(2 * wait, LONGEST_WAIT)

    def _some(self, place: Place, done: int) -> int:
        """Deliver what there is from a place in the list on, and give how far that came."""
        return deliver(self.outbox, place, done, self._reasons)


def deliver(outbox: Outbox, place: Place, done: int, reasons: dict[str, str]) -> int:
    """Deliver the events behind the first `done` to a place. Raises `UnreachableError` where it ends before."""
    for event in outbox.events[done:]:
        try:
            if place.wants(event):
                place.send(event)
        except (RefusedError, CoulerError) as problem:  # a secret that is missing won't come while the run goes
            reasons[place.name] = str(problem)
            outbox.refuse(place.name, Refused(event.id, str(problem)))
        done += 1
        outbox.deliver(place.name, done)
    return done


def left(outbox: Outbox, places: Iterable[Place], reasons: dict[str, str] | None = None) -> tuple[Left, ...]:
    """What places don't have of the events in an outbox, those that have everything left out."""
    found = []
    for place in places:
        waiting = sum(place.wants(event) for event in outbox.events[outbox.delivered(place.name) :])
        refused = outbox.refused(place.name)
        if waiting or refused:
            reason = (reasons or {}).get(place.name) or (refused[-1].reason if refused else "")
            found.append(Left(place.name, waiting, len(refused), reason))
    return tuple(found)
