"""Replicas as threads of one process that take turns: the library's own code on each, without a launch.

Only one computes at a time, so that a run is the same whatever else the machine does. Time is told by hand: each
replica has a clock that its steps move on, and who waits for others goes on at the latest one's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import torch
from torch import Tensor

from couler_py.steps.edit.channel import Channel, Listen, Pending

Result = TypeVar("Result")
PATIENCE = 600.0
"""Seconds after which replicas that wait for one that is gone give up."""


class Meeting:
    """Where replicas meet: each brings something, and all go on with what everybody brought."""

    def __init__(self, count: int):
        self.count = count
        self.clocks = [0.0] * count
        """Seconds on each replica's own clock."""
        self.turn = threading.Lock()
        self._barrier = threading.Barrier(count)
        # Two lists in turns: nobody is two meetings ahead of another.
        self._brought: tuple[list[Any], list[Any]] = ([None] * count, [None] * count)
        self._met = [0] * count

    def bring(self, rank: int, value: Any) -> list[Any]:
        """What everybody brought, in the order of ranks; let the others compute until all are here."""
        brought = self._brought[self._met[rank] % 2]
        self._met[rank] += 1
        brought[rank] = value, self.clocks[rank]
        self.turn.release()
        try:
            self._barrier.wait(PATIENCE)
        finally:
            self.turn.acquire()
        self.clocks[rank] = max(clock for _, clock in brought)
        return [each for each, _ in brought]

    def leave(self) -> None:
        """End the wait of all others: there is nobody to wait for."""
        self._barrier.abort()


class Thread(Channel):
    """The channel between replicas that are threads. Sums are taken in the order of ranks."""

    def __init__(self, meeting: Meeting, rank: int, listen: Listen | None = None):
        super().__init__("between", None, listen)
        self.meeting, self.rank, self.size = meeting, rank, meeting.count
        self.alone = self.size == 1

    def total(self, tensor: Tensor, what: str) -> Pending:
        if not self.alone:
            self._said("all_reduce", what, tensor)
            tensor.copy_(_sum(self.meeting.bring(self.rank, tensor.clone())))
        return Pending()

    def average(self, tensor: Tensor, what: str) -> None:
        self.total(tensor, what)
        tensor.div_(self.size)

    def everybodys(self, tensor: Tensor, what: str) -> tuple[Tensor, Pending]:
        if self.alone:
            return tensor[None], Pending()
        self._said("all_gather", what, tensor)
        return torch.stack(self.meeting.bring(self.rank, tensor.clone())), Pending()

    def as_first(self, tensor: Tensor) -> None:
        if not self.alone:
            tensor.copy_(self.meeting.bring(self.rank, tensor.clone())[0])


def _sum(tensors: Sequence[Tensor]) -> Tensor:
    total = tensors[0]
    for tensor in tensors[1:]:
        total = total + tensor
    return total


def in_turns(meeting: Meeting, work: Callable[[int], Result]) -> list[Result]:
    """What each replica came to; the first error where one failed."""

    def run(rank: int) -> Result:
        with meeting.turn:
            try:
                return work(rank)
            except BaseException:
                meeting.leave()
                raise

    with ThreadPoolExecutor(meeting.count) as pool:
        waiting = [pool.submit(run, rank) for rank in range(meeting.count)]
        failed = [each.exception() for each in waiting]
    for error in sorted(filter(None, failed), key=lambda error: isinstance(error, threading.BrokenBarrierError)):
        raise error
    return [each.result() for each in waiting]
