"""Some ranks are gone: which cells still lie in somebody's memory, who sends them to whom, and what must be read.

The transfers are those of Hetu's batched send and receive (PKU-DAIR/Hetu, `switch_exec_graph.cc`): what a rank has it
keeps, else it comes from its own node, else from who has sent least so far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from couler_py.steps.checkpoint.boxes import Box, cells, edges, meeting
from couler_py.steps.checkpoint.manifest import WIDTHS, CheckpointError
from couler_py.steps.checkpoint.planning import Held


class Move(msgspec.Struct, frozen=True):
    """A cell that a rank needs: from its own memory, from another rank, or from the checkpoint."""

    tensor: str
    box: Box
    size: int
    target: int
    source: int | None
    """The rank that has it, the target itself too; None where no rank is left that does."""


class Rescue(msgspec.Struct, frozen=True):
    """How those who are left get what they need."""

    moves: tuple[Move, ...]

    @property
    def kept(self) -> int:
        """Bytes that are already where they are needed."""
        return sum(move.size for move in self.moves if move.source == move.target)

    @property
    def moved(self) -> int:
        """Bytes that go from rank to rank."""
        return sum(move.size for move in self.moves if move.source not in (None, move.target))

    @property
    def read(self) -> int:
        """Bytes that must be read from the checkpoint."""
        return sum(move.size for move in self.moves if move.source is None)

    def messages(self) -> dict[tuple[int, int], list[Move]]:
        """What each rank sends to each other, in one message a pair."""
        found: dict[tuple[int, int], list[Move]] = {}
        for move in self.moves:
            if move.source is not None and move.source != move.target:
                found.setdefault((move.source, move.target), []).append(move)
        return dict(sorted(found.items()))

    def lost(self) -> dict[str, list[Box]]:
        """What nobody has any more, by tensor."""
        found: dict[str, set[Box]] = {}
        for move in self.moves:
            if move.source is None:
                found.setdefault(move.tensor, set()).add(move.box)
        return {name: sorted(boxes) for name, boxes in sorted(found.items())}


def rescue(
    held: Mapping[int, Mapping[str, Held]],
    needed: Mapping[int, Mapping[str, Held]],
    nodes: Mapping[int, str] | None = None,
) -> Rescue:
    """How ranks get what they need with the fewest bytes moved.

    `held` is what those who are left have in memory, all of one step, by rank; `needed` what each is to have; `nodes`
    names the machine of each rank. Raises `CheckpointError` where two differ about a tensor's shape or type.
    """
    on = nodes or {}
    sent: dict[tuple[int, bool], int] = {}
    moves: list[Move] = []
    for name in sorted({name for each in needed.values() for name in each}):
        about = [each[name] for each in (*held.values(), *needed.values()) if name in each]
        first = about[0]
        if any((each.dtype, each.shape) != (first.dtype, first.shape) for each in about):
            raise CheckpointError(f"ranks differ about the shape or type of {name!r}")
        width = WIDTHS[first.dtype]
        cuts = edges(
            first.shape, width, sorted({box for each in about for box in each.boxes if box.size}), grain=1 << 62
        )
        owners = {rank: _numbers(each[name].boxes, cuts) for rank, each in sorted(held.items()) if name in each}
        boxes = cells(cuts)
        for target, each in sorted(needed.items()):
            if name not in each:
                continue
            for number in sorted(_numbers(each[name].boxes, cuts)):
                size = boxes[number].size * width
                having = [rank for rank, numbers in owners.items() if number in numbers]
                source = _source(target, having, on, sent)
                if source is not None and source != target:
                    link = (source, on.get(source) == on.get(target))
                    sent[link] = sent.get(link, 0) + size
                moves.append(Move(name, boxes[number], size, target, source))
    return Rescue(tuple(moves))


def _numbers(boxes: Sequence[Box], cuts: tuple[tuple[int, ...], ...]) -> set[int]:
    return {number for box in boxes for number, _ in meeting(cuts, box)}


def _source(
    target: int, having: Sequence[int], on: Mapping[int, str], sent: Mapping[tuple[int, bool], int]
) -> int | None:
    if target in having:
        return target
    near = [rank for rank in having if on.get(rank) == on.get(target)]
    candidates = near or list(having)
    if not candidates:
        return None
    return min(candidates, key=lambda rank: (sent.get((rank, bool(near)), 0), rank))
