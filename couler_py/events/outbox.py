"""The events of one run on its disk, and how far each place has them."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable
from pathlib import Path

import msgspec

from couler_py.events.model import Event


class Refused(msgspec.Struct, frozen=True):
    """An event that a place will never take, and why."""

    event: str
    reason: str


class Outbox:
    """`events/` in the folder of a run: `all.jsonl`, and for each place how many lines it has, and what it refused."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._log = folder / "all.jsonl"
        self._lock = threading.Lock()
        self.events: list[Event] = []
        self._known: set[str] = set()
        if self._log.exists():
            whole = self._log.read_bytes()
            end = whole.rfind(b"\n") + 1
            if end < len(whole):  # an engine was killed in the middle of a line
                os.truncate(self._log, end)
            self.events = [msgspec.json.decode(line, type=Event) for line in whole[:end].splitlines()]
            self._known = {event.id for event in self.events}

    def add(self, events: Iterable[Event]) -> int:
        """Keep those that aren't known, in order, and give how many."""
        with self._lock:
            new = []
            for event in events:
                if event.id not in self._known:
                    self._known.add(event.id)
                    new.append(event)
            if new:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                with self._log.open("ab") as log:
                    log.write(b"".join(msgspec.json.encode(event) + b"\n" for event in new))
                self.events += new
            return len(new)

    def delivered(self, place: str) -> int:
        """How many of the events, from the first, a place has or has refused."""
        path = self._folder / f"{_key(place)}.delivered"
        return int(path.read_text() or 0) if path.exists() else 0

    def deliver(self, place: str, count: int) -> None:
        """Note that a place has so many of them."""
        temporary = self._folder / f"{_key(place)}.tmp"
        temporary.write_text(str(count))
        temporary.rename(self._folder / f"{_key(place)}.delivered")

    def refuse(self, place: str, refused: Refused) -> None:
        """Note an event that a place will never take."""
        with (self._folder / f"{_key(place)}.refused").open("ab") as log:
            log.write(msgspec.json.encode(refused) + b"\n")

    def refused(self, place: str) -> list[Refused]:
        """The events that a place has refused."""
        path = self._folder / f"{_key(place)}.refused"
        return (
            [msgspec.json.decode(line, type=Refused) for line in path.read_bytes().splitlines()]
            if path.exists()
            else []
        )


def _key(place: str) -> str:
    return hashlib.sha256(place.encode()).hexdigest()[:16]
