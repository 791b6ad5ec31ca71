"""A job played event by event: workers that pull shards or have a fixed part, that slow down, die, and fill memory.

Time is of its own, in seconds; between two events every worker trains at a constant rate. A step's time is that of a
`performance.Fit` whose coefficients are taken for the truth. Nothing here is measured.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from couler_py.steps.dlrm.planning.allocation import Allocation, Load
from couler_py.steps.dlrm.planning.performance import Fit, points


class World(msgspec.Struct, frozen=True):
    """What a job is and what will happen to it: the same for every policy. Parts are of its rows."""

    truth: Fit
    load: Load
    rows: float
    slow_at: float | None = None
    """After this part of the rows, the first worker trains at `slow` of its speed, until it is replaced."""
    slow: float = 0.25
    lost_at: tuple[float, str] | None = None
    """After this part of the rows a "worker" or a "server" is killed, once."""
    memory: Callable[[float], float] = lambda _rows: 0.0
    """Bytes that all servers need together after so many rows: never less later."""

    def rate(self, allocation: Allocation) -> float:
        """Rows a second of one worker at full speed."""
        one = points([allocation])
        return float(self.truth.throughput(self.load, one)[0]) / allocation.workers


class Outcome(msgspec.Struct, frozen=True):
    """How a job ended; `seconds` are those until it ended or was given up."""

    completed: bool
    seconds: float
    paused: float
    rows_again: float
    """Rows that were trained on more than once."""
    ooms: int
    relaunches: int
    log: tuple[str, ...]


class Job:
    """A job that is played: its state, and what policies may do to it while it runs.

    With `shards`, workers pull parts of so many rows; without, each has its fixed part from the beginning. `save_every`
    are seconds between checkpoints; a server that is lost takes the job back to the newest one.
    """

    def __init__(self, world: World, allocation: Allocation, *, shards: float | None, save_every: float):
        self.world, self.allocation, self.now = world, allocation, 0.0
        self.done = self.again = self.paused = 0.0
        self.ooms = self.relaunches = 0
        self.log: list[str] = []
        self.limit = float("inf")
        """Bytes of all servers together."""
        self.failed = False
        """Set by a policy that gives up."""
        self._shards, self._save_every = shards, save_every
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = itertools.count()
        self._until_paused = 0.0
        self._slowed = self._struck = False
        self._speeds = np.ones(allocation.workers)
        self._left = np.zeros(allocation.workers)
        self._waiting = world.rows
        self._saved = (0.0, self._waiting, self._left.copy())
        self._known: dict[object, float] = {}
        self._deal()

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Have something done later."""
        heapq.heappush(self._events, (self.now + seconds, next(self._number), act))

    def say(self, text: str) -> None:
        """Note what happened, with the time."""
        self.log.append(f"{self.now:8.0f} s  {text}")

    def pause(self, seconds: float) -> None:
        """Nobody trains for so long; pauses that overlap count once."""
        until = max(self._until_paused, self.now + seconds)
        self.paused += until - max(self._until_paused, self.now)
        self._until_paused = until

    def move(self, allocation: Allocation) -> None:
        """Go on under another allocation: what workers had not finished is handed out anew."""
        self._waiting += float(self._left.sum())
        slow = float(self._speeds[0]) if self._speeds[0] < 1 and self._speeds[0] > 0 else 1.0
        self.allocation = allocation
        self._speeds, self._left = np.ones(allocation.workers), np.zeros(allocation.workers)
        self._speeds[0] = slow
        self._deal()

    def replace(self, worker: int) -> None:
        """A new worker in the place of one."""
        self._speeds[worker] = 1.0
        self._deal()

    def back(self) -> None:
        """Go back to the newest checkpoint."""
        done, waiting, left = self._saved
        self.again += self.done - done
        self.done, self._waiting = done, waiting
        if len(left) == len(self._left):
            self._left = left.copy()
        else:
            self._waiting += float(left.sum())
            self._left[:] = 0.0
        self._deal()

    def save(self) -> None:
        """Note a checkpoint."""
        self._saved = (self.done, self._waiting, self._left.copy())

    @property
    def speeds(self) -> Any:
        """How fast each worker is, 1 being healthy, 0 lost (n,)."""
        return self._speeds

    @property
    def rate(self) -> float:
        """Rows a second of all workers as they are, pauses aside."""
        return float(self.worker_rate * self._speeds.sum())

    @property
    def worker_rate(self) -> float:
        """Rows a second of one worker at full speed."""
        if self.allocation not in self._known:
            self._known[self.allocation] = self.world.rate(self.allocation)
        return self._known[self.allocation]

    @property
    def need(self) -> float:
        """Bytes that all servers need now."""
        return self.world.memory(self.done)

    def play(self, policy: Any) -> Outcome:
        """Play to the end; what happens is told to the policy: `slow`, `lost_worker`, `lost_server`, `full`."""
        policy.begin(self)
        self.after(self._save_every, self._checkpoint)
        while self.done < self.world.rows * (1 - 1e-9) and not self.failed:
            self._step(policy)
        return Outcome(not self.failed, self.now, self.paused, self.again, self.ooms, self.relaunches, tuple(self.log))

    def _checkpoint(self) -> None:
        self.save()
        self.after(self._save_every, self._checkpoint)

    def _deal(self) -> None:
        """Give rows to who has none: a shard each, or all that there is in equal parts."""
        alive = np.flatnonzero(self._speeds > 0)
        if self._shards is None:
            if self._waiting > 0 and len(alive):
                self._left[alive] += self._waiting / len(alive)
                self._waiting = 0.0
            return
        for worker in alive:
            if self._left[worker] <= 0 and self._waiting > 0:
                taken = min(self._shards, self._waiting)
                self._left[worker], self._waiting = taken, self._waiting - taken

    def _rates(self) -> Any:
        if self.now < self._until_paused:
            return np.zeros(len(self._speeds))
        return np.where(self._left > 0, self.worker_rate * self._speeds, 0.0)

    def _step(self, policy: Any) -> None:
        """Go to the next event: somebody's rows end, something is due, something befalls the job."""
        rates = self._rates()
        busy = rates > 0
        ends = float((self._left[busy] / rates[busy]).min()) if busy.any() else float("inf")
        due = self._events[0][0] - self.now if self._events else float("inf")
        resumes = self._until_paused - self.now if self.now < self._until_paused else float("inf")
        total = float(rates.sum())
        befalls, act = self._next(policy, total)
        span = min(ends, due, resumes, befalls)
        if not np.isfinite(span):
            raise RuntimeError("the job stands still for ever: nobody trains and nothing is due")
        trained = np.minimum(rates * span, self._left)
        self._left -= trained
        self._left[self._left < 1e-6] = 0.0
        self.done += float(trained.sum())
        self.now += span
        if span == due:
            heapq.heappop(self._events)[2]()
        elif span == befalls and act is not None:
            act()
        self._deal()

    def _next(self, policy: Any, total: float) -> tuple[float, Callable[[], None] | None]:
        """Seconds until the next trouble, as rows go, and what it does."""
        if total <= 0:
            return float("inf"), None
        world, found = self.world, []
        if world.slow_at is not None and not self._slowed:
            found.append((world.slow_at * world.rows, lambda: self._slow(policy)))
        if world.lost_at is not None and not self._struck:
            found.append((world.lost_at[0] * world.rows, lambda: self._strike(policy)))
        if np.isfinite(self.limit):
            if self.limit not in self._known:
                self._known[self.limit] = self._full_at()
            found.append((self._known[self.limit], lambda: self._full(policy)))
        rows, act = min(found, key=lambda each: each[0], default=(float("inf"), None))
        return max(0.0, rows - self.done) / total, act

    def _full_at(self) -> float:
        """The rows after which servers are out of memory."""
        low, high = 0.0, self.world.rows
        if self.world.memory(high) <= self.limit:
            return float("inf")
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if self.world.memory(middle) <= self.limit else (low, middle)
        return high

    def _slow(self, policy: Any) -> None:
        self._slowed = True
        self._speeds[0] = self.world.slow
        self.say(f"a worker trains at {self.world.slow:g} of its speed")
        policy.slow(self, 0)

    def _strike(self, policy: Any) -> None:
        self._struck = True
        who = self.world.lost_at[1] if self.world.lost_at is not None else ""
        self.say(f"a {who} is killed")
        if who == "server":
            policy.lost_server(self)
            return
        last = len(self._speeds) - 1
        self._speeds[last] = 0.0
        if self._shards is not None:
            self._waiting, self._left[last] = self._waiting + float(self._left[last]), 0.0
        policy.lost_worker(self, last)

    def _full(self, policy: Any) -> None:
        self.ooms += 1
        self.say(f"servers are out of memory at {self.limit / 2**30:.1f} GiB")
        policy.full(self)
