"""A training looks at its own memory, and ends with a checkpoint before it would be killed: no torch here.

Bounds are those that this process finds: of its container (cgroup v2, memory.max), of its address space
(`ulimit -v`), and what the task says. `planning.memory` foretells growth, and `planning.instability` decides.
"""

from __future__ import annotations

import resource
import time
from pathlib import Path

import msgspec

from couler_py.steps.checkpoint.peers import Peers
from couler_py.steps.dlrm.planning import instability
from couler_py.steps.dlrm.planning.allocation import GIB
from couler_py.steps.dlrm.planning.decisions import Decision
from couler_py.steps.dlrm.planning.memory import MARGIN, UNSURE, USABLE, Reading, Watch, forecast

CGROUP = Path("/sys/fs/cgroup")
STATM = Path("/proc/self/statm")
PAGE = resource.getpagesize()
RESTART = instability.Times(begin=30.0, quick_save=10.0, quick_load=20.0)
"""Seconds until a training that was ended computes again, as its processes start on this machine."""


class NeedsMemoryError(RuntimeError):
    """A training that would have run out of memory, and was saved and ended before; with what was decided."""

    def __init__(self, message: str, decisions: tuple[Decision, ...] = ()):
        super().__init__(message)
        self.decisions = decisions


class Bound(msgspec.Struct, frozen=True):
    """Something that a process has only so many bytes of."""

    name: str
    limit: float


class Short(msgspec.Struct, frozen=True):
    """A bound that will be reached, bytes that would do, and reports until then."""

    rank: int
    bound: Bound
    needed: float
    reports: float


def bounds(limit: float | None = None) -> tuple[Bound, ...]:
    """The bounds of this process; `limit` is one that somebody has set for what it holds."""
    found = [] if limit is None else [Bound("the task's", limit)]
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        found.append(Bound("the address space's", float(soft)))
    most = _text(CGROUP / "memory.max")
    if most.isdigit():
        found.append(Bound("the container's", float(most)))
    return tuple(found)


def used(bound: Bound) -> float:
    """Bytes that are used of a bound now; of a container's without pages that are only read from files."""
    if bound.name == "the container's":
        stat = dict(line.split() for line in _text(CGROUP / "memory.stat").splitlines())
        return float(_text(CGROUP / "memory.current") or 0) - float(stat.get("inactive_file", 0))
    size, resident, *_ = (int(each) for each in (_text(STATM) or "0 0").split())
    return float(PAGE * (size if bound.name == "the address space's" else resident))


class Guard:
    """Looks at the memory of all ranks every so many steps, of a training of so many rows."""

    def __init__(self, rows: float, every: int, ranks: Peers, limit: float | None = None):
        self._rows, self._every, self._ranks = rows, every, ranks
        self._watched = [(each, Watch(each.limit)) for each in bounds(limit)]
        self._readings: list[list[Reading]] = [[] for _ in self._watched]
        self._begun = time.monotonic()
        self._first: float | None = None
        self.decisions: list[Decision] = []

    def look(self, step: int, rows: float) -> Short | None:
        """Hear how far training is; the bound of some rank that it must be ended for. All ranks call it."""
        if self._first is None:
            self._first = rows
        if step % self._every:
            return None
        short = next((each for each in self._ranks.gather(self._own(rows)) if each is not None), None)
        if short is not None:
            speed = (rows - self._first) / max(time.monotonic() - self._begun, 1e-9)
            until = short.reports * self._every * max(1.0, rows / step) / max(speed, 1e-9)
            _, decision = instability.decide(
                "filling worker", left=max(0.0, self._rows - rows), now=speed, healthy=speed, times=RESTART,
                until_full=until,
            )  # fmt: skip
            inputs = decision.inputs | {
                "rank": short.rank,
                "bound": short.bound.name,
                "GiB of it": short.bound.limit / GIB,
                "GiB that would do": short.needed / GIB,
            }
            self.decisions.append(msgspec.structs.replace(decision, inputs=inputs))
        return short

    def _own(self, rows: float) -> Short | None:
        for (bound, watch), readings in zip(self._watched, self._readings, strict=True):
            now = used(bound)
            readings.append(Reading(rows, now))
            alarm = watch.report(now)
            if alarm is None or len(readings) < 2:
                continue
            foretold = forecast(readings, self._rows, margin=0.0).peak
            if foretold * (1 + UNSURE) > bound.limit:
                needed = max(foretold * (1 + MARGIN), now) / USABLE
                return Short(self._ranks.rank, bound, needed, alarm.reports_left)
        return None


def ended(short: Short, step: int | None, decisions: list[Decision]) -> NeedsMemoryError:
    """What to say where a training is ended for a bound, after a checkpoint of a step where it has any."""
    told = f"{short.needed / GIB:.2f} GiB would do until the end"
    message = (
        f"out of memory: it needed more than {short.bound.limit / GIB:.2f} GiB, {short.bound.name} bound, of rank "
        f"{short.rank}. It was {'' if step is None else f'saved at step {step} and '}ended before that; {told}"
    )
    return NeedsMemoryError(message, tuple(decisions))


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:  # not this system's, or not this container's
        return ""
