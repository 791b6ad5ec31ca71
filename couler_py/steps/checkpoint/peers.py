"""The ranks that save and load together, and how they hear of each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from couler_py.steps.checkpoint.manifest import CheckpointError

if TYPE_CHECKING:
    from torch import Tensor

Result = TypeVar("Result")


class Peers(Protocol):
    """All ranks, this one among them."""

    rank: int
    size: int

    def gather(self, value: Any) -> list[Any]:
        """What all ranks give, by rank; every rank calls it as often as the others."""

    def exchange(self, outgoing: list[Tensor]) -> list[Tensor]:
        """Send bytes to each rank, and give what each has sent to this one."""


class Alone:
    """A process that trains alone."""

    rank, size = 0, 1

    def gather(self, value: Any) -> list[Any]:
        """Its own value."""
        return [value]

    def exchange(self, outgoing: list[Tensor]) -> list[Tensor]:
        """What it sent to itself."""
        return outgoing


class Group:
    """A process group of torch; values travel pickled, over its backend."""

    def __init__(self, group: Any = None):
        import torch.distributed as dist

        self._group = group
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)

    def gather(self, value: Any) -> list[Any]:
        """What all ranks of the group give."""
        import torch.distributed as dist

        values: list[Any] = [None] * self.size
        dist.all_gather_object(values, value, group=self._group)
        return values

    def exchange(self, outgoing: list[Tensor]) -> list[Tensor]:
        """One all-to-all of bytes."""
        import torch
        import torch.distributed as dist

        sent = [each.numel() for each in outgoing]
        got = [sizes[self.rank] for sizes in self.gather(sent)]
        incoming = torch.empty(sum(got), dtype=torch.uint8)
        dist.all_to_all_single(incoming, torch.cat(outgoing), got, sent, group=self._group)
        return list(incoming.split(got))


def peers(group: Any = None) -> Peers:
    """The ranks of a process group of torch, of the default one, or this process alone where there is none.

    Whoever joins ranks in another way gives `Peers` of their own.
    """
    import torch.distributed as dist

    if group is None:
        return Group() if dist.is_available() and dist.is_initialized() else Alone()
    return Group(group) if isinstance(group, dist.ProcessGroup) else cast(Peers, group)


def together(among: Peers, work: Callable[[], Result]) -> list[Result]:
    """Do something on each rank, and give what all came to; where one fails, all do, and none waits for it for ever.

    Raises what failed here, else `CheckpointError` with what failed elsewhere.
    """
    mine: Exception | None = None
    value: Any = None
    try:
        value = work()
    except Exception as error:
        mine = error
    told = among.gather((value, None if mine is None else f"{type(mine).__name__}: {mine}"))
    if mine is not None:
        raise mine
    failed = {rank: problem for rank, (_, problem) in enumerate(told) if problem is not None}
    if failed:
        rank, problem = next(iter(failed.items()))
        others = f", and so did {len(failed) - 1} others" if len(failed) > 1 else ""
        raise CheckpointError(f"rank {rank} failed{others}: {problem}")
    return [value for value, _ in told]
