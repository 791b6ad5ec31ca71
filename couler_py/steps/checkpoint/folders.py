"""The folder of all checkpoints of a training: how one becomes the newest, and which are kept.

A checkpoint is written into a folder of its own, `step-00000100.3f9c01ab`: first the file of each rank, then what each
has written, then the manifest, which makes it whole, then the pointer `latest`, which makes it the one to load. A
process that ends in between leaves the checkpoint before as it was.
"""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from couler_py.steps.checkpoint.files import Written
from couler_py.steps.checkpoint.manifest import MANIFEST, Cell, CheckpointError, File, Manifest, Tensor, decode, encode
from couler_py.steps.checkpoint.places import Place
from couler_py.steps.checkpoint.planning import Layout

LATEST = "latest"
FOLDER = re.compile(r"step-(\d{8,})\.[0-9a-f]{8}")


def new_folder(step: int) -> str:
    """A name that no folder has yet."""
    return f"step-{step:08}.{uuid.uuid4().hex[:8]}"


def step_of(folder: str) -> int:
    """The step in the name of a checkpoint's folder. Raises `CheckpointError` for another name."""
    found = FOLDER.fullmatch(folder)
    if found is None:
        raise CheckpointError(f"{folder!r} is no folder of a checkpoint: such a name is step-00000100.3f9c01ab")
    return int(found[1])


def file_of(rank: int) -> str:
    """The file with the cells that a rank writes."""
    return f"rank-{rank:05}.safetensors"


def folders(where: Place) -> list[str]:
    """The folders of checkpoints, whole or not, oldest step first."""
    found = [name for name in where.list() if FOLDER.fullmatch(name)]
    return sorted(found, key=lambda name: (step_of(name), name))


def is_whole(where: Place, folder: str) -> bool:
    """Whether everything of a checkpoint was written."""
    return MANIFEST in where.list(folder)


def latest(where: Place) -> str | None:
    """The folder of the checkpoint to load; None where there is none yet.

    Raises `CheckpointError` where the pointer names what is not there.
    """
    try:
        name = where.read(LATEST).decode(errors="replace").strip()
    except FileNotFoundError:
        return None
    if not FOLDER.fullmatch(name) or not is_whole(where, name):
        others = [folder for folder in folders(where) if is_whole(where, folder)]
        way = f"; name the step of a whole one: {', '.join(str(step_of(each)) for each in others)}" if others else ""
        raise CheckpointError(f"{where.name}/{LATEST} names {name!r}, which is no whole checkpoint{way}")
    return name


def find(where: Place, step: int | None = None) -> str:
    """The folder of the newest checkpoint, or of that of a step. Raises `CheckpointError` for none."""
    if step is None:
        found = latest(where)
        if found is None:
            raise CheckpointError(f"{where.name} has no checkpoint")
        return found
    for folder in reversed(folders(where)):
        if step_of(folder) == step and is_whole(where, folder):
            return folder
    steps = sorted({step_of(folder) for folder in folders(where) if is_whole(where, folder)})
    raise CheckpointError(
        f"{where.name} has no checkpoint of step {step}; it has {', '.join(map(str, steps)) or 'none'}"
    )


def manifest_of(where: Place, folder: str) -> Manifest:
    """What a checkpoint says about itself. Raises `CheckpointError`."""
    try:
        data = where.read(f"{folder}/{MANIFEST}")
    except FileNotFoundError as error:
        raise CheckpointError(f"{where.name}/{folder} is not whole: it has no {MANIFEST}") from error
    return decode(data, f"{where.name}/{folder}/{MANIFEST}")


def assembled(step: int, layout: Layout, written: Sequence[Written], facts: dict[str, Any]) -> Manifest:
    """The manifest of what all ranks have written."""
    cells: dict[str, dict[int, Cell]] = {name: {} for name in layout.tensors}
    files: list[File] = []
    for each in sorted(written, key=lambda one: one.rank):
        parts = layout.parts[each.rank]
        if not parts:
            continue
        at = each.start
        for part, checksum in zip(parts, each.checksums, strict=True):
            cells[part.tensor][part.number] = Cell(len(files), at, checksum)
            at += part.size
        files.append(File(file_of(each.rank), each.size))
    tensors = {
        name: Tensor(dtype, shape, edges, tuple(cells[name][number] for number in sorted(cells[name])), same_as)
        for name, (dtype, shape, edges, same_as) in layout.tensors.items()
    }
    return Manifest(step, tensors, tuple(files), facts)


def commit(
    where: Place,
    folder: str,
    manifest: Manifest,
    *,
    keep: int = 2,
    every: int = 0,
    reached: Callable[[str], None] = lambda _: None,
) -> None:
    """Make what was written the newest checkpoint, then let old ones go.

    The newest `keep` stay, and those whose step is a multiple of `every`. `reached` is told how far it has come.
    """
    where.swap(f"{folder}/{MANIFEST}", encode(manifest))
    reached("checkpoint.whole")
    where.swap(LATEST, f"{folder}\n".encode())
    reached("checkpoint.newest")
    retain(where, folder, keep, every)


def retain(where: Place, newest: str, keep: int, every: int = 0) -> None:
    """Take away what is older than the newest `keep`, and what was begun before the newest and never became whole."""
    step = step_of(newest)
    whole: list[str] = []
    for folder in folders(where):
        if is_whole(where, folder):
            whole.append(folder)
        elif step_of(folder) <= step:
            where.remove(folder)
    again = [folder for folder in whole if step_of(folder) == step and folder != newest]  # of a training set back
    before = [folder for folder in whole if step_of(folder) < step]
    for folder in again + before[: len(before) - max(1, keep) + 1]:
        if folder in again or not (every and step_of(folder) % every == 0):
            with contextlib.suppress(FileNotFoundError):
                where.remove(f"{folder}/{MANIFEST}")  # first, so that one half taken away is not whole
            where.remove(folder)


def done_name(rank: int) -> str:
    """The file in which a rank says what it has written, where ranks don't hear of each other otherwise."""
    return f"rank-{rank:05}.json"


def report(where: Place, folder: str, written: Written) -> None:
    """Say what this rank has written."""
    where.swap(f"{folder}/{done_name(written.rank)}", msgspec.json.encode(written))


def reported(where: Place, folder: str, ranks: int) -> list[Written] | None:
    """What all ranks have written; None as long as one hasn't."""
    there = set(where.list(folder))
    if not all(done_name(rank) in there for rank in range(ranks)):
        return None
    return [msgspec.json.decode(where.read(f"{folder}/{done_name(rank)}"), type=Written) for rank in range(ranks)]
