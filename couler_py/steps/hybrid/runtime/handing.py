"""What the operations of one rank get from the sections before them, and give to those behind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from couler_py.steps.hybrid.layout import Section
from couler_py.steps.hybrid.runtime.channels import Inbox, Like, Outbox
from couler_py.steps.hybrid.runtime.later import Later
from couler_py.steps.hybrid.runtime.world import World
from couler_py.steps.hybrid.sending import Kind, links, receivers, sender
from couler_py.steps.hybrid.timeline import Op

if TYPE_CHECKING:
    from torch import Tensor


class Handing:
    """One rank's ends of a pipeline. `row` are the sections along the model, `place` is the rank's in its sections.

    All ranks of the pipeline make theirs together, and go through their orders together.
    """

    def __init__(self, world: World, row: tuple[Section, ...], place: int):
        self._world, self._row, self._place = world, row, place
        self._out: dict[tuple[Kind, int], Outbox] = {}
        for kind, source, target in links(row):
            if world.seat == source:
                self._out[kind, target] = Outbox(world, kind, target)
        self._in: dict[tuple[Kind, int], Inbox] = {}
        self._handed: dict[Op, Tensor] = {}

    def begin(self, order: Sequence[Op], like: Callable[[Op], Like]) -> None:
        """Receive what this rank's operations take, in their order; `like` says of what shape and type it is."""
        self._handed = {}
        coming: defaultdict[tuple[Kind, int], list[Like]] = defaultdict(list)
        for op in order:
            source = sender(self._row, op, self._place)
            if source is not None and source != self._world.seat:
                coming[op.kind, source].append(like(op))
        self._in = {
            (kind, source): Inbox(self._world, kind, source, shapes) for (kind, source), shapes in coming.items()
        }

    def take(self, op: Op, later: Later | None = None, between: Any = None) -> Tensor | None:
        """What an operation gets; None on the section where its direction begins."""
        source = sender(self._row, op, self._place)
        if source is None:
            return None
        if source == self._world.seat:
            return self._handed.pop(op)
        return self._in[op.kind, source].take(later, between)

    def give(self, op: Op, tensor: Tensor) -> None:
        """Send what an operation made on; nothing is sent where its direction ends."""
        for rank in receivers(self._row, op, self._world.seat):
            if rank == self._world.seat:
                after = op.stage + (1 if op.kind == "F" else -1)
                self._handed[op._replace(stage=after)] = tensor.detach()
            else:
                self._out[op.kind, rank].send(tensor)

    def end(self) -> None:
        """Wait until all that was sent is there."""
        for box in self._out.values():
            box.flush()
