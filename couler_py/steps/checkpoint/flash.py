"""Save through memory: training waits for a copy, and a keeper writes it to disk meanwhile.

The protocol follows DLRover's flash checkpoint (intelligent-machine-learning/dlrover), with two slots of memory instead
of one, so that a state which is being written to disk is never waited for, nor overwritten.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import torch

from couler_py.steps.checkpoint import folders
from couler_py.steps.checkpoint.boxes import GRAIN, meeting
from couler_py.steps.checkpoint.keeper import Job
from couler_py.steps.checkpoint.link import Link, socket_of
from couler_py.steps.checkpoint.manifest import CheckpointError
from couler_py.steps.checkpoint.memory import SLOTS, About, Memory, places
from couler_py.steps.checkpoint.peers import peers, together
from couler_py.steps.checkpoint.places import place
from couler_py.steps.checkpoint.planning import Held, Layout, Part
from couler_py.steps.checkpoint.saving import Agreed, Loaded, agree, load, merged
from couler_py.steps.checkpoint.tensors import Holding, Local, by_memory, copy_into, fill, local_parts
from couler_py.store.faults import reach


class Kept(msgspec.Struct, frozen=True):
    """A state that is in memory."""

    step: int
    persisting: bool
    """Whether it is being written to disk; not where the one before still is."""
    seconds: float
    """How long training waited."""


class Flash:
    """Saves of one training through memory. All ranks of a group make one, and call it alike.

    `where` is the folder of its checkpoints. `linger` is how long memory is kept for a process that died, and
    `patience` how long rank 0 waits for the others' parts, in seconds; `keep` and `every` are those of `saving.save`.
    Where two trainings write to one folder on one machine, each has a `name` of its own.
    """

    def __init__(
        self,
        where: str | os.PathLike[str],
        *,
        name: str = "",
        group: Any = None,
        keep: int = 2,
        every: int = 0,
        linger: float = 60.0,
        patience: float = 600.0,
        grain: int = GRAIN,
    ):
        self._among, self._where, self._grain = peers(group), os.fspath(where), grain
        job = Job(self._where, self._among.rank, self._among.size, keep, every, patience)
        full = self._where if "://" in self._where else str(Path(self._where).resolve())
        self._link = Link(job, socket_of(f"{_digest([full, name])[:16]}-{self._among.rank}"), linger)
        self._known: tuple[list[str], tuple[dict[str, Held], ...], Layout, str] | None = None

    def save(
        self, step: int, tensors: Holding, facts: Mapping[str, Any] | None = None, *, persist: bool = True
    ) -> Kept:
        """Copy a state to memory, and have it written to disk; training may change the tensors when this returns.

        Where the state before is still being written, this one stays in memory alone. Raises `CheckpointError` on all
        ranks where one can't copy, or where the write before has failed.
        """
        begun = time.perf_counter()
        held, parts = local_parts(tensors)
        agreed, digest, busy = self._agree(step, held, facts or {})

        def copied() -> int:
            memory = self._link.make(agreed.layout, digest)
            free = [slot for slot in range(SLOTS) if slot not in busy]
            newest = memory.newest()
            slot = min(free, key=lambda each: (each in newest[:1], each))
            _copy(memory.begin(slot), agreed.layout.parts[self._among.rank], parts)
            memory.finish(slot, About(step, agreed.folder, digest, agreed.facts))
            reach("checkpoint.copied")
            return slot

        slot = together(self._among, copied)[self._among.rank]
        persisting = persist and not busy
        if persisting:
            self._link.persist(slot)
        return Kept(step, persisting, time.perf_counter() - begun)

    def restore(self, tensors: Holding) -> Loaded:
        """The newest state, from memory where all ranks have it, else from disk; all ranks call it.

        What is being written to disk is waited for. Raises `CheckpointError` as `saving.load` does, where there is
        neither, and where the last write has failed.
        """
        held, parts = local_parts(tensors)
        agreed = agree(self._among, 0, held, {}, self._grain)
        found: list[Memory | None] = []

        def looked() -> None:
            self._link.hear(None)
            found.append(self._link.find(agreed.layout, _digest(agreed.layout)))

        together(self._among, looked)
        memory = found[0]
        slots: dict[tuple[int, str], int] = {}
        for slot in memory.newest() if memory is not None else []:
            about = memory.about(slot) if memory is not None else None
            if about is not None:
                slots[about.step, about.folder] = slot
        told = self._among.gather(list(slots))
        common = set(told[0]).intersection(*told[1:])
        disk = together(self._among, lambda: _newest_step(self._where) if self._among.rank == 0 else None)[0]
        if not common or memory is None or (disk is not None and disk >= max(common)[0]):
            return load(self._where, tensors, group=self._among)
        step, folder = max(common)
        about = memory.about(slots[step, folder])
        size = self._exchange(memory.view(slots[step, folder]), agreed, parts)
        return Loaded(step, about.facts if about is not None else {}, size, (), from_memory=True)

    def wait(self) -> None:
        """Wait until the last state that is being written is on disk, on all ranks. Raises `CheckpointError`."""
        together(self._among, lambda: self._link.hear(None))

    def close(self) -> None:
        """Wait for what is being written, and give the memory back. Raises `CheckpointError` where it wasn't."""
        try:
            self.wait()
        finally:
            self._link.close()

    def __enter__(self) -> Flash:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()

    def _agree(self, step: int, held: dict[str, Held], facts: Mapping[str, Any]) -> tuple[Agreed, str, set[int]]:
        """What all ranks write, its layout's digest, and slots that keepers still write."""

        def told() -> tuple[str, int, bytes, str, int | None]:
            self._link.hear(0.0)
            try:
                return _digest(held), step, msgspec.json.encode(facts), folders.new_folder(step), self._link.busy
            except TypeError as error:
                raise CheckpointError(f"facts are values of JSON: {error}; tensors go beside them") from error

        everybody = together(self._among, told)
        shapes = [each[0] for each in everybody]
        if len({each[1] for each in everybody}) > 1 or self._known is None or self._known[0] != shapes:
            agreed = agree(self._among, step, held, facts, self._grain)
            self._known = (shapes, agreed.held, agreed.layout, _digest(agreed.layout))
        _, all_held, layout, digest = self._known
        together_facts = merged([msgspec.json.decode(each[2]) for each in everybody])
        busy = {each[4] for each in everybody if each[4] is not None}
        return Agreed(all_held, layout, together_facts, everybody[0][3]), digest, busy

    def _exchange(self, room: memoryview, agreed: Agreed, parts: dict[str, list[Local]]) -> int:
        """Give each rank the cells that it needs of those in this rank's memory, and take those that others have."""
        rank, layout = self._among.rank, agreed.layout
        mine = layout.parts[rank]
        starts, _ = places([part.size for part in mine])
        memory = torch.frombuffer(room, dtype=torch.uint8)
        outgoing = []
        for held in agreed.held:
            wanted = _wanted(layout, held)
            pieces = [
                memory[start : start + part.size]
                for part, start in zip(mine, starts, strict=True)
                if (part.tensor, part.number) in wanted
            ]
            outgoing.append(torch.cat([torch.empty(0, dtype=torch.uint8), *pieces]))
        incoming = self._among.exchange(outgoing)
        targets = by_memory(parts, {name: same_as for name, (*_, same_as) in layout.tensors.items()})
        wanted = _wanted(layout, agreed.held[rank])
        for owner, data in zip(layout.parts, incoming, strict=True):
            at = 0
            for part in owner:
                if (part.tensor, part.number) in wanted:
                    cell = memoryview(data[at : at + part.size].numpy())
                    fill(targets[part.tensor], part.box, cell, layout.tensors[part.tensor][0])
                    at += part.size
        return sum(each.numel() for each in incoming)


def _copy(room: memoryview, mine: tuple[Part, ...], parts: dict[str, list[Local]]) -> None:
    starts, _ = places([part.size for part in mine])
    memory = torch.frombuffer(room, dtype=torch.uint8)
    for number, (part, start) in enumerate(zip(mine, starts, strict=True)):
        if number == len(mine) // 2:
            reach("checkpoint.copying")
        copy_into(memory[start : start + part.size], part, parts)


def _wanted(layout: Layout, held: Mapping[str, Held]) -> set[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    for name, mine in held.items():
        _, _, cuts, same_as = layout.tensors[name]
        found |= {(same_as or name, number) for box in mine.boxes for number, _ in meeting(cuts, box)}
    return found


def _newest_step(where: str) -> int | None:
    found = folders.latest(place(where))
    return None if found is None else folders.step_of(found)


def _digest(value: Any) -> str:
    return hashlib.blake2b(msgspec.json.encode(value, order="sorted"), digest_size=16).hexdigest()
