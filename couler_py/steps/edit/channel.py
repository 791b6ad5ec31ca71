"""What ranks say to each other, with a count of it: one channel within a replica, one between replicas."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
import torch
from torch import distributed

if TYPE_CHECKING:
    from torch import Tensor
    from torch.distributed import ProcessGroup


class Said(msgspec.Struct, frozen=True):
    """A collective that a rank begins."""

    channel: str
    """`between` replicas or `within` one."""
    how: str
    what: str
    size: int
    """Bytes that this rank puts in."""


Listen = Callable[[Said], None]
Spoke = Callable[[Said, float, float, float], None]


class Channel:
    """Collectives over one group of ranks, or none at all where a rank is alone (`group=None`).

    `bytes` are those that this rank has put in since the count was last taken, and `waited` the seconds that it stood
    in collectives that gather numbers, which is where a fast replica waits for a slow one. `listen` hears of each
    collective before it begins, in an order that is the same on all ranks of the group.
    """

    def __init__(self, name: str, group: ProcessGroup | None, listen: Listen | None = None):
        self.alone = group is None or distributed.get_world_size(group) == 1
        """Whether there is nobody to speak with."""
        self.name, self.group = name, None if self.alone else group
        self.size = 1 if group is None else distributed.get_world_size(group)
        self.rank = 0 if group is None else distributed.get_rank(group)
        self.bytes = 0
        self.waited = 0.0
        self.spoke: Spoke | None = None
        """Hears of collectives that are over: when they began, when this rank began to wait, when they ended."""
        self._listen = listen

    def total(self, tensor: Tensor, what: str) -> Pending:
        """Begin to add a tensor up over the group, in place."""
        if self.group is None:
            return Pending()
        over = self._said("all_reduce", what, tensor)
        return Pending(distributed.all_reduce(tensor, group=self.group, async_op=True), over)

    def average(self, tensor: Tensor, what: str) -> None:
        """Replace a tensor by its mean over the group, in the stream that is current."""
        if self.group is not None:
            over = self._said("all_reduce", what, tensor)
            Pending(distributed.all_reduce(tensor, group=self.group, async_op=True), over).wait()
            tensor.div_(self.size)

    def everybodys(self, tensor: Tensor, what: str) -> tuple[Tensor, Pending]:
        """Begin to gather a tensor from all ranks: its copies, in the order of ranks, along a new first dimension."""
        if self.group is None:
            return tensor[None], Pending()
        over = self._said("all_gather", what, tensor)
        gathered = tensor.new_empty((self.size, *tensor.shape))
        return gathered, Pending(distributed.all_gather(list(gathered), tensor, group=self.group, async_op=True), over)

    def numbers(self, mine: list[float], what: str, device: torch.device) -> list[list[float]]:
        """Everybody's numbers, in the order of ranks: the same on each of them, to the last bit."""
        began = time.monotonic()
        gathered, pending = self.everybodys(torch.tensor(mine, dtype=torch.float64, device=device), what)
        pending.wait()
        told: list[list[float]] = gathered.tolist()
        self.waited += time.monotonic() - began
        return told

    def from_first(self, value: int, what: str, device: torch.device) -> int:
        """What the first rank says."""
        if self.group is None:
            return value
        told = torch.tensor([value], dtype=torch.int64, device=device)
        over = self._said("broadcast", what, told)
        Pending(distributed.broadcast(told, group_src=0, group=self.group, async_op=True), over).wait()
        return int(told.item())

    def as_first(self, tensor: Tensor) -> None:
        """Replace a tensor by the first rank's: once, before training, and not counted."""
        if self.group is not None:
            distributed.broadcast(tensor, group_src=0, group=self.group)

    def take(self) -> tuple[int, float]:
        """Bytes and seconds since the last time this was asked; the count begins anew."""
        taken = self.bytes, self.waited
        self.bytes, self.waited = 0, 0.0
        return taken

    def _said(self, how: str, what: str, tensor: Tensor) -> Callable[[float], None]:
        """A collective begins; what is returned is told, when it is over, since when this rank has waited for it."""
        said = Said(self.name, how, what, tensor.numel() * tensor.element_size())
        self.bytes += said.size
        if self._listen is not None:
            self._listen(said)
        began = time.monotonic()

        def over(asked: float) -> None:
            if self.spoke is not None:
                self.spoke(said, began, asked, time.monotonic())

        return over


class Pending:
    """A collective on its way; `wait` until its result can be used by what the current stream does next."""

    def __init__(self, work: Any = None, over: Callable[[float], None] = lambda _: None):
        self._work, self._over = work, over
        self._waits = True

    def wait(self) -> None:
        """Wait for it; again is fine."""
        if self._waits:
            asked, self._waits = time.monotonic(), False
            if self._work is not None:
                self._work.wait()
            self._work = None
            self._over(asked)
