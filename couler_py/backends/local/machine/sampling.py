"""How much processor and memory running attempts use, looked at about twice a second.

A step leads a session of its own (see `processes.py`), and all that runs in a container descends from its first
process, so one pass over the system's processes finds what every attempt has started, however many there are. What is
kept of an attempt is thinned as it grows: a step of three days has as many samples as one of minutes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from couler_py.backends.local.containers import group
from couler_py.backends.local.context import Context
from couler_py.backends.local.machine.usage import Use, uses
from couler_py.backends.local.steps import attempts
from couler_py.store import samples
from couler_py.store.samples import InUse, Sample

INTERVAL = 0.5  # seconds between two looks
SHARE = 0.005  # of a processor that looking may take: on a machine with very many processes it is done less often
KEPT = 240  # samples of an attempt; beyond, neighbours become one
SAVED = 10.0  # seconds between two times that samples are written
NOTED = 2.0  # seconds between two times that what all attempts use now is written


class Watched:
    """One attempt, which began at a moment, and its samples so far.

    `session` is the one that its step leads; in `folder`, files name the first processes of its containers.
    """

    def __init__(self, known: list[Sample], began: float = 0.0, *, session: int = 0, folder: Path | None = None):
        self.session = session
        self.samples = known
        self.every = INTERVAL
        self.saved = 0.0
        self.roots: set[int] = set()
        self._folder = folder
        self._last = (known[-1].time, known[-1].cpu) if known else (began, 0.0)
        self._seconds: dict[int, float] = {}
        while len(self.samples) >= KEPT:
            self._thin()

    def look(self) -> None:
        """Find the first processes of its containers."""
        self.roots = set(_written(self._folder.glob(f"{group.PROCESS}*"))) if self._folder is not None else set()

    def gather(self, found: Mapping[int, Use]) -> Use | None:
        """What it uses, the seconds of processes included that have ended; None where none of it is there."""
        there = {place: found[place] for place in (self.session, *self.roots) if place in found}
        for place, use in there.items():
            # A child that ended and that nobody waited for takes its seconds with it.
            self._seconds[place] = max(use.cpu, self._seconds.get(place, 0.0))
        if not any(use.memory for use in there.values()):  # what has ended, and isn't waited for yet, has none
            return None
        # An earlier engine may have seen containers that are gone.
        cpu = max(sum(self._seconds.values()), self._last[1])
        return Use(cpu, sum(use.memory for use in there.values()))

    def add(self, moment: float, use: Use) -> Use:
        """Take a sample, and keep it if it is time for one: the longer the attempt runs, the rarer.

        Gives the processors (not their seconds) that it uses now, and its memory.
        """
        passed, spent = moment - self._last[0], use.cpu - self._last[1]
        self._last = (moment, use.cpu)
        self._keep(Sample(moment, use.cpu, use.memory))
        return Use(spent / passed if passed > 0 else 0.0, use.memory)

    def _keep(self, found: Sample) -> None:
        if self.samples and found.time - self.samples[-1].time < self.every * 0.9:
            # The highest memory in between is not lost, only when exactly it was.
            last = self.samples[-1]
            self.samples[-1] = last._replace(memory=max(found.memory, last.memory))
            return
        self.samples.append(found)
        if len(self.samples) >= KEPT:
            self._thin()

    def _thin(self) -> None:
        self.samples = thinned(self.samples)
        self.every *= 2


def _written(files: Iterable[Path]) -> Iterator[int]:
    for file in files:
        try:
            yield int(file.read_text())
        except (OSError, ValueError):  # it is just being written, or taken away
            continue


def thinned(found: list[Sample]) -> list[Sample]:
    """Half as many samples: of two neighbours the later one, with the higher memory of both."""
    pairs = zip(found[::2], found[1::2], strict=False)
    kept = [late._replace(memory=max(early.memory, late.memory)) for early, late in pairs]
    return kept + found[len(kept) * 2 :]


class Sampler:
    """The samples of one run's attempts. `look` is called often, and does something about twice a second."""

    def __init__(self, context: Context):
        self._context = context
        self._watched: dict[str, Watched] = {}
        self._next = self._noted = 0.0

    def look(self) -> None:
        """Take a sample of every attempt that runs, and write what has come once in a while."""
        now, spent = time.monotonic(), time.thread_time()
        if now < self._next:
            return
        together = list(self._sample(self._running()))
        self._context.used = (
            (sum(use.cpu for use in together), sum(use.memory for use in together)) if together else None
        )
        self._save(now)
        self._next = now + max(INTERVAL, (time.thread_time() - spent) / SHARE)

    def close(self) -> None:
        """Write what is left."""
        for folder in list(self._watched):
            self._end(folder)

    def _sample(self, running: dict[str, Watched]) -> Iterator[Use]:
        if not running:
            return
        sessions = {watched.session for watched in running.values()} - {0}
        found = uses(sessions, {root for watched in running.values() for root in watched.roots})
        moment = time.time()
        for folder, watched in running.items():
            use = watched.gather(found)
            if use is not None:
                yield watched.add(moment, use)
                if not watched.session:
                    most = self._context.contained.get(folder, use)
                    self._context.contained[folder] = Use(use.cpu, max(use.memory, most.memory))

    def _running(self) -> dict[str, Watched]:
        """The attempts that have processes now, by their folders."""
        now = [f"attempts/{name}" for name in self._context.running.values()]
        for folder in self._watched.keys() - now:
            self._end(folder)
        for folder in now:
            found = self._watched.get(folder) or self._begin(folder)
            if found is not None:
                found.look()
                self._watched[folder] = found
        return self._watched

    def _begin(self, folder: str) -> Watched | None:
        context, place = self._context, self._context.folder / folder
        living = attempts.processes(place)
        if living is None or not living[0]:
            return None
        # An engine before this one may have looked already.
        known = samples.load_attempt(context.connection, context.facts.id, folder)
        began = (place / "process").stat().st_mtime
        if (place / group.FILE).exists():
            return Watched(known, began, folder=place)
        return Watched(known, began, session=living[0])

    def _end(self, folder: str) -> None:
        watched = self._watched.pop(folder)
        if watched.samples:
            self._context.journal.samples(folder, watched.samples)

    def _save(self, now: float) -> None:
        for folder, watched in self._watched.items():
            if watched.samples and now - watched.saved >= SAVED:
                self._context.journal.samples(folder, watched.samples)
                watched.saved = now
        if self._context.used is not None and now - self._noted >= NOTED:
            self._context.journal.in_use(InUse(time.time(), *self._context.used, self._context.machine.total.cpu))
            self._noted = now
