"""How much processor and memory running attempts use, looked at once a second.

A step leads a session of its own (see `processes.py`), so all that it started is found by one pass over the
system's processes, however many attempts there are. What is kept of an attempt is thinned as it grows: a step of
three days has as many samples as one of five minutes.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from couler_py.backends.local import attempts
from couler_py.backends.local.context import Context
from couler_py.store import samples
from couler_py.store.samples import Sample

INTERVAL = 1.0  # seconds between two looks
SHARE = 0.005  # of a processor that looking may take: on a machine with very many processes it is done less often
KEPT = 240  # samples of an attempt; beyond, neighbours become one
PROC = Path("/proc")
SAVED = 10.0  # seconds between two times that samples are written


class Use(NamedTuple):
    """What the processes of a session use together: processor seconds so far, and resident bytes now."""

    cpu: float
    memory: int


class Watched:
    """One attempt: its session, and its samples so far."""

    def __init__(self, session: int, known: list[Sample]):
        self.session = session
        self.samples = known
        self.every = INTERVAL
        self.saved = 0.0
        self._last: tuple[float, Use] | None = None
        while len(self.samples) >= KEPT:
            self._thin()

    def add(self, moment: float, use: Use) -> Use:
        """Take a sample, and keep it if it is time for one: the longer the attempt runs, the rarer.

        Gives the processors (not their seconds) that it uses now, and its memory.
        """
        before = self._last or (moment, use)
        self._last = (moment, use)
        passed = moment - before[0]
        self._keep(moment, use)
        return Use(max(0.0, use.cpu - before[1].cpu) / passed if passed > 0 else 0.0, use.memory)

    def _keep(self, moment: float, use: Use) -> None:
        if self.samples:
            last = self.samples[-1]
            if moment - last.time < self.every * 0.9:
                # The highest memory in between is not lost, only when exactly it was.
                if use.memory > last.memory:
                    self.samples[-1] = last._replace(memory=use.memory)
                return
            # A child that ended and that nobody waited for takes its seconds with it.
            use = use._replace(cpu=max(use.cpu, last.cpu))
        self.samples.append(Sample(moment, use.cpu, use.memory))
        if len(self.samples) >= KEPT:
            self._thin()

    def _thin(self) -> None:
        self.samples = thinned(self.samples)
        self.every *= 2


def thinned(found: list[Sample]) -> list[Sample]:
    """Half as many samples: of two neighbours the later one, with the higher memory of both."""
    pairs = zip(found[::2], found[1::2], strict=False)
    kept = [late._replace(memory=max(early.memory, late.memory)) for early, late in pairs]
    return kept + found[len(kept) * 2 :]


class Sampler:
    """The samples of one run's attempts. `look` is called often, and does something once a second."""

    def __init__(self, context: Context):
        self._context = context
        self._watched: dict[str, Watched | None] = {}
        self._next = 0.0

    def look(self) -> None:
        """Take a sample of every attempt that runs, and write what has come once in a while."""
        now, spent = time.monotonic(), time.thread_time()
        if now < self._next:
            return
        running = self._running()
        found = uses({watched.session for watched in running}) if running else {}
        moment = time.time()
        together = [watched.add(moment, found[watched.session]) for watched in running if watched.session in found]
        total = (sum(use.cpu for use in together), sum(use.memory for use in together))
        self._context.used = total if together else None
        self._save(now)
        self._next = now + max(INTERVAL, (time.thread_time() - spent) / SHARE)

    def close(self) -> None:
        """Write what is left."""
        for folder in list(self._watched):
            self._end(folder)

    def _running(self) -> list[Watched]:
        """The attempts that run and did so a look ago too: those that take no time cost none."""
        now = {f"attempts/{name}" for name in self._context.running.values()}
        for folder in [each for each in self._watched if each not in now]:
            self._end(folder)
        found = []
        for folder in now:
            if folder not in self._watched:
                self._watched[folder] = None
                continue
            watched = self._watched[folder] or self._begin(folder)
            if watched is not None:
                self._watched[folder] = watched
                found.append(watched)
        return found

    def _begin(self, folder: str) -> Watched | None:
        living = attempts.processes(self._context.folder / folder)
        if living is None or not living[0]:
            return None
        # An engine before this one may have looked already.
        return Watched(living[0], samples.load_attempt(self._context.connection, self._context.facts.id, folder))

    def _end(self, folder: str) -> None:
        watched = self._watched.pop(folder)
        if watched is not None and watched.samples:
            self._context.journal.samples(folder, watched.samples)

    def _save(self, now: float) -> None:
        for folder, watched in self._watched.items():
            if watched is not None and watched.samples and now - watched.saved >= SAVED:
                self._context.journal.samples(folder, watched.samples)
                watched.saved = now


def uses(sessions: Collection[int]) -> dict[int, Use]:
    """What each session's processes use, by the id of the process that leads it. One pass over all processes."""
    return _of_proc(sessions) if PROC.joinpath("self").is_dir() else _of_ps(sessions)


TICK = 1.0 / os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def _of_proc(sessions: Collection[int]) -> dict[int, Use]:
    """From /proc/PID/stat (proc_pid_stat(5)): the session, user and system ticks, those of children that were waited
    for, and resident pages."""
    found: dict[int, Use] = {}
    for entry in os.scandir(PROC):
        if not entry.name.isdigit():
            continue
        try:
            with open(f"{entry.path}/stat", "rb") as file:
                # The second field is a name in parentheses, which may hold anything.
                fields = file.read().rpartition(b")")[2].split()
        except OSError:  # it has just ended
            continue
        session = int(fields[3])
        if session in sessions:
            cpu = TICK * sum(map(int, fields[11:15]))
            before = found.get(session, Use(0.0, 0))
            found[session] = Use(before.cpu + cpu, before.memory + PAGE * int(fields[21]))
    return found


def _of_ps(sessions: Collection[int]) -> dict[int, Use]:
    """From `ps`, where there is no /proc (macOS): by process group, as sessions have no number there."""
    listed = subprocess.run(
        ["ps", "-axo", "pgid=,time=,rss="], capture_output=True, text=True, check=False, env={"LC_ALL": "C"}
    )
    found: dict[int, Use] = {}
    for line in listed.stdout.splitlines():
        group, clock, resident = line.split()
        if int(group) in sessions:
            before = found.get(int(group), Use(0.0, 0))
            found[int(group)] = Use(before.cpu + seconds(clock), before.memory + 1024 * int(resident))
    return found


def seconds(clock: str) -> float:
    """Processor time as `ps` writes it.

    >>> seconds("1:02.50"), seconds("2-03:04:05")
    (62.5, 183845.0)
    """
    days, _, rest = clock.rpartition("-")
    total = 0.0
    for part in rest.split(":"):
        total = total * 60 + float(part)
    return total + 86400 * int(days or 0)
