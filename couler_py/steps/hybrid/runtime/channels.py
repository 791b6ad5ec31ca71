"""What sections send each other in a step: activations forward, their gradients backward.

Every pair of ranks and direction has a group of its own, in which messages have one order: that of the sender's
operations, which is the receiver's too. A thread receives, so that a rank may compute while it waits.
"""

from __future__ import annotations

import threading
from collections import deque
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.distributed as dist

from couler_py.steps.hybrid.runtime.later import Later
from couler_py.steps.hybrid.runtime.world import World
from couler_py.steps.hybrid.sending import Kind

if TYPE_CHECKING:
    from torch import Tensor

AHEAD = 4
"""Messages to one rank that may be under way; what they hold is let go after."""


class Like(NamedTuple):
    """What a tensor that comes is like."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    device: torch.device


class Outbox:
    """What goes to one rank in one direction."""

    def __init__(self, world: World, kind: Kind, target: int):
        self._group = world.among((world.seat, target), kind)
        self._to = world.process(target)
        self._under_way: deque[tuple[Any, Tensor]] = deque()
        self._count = 0

    def send(self, tensor: Tensor) -> None:
        """Send it, without waiting until it is there."""
        sent = tensor.detach().contiguous()
        work = dist.isend(sent, self._to, group=self._group, tag=self._count)
        self._count += 1
        self._under_way.append((work, sent))
        while len(self._under_way) > AHEAD:
            self._under_way.popleft()[0].wait()

    def flush(self) -> None:
        """Wait until all is there."""
        while self._under_way:
            self._under_way.popleft()[0].wait()
        self._count = 0


class Inbox:
    """What comes from one rank in one direction, in a step: tensors like these, in this order."""

    def __init__(self, world: World, kind: Kind, source: int, coming: list[Like]):
        self._group = world.among((source, world.seat), kind)
        self._from = world.process(source)
        self._coming = coming
        self._come: SimpleQueue[Tensor | Exception] = SimpleQueue()
        self._thread = threading.Thread(target=self._receive, name=f"{kind} from {source}", daemon=True)
        self._thread.start()

    def _receive(self) -> None:
        try:
            for number, like in enumerate(self._coming):
                tensor = torch.empty(like.shape, dtype=like.dtype, device=like.device)
                dist.recv(tensor, self._from, group=self._group, tag=number)
                self._come.put(tensor)
        except Exception as error:  # told to whoever waits for it
            self._come.put(error)

    def take(self, later: Later | None, between: Any) -> Tensor:
        """The next tensor. Tasks of `later` are done by `between` until it is there. Raises what receiving raised."""
        while True:
            try:
                got = self._come.get_nowait()
            except Empty:
                if later:
                    between()
                    continue
                got = self._come.get()
            if isinstance(got, Exception):
                raise got
            return got
