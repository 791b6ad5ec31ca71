"""Ranks as threads of one process: the real code on every rank, in milliseconds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import torch

Result = TypeVar("Result")


class Thread:
    """One of several ranks that gather in turns."""

    def __init__(self, rank: int, shared: list[Any], barrier: threading.Barrier):
        self.rank, self.size = rank, len(shared)
        self._shared, self._barrier = shared, barrier

    def gather(self, value: Any) -> list[Any]:
        self._shared[self.rank] = value
        self._barrier.wait(60)
        found = list(self._shared)
        self._barrier.wait(60)
        return found

    def exchange(self, outgoing: list[torch.Tensor]) -> list[torch.Tensor]:
        return [each[self.rank] for each in self.gather(outgoing)]


def on_ranks(count: int, work: Callable[[Thread], Result]) -> list[Result]:
    """What each of so many ranks came to; the first error where one failed."""
    shared: list[Any] = [None] * count
    barrier = threading.Barrier(count)
    with ThreadPoolExecutor(count) as pool:
        return [each.result() for each in [pool.submit(work, Thread(rank, shared, barrier)) for rank in range(count)]]
