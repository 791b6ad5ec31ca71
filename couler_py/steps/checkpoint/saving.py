"""Save what ranks hold, and load it into whatever layout they have then.

>>> import tempfile, torch
>>> from couler_py.steps.checkpoint.saving import load, save
>>> folder = tempfile.mkdtemp()
>>> saved = save(folder, 100, {"weight": torch.arange(6.0)}, {"consumed": 3200})
>>> later = {"weight": torch.zeros(6)}
>>> loaded = load(folder, later)
>>> loaded.step, loaded.facts, later["weight"].tolist()
(100, {'consumed': 3200}, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from couler_py.steps.checkpoint import files, folders
from couler_py.steps.checkpoint.boxes import GRAIN
from couler_py.steps.checkpoint.manifest import CheckpointError, Manifest
from couler_py.steps.checkpoint.peers import Peers, peers, together
from couler_py.steps.checkpoint.places import Place, place
from couler_py.steps.checkpoint.planning import Held, Layout, plan, reads
from couler_py.steps.checkpoint.tensors import Holding, by_memory, bytes_of, fill, local_parts
from couler_py.store.faults import reach


class Saved(msgspec.Struct, frozen=True):
    """A checkpoint that was written."""

    step: int
    folder: str
    size: int
    """Bytes that this rank wrote."""


class Loaded(msgspec.Struct, frozen=True):
    """A checkpoint that was read."""

    step: int
    facts: dict[str, Any]
    size: int
    """Bytes that this rank read."""
    unused: tuple[str, ...] = ()
    """Tensors of the checkpoint that nobody here asked for."""
    from_memory: bool = False
    """Whether no disk was read (`flash.py`)."""


class Agreed(msgspec.Struct, frozen=True):
    """What all ranks know before they write."""

    held: tuple[dict[str, Held], ...]
    """By rank."""
    layout: Layout
    facts: dict[str, Any]
    folder: str


def own(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Names of tensors or facts that belong to one replica or rank, such as the state of its random numbers.

    >>> own("replica-1", {"cursor": 7})
    {'own/replica-1/cursor': 7}
    """
    return {f"own/{name}/{key}": value for key, value in values.items()}


def save(
    where: str | os.PathLike[str],
    step: int,
    tensors: Holding,
    facts: Mapping[str, Any] | None = None,
    *,
    group: Any = None,
    keep: int = 2,
    every: int = 0,
    grain: int = GRAIN,
) -> Saved:
    """Write a checkpoint, and return when it is the newest one and safe on disk; all ranks of the group call it.

    `tensors` are what this rank holds, by names that all ranks share: plain tensors, DTensors, `Shard`s. Each is
    written once, by whoever holds it. `facts` are values of JSON; ranks may give different names, and equal values
    of one.
    The newest `keep` checkpoints stay, and those of steps that are multiples of `every`.
    Raises `CheckpointError` on all ranks where one of them can't save; the checkpoint before is then as it was.
    """
    among, target = peers(group), place(where)
    held, parts = local_parts(tensors)
    agreed = agree(among, step, held, facts or {}, grain)
    mine = agreed.layout.parts[among.rank]

    def written() -> files.Written:
        if not mine:
            return files.Written(among.rank, 0, 0, ())
        path = f"{agreed.folder}/{folders.file_of(among.rank)}"
        dtypes = agreed.layout.dtypes()
        midway = partial(reach, "checkpoint.writing")
        done = files.write(target, path, among.rank, mine, dtypes, lambda part: bytes_of(part, parts), midway)
        reach("checkpoint.written")
        return done

    everybody = together(among, written)

    def committed() -> None:
        if among.rank == 0:
            manifest = folders.assembled(step, agreed.layout, everybody, agreed.facts)
            folders.commit(target, agreed.folder, manifest, keep=keep, every=every, reached=reach)

    together(among, committed)
    return Saved(step, agreed.folder, everybody[among.rank].size)


