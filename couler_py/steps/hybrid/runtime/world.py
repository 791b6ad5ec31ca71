"""Who sits where: the ranks of plans (seats) and the processes that are there, with groups that are made once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

import torch.distributed as dist

Use = tuple[str, tuple[int, ...]]
"""What a group is for, and whose it is."""


class World:
    """The processes of the default process group. All of them make it together.

    `timeout` is how many seconds a process waits for another before it fails. Raises `ValueError` where two processes
    have one seat.
    """

    def __init__(self, seat: int, timeout: float):
        self.seat, self.group, self.timeout = seat, dist.group.WORLD, timedelta(seconds=timeout)
        told: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(told, seat)
        self.seats: list[int] = told
        if len(set(told)) < len(told):
            raise ValueError(f"the processes sit at {told}: each has a seat of its own")
        self._groups: dict[Use, Any] = {}

    @property
    def is_current(self) -> bool:
        """Whether the processes are still those of the default process group."""
        return self.group is not None and self.group is dist.group.WORLD

    def leave(self) -> None:
        """Let go of all groups: connections that nobody else holds close."""
        self.group = None
        self._groups.clear()

    def process(self, seat: int) -> int:
        """The number of the process that sits there. Raises `ValueError` where none does."""
        if seat not in self.seats:
            raise ValueError(f"the plan has work for rank {seat}, where no process sits: there are {self.seats}")
        return self.seats.index(seat)

    def prepare(self, wanted: Iterable[Use]) -> None:
        """Make the groups that are not there yet. All processes call it alike, members or not.

        Torch makes a group on all processes at once, and numbers them: the order is the same everywhere.
        """
        for key in wanted:
            if key not in self._groups:
                processes = sorted(self.process(seat) for seat in key[1])
                self._groups[key] = dist.new_group(processes, timeout=self.timeout)

    def among(self, seats: Sequence[int], purpose: str = "sum") -> Any:
        """The group of some seats for a purpose. Raises `KeyError` for one that wasn't prepared."""
        return self._groups[purpose, tuple(seats)]

    def gather(self, value: Any) -> dict[int, Any]:
        """What all processes give, by seat."""
        told: list[Any] = [None] * len(self.seats)
        dist.all_gather_object(told, value)
        return dict(zip(self.seats, told, strict=True))
