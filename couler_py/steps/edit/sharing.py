"""Files that nodes share: a corpus on its way to them, and results on their way back. No torch here.

Pods of one job get no files from the engine and give none to it. What they share lies in a place that all of them
reach: a folder on a volume that is mounted in each, or one of an object store.
"""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from couler_py.steps.checkpoint.places import Folder, place
from couler_py.steps.corpus.tokens import INDEX, TOKENS

MODEL = "model"
METRICS, REPORT, TRACE = PAGES = ("metrics.json", "report.html", "trace.json")
REACH = "shared= is reached by all pods: an object store, or a folder on a volume that volumes= mounts in each"
BLOCK = 16 << 20
"""Bytes that are in memory at a time."""


class Published(NamedTuple):
    """Where the nodes of one training read and write."""

    corpus: str
    folder: str
    """Of this training alone; its results go there."""
    checkpoints: str
    """Where its checkpoints go if it is given no other place."""


def publish(data: str | os.PathLike[str], shared: str) -> Published:
    """Copy a folder of tokens to a shared place, and name a new folder there for one training.

    A corpus is called by its content, so that it is copied once however often somebody trains on it. Its index is
    written last: who finds one finds the whole corpus. Raises `FileNotFoundError` for a folder without tokens.
    """
    source, root = Path(data), shared.rstrip("/")
    index = (source / INDEX).read_bytes()
    digest = hashlib.sha256(index)
    for block in _blocks(source / TOKENS):
        digest.update(block)
    corpus = f"{root}/corpus-{digest.hexdigest()[:16]}"
    target = place(corpus)
    if INDEX not in target.list():
        target.write(TOKENS, _blocks(source / TOKENS))
        target.swap(INDEX, index)
    folder = f"{root}/train-{uuid.uuid4().hex[:12]}"
    return Published(corpus, folder, f"{folder}/checkpoints")


def fetch(where: str, folder: Path, paths: Iterable[str]) -> None:
    """Copy files of a place to a folder of this machine. Raises `FileNotFoundError` for one that isn't there."""
    source = place(where)
    for path in paths:
        size = source.size(path)
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "wb") as file:
            for start in range(0, size, BLOCK):
                file.write(source.read(path, start, min(BLOCK, size - start)))


def results(where: str, folder: Path) -> None:
    """Copy what a training has left in a place, apart from its checkpoints.

    Raises `FileNotFoundError` where it has left nothing, as in a folder that is on no volume.
    """
    source = place(where)
    model = [f"{MODEL}/{name}" for name in source.list(MODEL)]
    if not model:
        raise FileNotFoundError(f"no results in {where}: {REACH}")
    fetch(where, folder, (*model, *(name for name in source.list() if name in PAGES)))


def deliver(folder: Path, where: str) -> None:
    """Copy all files of a folder of this machine to a place."""
    target = place(where)
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        target.write(path.relative_to(folder).as_posix(), _blocks(path))


def at_hand(where: str) -> Path | None:
    """The folder that a place is, where this machine reads it as it lies; None for an object store."""
    found = place(where)
    return Path(found.name) if isinstance(found, Folder) else None


def _blocks(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            yield block
