"""A training looks at its own memory, and ends with a checkpoint before it would be killed: no torch here.

Bounds are those that this process finds: of its container (cgroup v2, memory.max), of its address space
(`ulimit -v`), and what the task says. Of a container others have a part, too: what they have now is taken for constant,
and only what this training has is foretold. `planning.memory` foretells growth, and `planning.instability` decides.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import msgspec

from couler_py.steps.checkpoint.peers import Peers
from couler_py.steps.dlrm.planning import instability
from couler_py.steps.dlrm.planning.allocation import GIB
from couler_py.steps.dlrm.planning.decisions import Decision
from couler_py.steps.dlrm.planning.memory import MARGIN, UNSURE, USABLE, WINDOW, Reading, Watch, forecast

CGROUP = Path("/sys/fs/cgroup")
STATM = Path("/proc/self/statm")
PAGE = resource.getpagesize()
CONTAINER, ADDRESSES = "the container's", "the address space's"
RISES = 3
"""Of the last looks those that must have found more than before: memory that was taken once, for good, is no growth."""
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
        found.append(Bound(ADDRESSES, float(soft)))
    most = _text(CGROUP / "memory.max")
    if most.isdigit():
        found.append(Bound(CONTAINER, float(most)))
    return tuple(found)


def used(bound: Bound) -> float:
    """Bytes that are used of a bound now; of a container's by all in it, without pages read from files."""
    if bound.name == CONTAINER:
        stat = dict(line.split() for line in _text(CGROUP / "memory.stat").splitlines())
        files = float(stat.get("inactive_file", 0)) + float(stat.get("active_file", 0))
        return max(0.0, float(_text(CGROUP / "memory.current") or 0) - files)
    size, resident, _ = _pages()
    return float(PAGE * (size if bound.name == ADDRESSES else resident))


def parts(bound: Bound) -> tuple[float, float]:
    """Bytes that are used of a bound now: by this training's ranks here, which grow alike, and by others.

    What this process has for itself, times the ranks of its node (LOCAL_WORLD_SIZE), is this training's part of its
    container; memory that is shared, where checkpoints lie, grows with none of them and so is with the others'.
    """
    now = used(bound)
    if bound.name != CONTAINER:
        return now, 0.0
    _, resident, shared = _pages()
    own = min(now, float(PAGE * (resident - shared) * int(os.environ.get("LOCAL_WORLD_SIZE", "1"))))
    return own, now - own


class Guard:
    """Looks at the memory of all ranks every so many steps, of a training of so many rows."""

    def __init__(self, rows: float, every: int, ranks: Peers, limit: float | None = None):
        self._rows, self._every, self._ranks = rows, every, ranks
        self._watched = [(each, Watch(each.limit)) for each in bounds(limit)]
        self._readings: list[list[Reading]] = [[] for _ in self._watched]
        self._since = [0] * len(self._watched)
        """From which reading on memory has grown without a jump, for each bound."""
        self._first: tuple[float, float] | None = None
        """Rows and seconds at the first look."""
        self.decisions: list[Decision] = []

    def look(self, step: int, rows: float) -> Short | None:
        """Hear how far training is; the bound of some rank that it must be ended for. All ranks call it."""
        now = time.monotonic()
        first, begun = self._first = self._first or (rows, now)
        if step % self._every:
            return None
        told = self._ranks.gather((self._own(rows), now - begun))
        short = next((each for each, _ in told if each is not None), None)
        if short is not None:
            speed = (rows - first) / max(told[0][1], 1e-9)  # by one clock: a checkpoint has the same decision of all
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
        for number, ((bound, watch), readings) in enumerate(zip(self._watched, self._readings, strict=True)):
            now, others = parts(bound)
            readings.append(Reading(rows, now))
            watch.limit = bound.limit - others
            alarm = watch.report(now)
            rises = _rises(readings)
            if rises and rises[-1] > sum(rises[:-1]):
                self._since[number] = len(readings) - 1
            if alarm is None:
                continue
            grown = readings[self._since[number] :]
            foretold = forecast(grown, self._rows, margin=0.0).peak if len(grown) > 1 else now
            grows = sum(rise > 0 for rise in rises) >= RISES and foretold * (1 + UNSURE) > watch.limit
            if grows or now >= watch.limit:
                needed = (max(foretold * (1 + MARGIN), now) + others) / USABLE
                return Short(self._ranks.rank, bound, needed, alarm.reports_left)
        return None


def _rises(readings: Sequence[Reading]) -> list[float]:
    """By how much each of the last looks has found more than there ever was before it."""
    highest = list(accumulate((each.bytes for each in readings), max))
    return [after - before for before, after in pairwise(highest[-WINDOW - 1 :])]


def ended(short: Short, step: int | None, decisions: list[Decision]) -> NeedsMemoryError:
    """What to say where a training is ended for a bound, after a checkpoint of a step where it has any."""
    told = f"{short.needed / GIB:.2f} GiB would do until the end"
    message = (
        f"{instability.OUT_OF_MEMORY}{short.bound.limit / GIB:.2f} GiB, {short.bound.name} bound, of rank "
        f"{short.rank}. It was {'' if step is None else f'saved at step {step} and '}ended before that; {told}"
    )
    return NeedsMemoryError(message, tuple(decisions))


def _pages() -> tuple[int, int, int]:
    """Pages of this process's address space, those that are in memory, and of these the ones that others may share."""
    size, resident, shared, *_ = (int(each) for each in (_text(STATM) or "0 0 0").split())
    return size, resident, shared


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:  # not this system's, or not this container's
        return ""
