"""Which processes train together, when some may be lost and others come: generations, agreed through a store.

Whoever starts the ranks (`supervisor.py`) sees them end, and calls each generation: the seats of those that live. Who
is called leaves the process group that was and forms a new one with the others; torchrun's agents would end them all
and start them anew, and what is in memory would be lost.
"""

from __future__ import annotations

import time
from datetime import timedelta

import msgspec
import torch.distributed as dist

LATEST = "latest"
LOOK = 0.02
"""Seconds between two looks at the store."""
GRACE = 15.0
"""Seconds in which the end of a process is noticed, so that a new generation is called."""


class RendezvousError(RuntimeError):
    """A process can't take part: the message says why."""


def call(store: dist.Store, number: int, seats: list[int]) -> None:
    """Call a generation."""
    store.set(f"called-{number}", msgspec.json.encode(seats))
    store.set(LATEST, str(number))


def is_settled(store: dist.Store, number: int, count: int) -> bool:
    """Whether all of a generation have heard of it."""
    return bool(store.add(f"arrived-{number}", 0) >= count)


def is_here(store: dist.Store, seat: int, start: int) -> bool:
    """Whether the process that took a seat in its so many-th start is ready to be called."""
    return bool(store.check([f"here-{seat}-{start}"]))


class Rendezvous:
    """One process's way into each generation. `start` counts how often a process took its seat before.

    A process waits `timeout` seconds for another before it fails.
    """

    def __init__(self, store: dist.Store, seat: int, start: int = 0, *, timeout: float = 60.0):
        self.seat, self.start, self.timeout = seat, start, timeout
        self.number = -1
        self.seats: tuple[int, ...] = ()
        """Who trains now."""
        self._store = store
        store.set(f"here-{seat}-{start}", b"")

    @property
    def is_called(self) -> bool:
        """Whether there is a newer generation."""
        return self._latest > self.number

    def meet(self, failure: Exception | None = None) -> None:
        """Form the process group of the newest generation, with all that it names.

        `failure` is why there should be one: raised where nobody calls one. Raises `RendezvousError` where others don't
        come, and what torch raises where one is lost meanwhile: then `meet` again.
        """
        if dist.is_initialized():
            dist.destroy_process_group()
        joined, seats = self.number, self.seats
        until = time.monotonic() + (GRACE if failure is not None else 2 * self.timeout)
        while joined == self.number or not is_settled(self._store, joined, len(seats)):
            newest = self._latest
            if newest > joined and self.seat in self._called(newest):
                joined, seats = newest, self._called(newest)
                self._store.add(f"arrived-{joined}", 1)
                until = time.monotonic() + 2 * self.timeout
            elif time.monotonic() > until:
                raise failure or RendezvousError(
                    f"not all of the ranks {list(seats)} have come within {self.timeout} s"
                )
            else:
                time.sleep(LOOK)
        self.number, self.seats = joined, seats
        dist.init_process_group(
            "gloo",
            store=dist.PrefixStore(f"group-{joined}", self._store),
            rank=seats.index(self.seat),
            world_size=len(seats),
            timeout=timedelta(seconds=self.timeout),
        )

    def wait_for(self, seat: int) -> None:
        """Wait until a generation is called with somebody at a seat. Raises `RendezvousError` where there is none."""
        until = time.monotonic() + self.timeout
        while seat not in self._called(self._latest):
            if time.monotonic() > until:
                raise RendezvousError(f"rank {seat} didn't come back within {self.timeout} s")
            time.sleep(LOOK)

    @property
    def _latest(self) -> int:
        return int(self._store.get(LATEST))

    def _called(self, number: int) -> tuple[int, ...]:
        return tuple(msgspec.json.decode(self._store.get(f"called-{number}"), type=list[int]))