def any_saved(where: str | os.PathLike[str], group: Any = None) -> bool:
    """Whether there is a checkpoint: what the first rank finds, so that all do the same; all ranks call it."""
    found: bool = peers(group).gather(folders.latest(place(where)) is not None)[0]
    return found


def load(where: str | os.PathLike[str], tensors: Holding, *, step: int | None = None, group: Any = None) -> Loaded:
    """Read the newest checkpoint, or that of a step, into tensors of any layout; all ranks of the group call it.

    Each rank reads the cells that meet what it holds. Raises `CheckpointError` on all ranks where one of them lacks a
    tensor, has one of another shape or type, or finds bytes that were altered or are gone; tensors may be half filled.
    """
    among, source = peers(group), place(where)
    chosen: str = together(among, lambda: folders.find(source, step) if among.rank == 0 else "")[0]

    def read() -> Loaded:
        manifest = folders.manifest_of(source, chosen)
        return read_into(source, chosen, manifest, tensors)

    return together(among, read)[among.rank]


def read_into(source: Place, folder: str, manifest: Manifest, tensors: Holding) -> Loaded:
    """Read what some tensors hold of a checkpoint. Raises `CheckpointError`."""
    held, parts = local_parts(tensors)
    check_fit(manifest, held)
    targets = by_memory(parts, {name: each.same_as for name, each in manifest.tensors.items()})
    size = 0
    for run in reads(manifest, {name: each.boxes for name, each in held.items()}):
        size += run.size
        for number, data in files.read(source, folder, manifest.files[run.file].name, run):
            need = run.needs[number]
            fill(targets[need.tensor], need.box, data, manifest.tensors[need.tensor].dtype)
    unused = tuple(sorted(manifest.tensors.keys() - held.keys()))
    return Loaded(manifest.step, manifest.facts, size, unused)


def check_fit(manifest: Manifest, held: Mapping[str, Held]) -> None:
    """Raises `CheckpointError` where tensors aren't what a checkpoint has by their names."""
    for name, mine in held.items():
        kept = manifest.tensor(name)
        if kept.shape != mine.shape:
            raise CheckpointError(f"{name!r} was saved with shape {list(kept.shape)}, and is {list(mine.shape)} here")
        if kept.dtype != mine.dtype:
            raise CheckpointError(
                f"{name!r} was saved as {kept.dtype}, and is {mine.dtype} here: convert it after loading"
            )


def agree(among: Peers, step: int, held: Mapping[str, Held], facts: Mapping[str, Any], grain: int = GRAIN) -> Agreed:
    """Who writes what, all facts, and the folder: the same on every rank. Raises `CheckpointError`."""

    def told() -> tuple[int, dict[str, Held], bytes, str]:
        try:
            return step, dict(held), msgspec.json.encode(facts), folders.new_folder(step)
        except TypeError as error:
            raise CheckpointError(f"facts are values of JSON: {error}; tensors go beside them") from error

    everybody = together(among, told)
    steps = {each[0] for each in everybody}
    if len(steps) > 1:
        raise CheckpointError(f"ranks save different steps together: {', '.join(map(str, sorted(steps)))}")
    held_by_all = tuple(each[1] for each in everybody)
    return Agreed(
        held_by_all,
        plan(held_by_all, grain),
        merged([msgspec.json.decode(each[2]) for each in everybody]),
        everybody[0][3],
    )


def merged(told: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The facts of all ranks as one. Raises `CheckpointError` where two differ about one of them."""
    found: dict[str, Any] = {}
    said: dict[str, int] = {}
    for rank, facts in enumerate(told):
        for name, value in facts.items():
            if name in found and found[name] != value:
                raise CheckpointError(
                    f"the fact {name!r} is {found[name]!r} on rank {said[name]} and {value!r} on rank {rank}: "
                    "what ranks have of their own goes under names of their own (`own`)"
                )
            found[name] = value
            said.setdefault(name, rank)
    return found
