"""The artifacts of a home: kept, read, joined into folders, and collected when no run needs them any more."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from couler_py.ir.names import INDEX_DIGITS
from couler_py.store import content
from couler_py.store.home import Home
from couler_py.store.records import ArtifactRef


def reference(ref: ArtifactRef) -> dict[str, Any]:
    """A reference as plain data, for `couler_py.store.content`."""
    plain: dict[str, Any] = msgspec.to_builtins(ref)
    return plain


def keep(home: Home, path: str | os.PathLike[str]) -> ArtifactRef:
    """Keep a copy of a file or folder. Raises `ContentError` and `OSError`."""
    return ArtifactRef(**content.keep(str(home.artifacts), os.fspath(path)))


def keep_bytes(home: Home, data: bytes) -> ArtifactRef:
    """Keep some bytes as a file."""
    return ArtifactRef(**content.keep_bytes(str(home.artifacts), data))


def give(home: Home, ref: ArtifactRef, target: str | os.PathLike[str], *, writable: bool = False) -> None:
    """Put a copy at a path. Raises `ContentError` where what is kept is damaged."""
    content.give(str(home.artifacts), reference(ref), os.fspath(target), writable=writable)


def visible(home: Home, ref: ArtifactRef, folder: Path, name: str) -> Path:
    """A copy that a person can open, at `folder/name` with the file's own suffix, made once.

    Raises `ContentError` for a name that isn't one part of a path.
    """
    target = folder / part(name + ref.suffix)
    if not target.exists():
        give(home, ref, target)
    return target


def part(name: str) -> str:
    """A name, which is one part of a path. Raises `ContentError` for any other."""
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise content.ContentError(f"{name!r} can't be the name of a file")
    return name


def gather(home: Home, members: list[tuple[int, ArtifactRef]]) -> ArtifactRef:
    """One folder with an entry for each member, named by its zero-padded index."""
    return folder(home, [(f"{index:0{INDEX_DIGITS}d}", ref) for index, ref in members])


def folder(home: Home, members: Sequence[tuple[str, ArtifactRef]]) -> ArtifactRef:
    """One folder with an entry for each member, at its path in it. Raises `ContentError` for a path out of it."""
    root = str(home.artifacts)
    entries: list[dict[str, Any]] = []
    around: set[str] = set()
    for name, ref in members:
        if not content.is_inside(name):
            raise content.ContentError(f"{name!r} can't be a path in a folder")
        parents = [str(parent) for parent in reversed(PurePosixPath(name).parents) if parent.name]
        entries += ({"path": parent, "kind": "folder"} for parent in parents if parent not in around)
        around.update(parents)
        if ref.kind == "file":
            entries.append(reference(ref) | {"path": name})
            continue
        entries.append({"path": name, "kind": "folder"})
        for entry in content.manifest(root, ref.digest):
            entries.append(entry | {"path": f"{name}/{entry['path']}"})
    return ArtifactRef(**content.keep_manifest(root, entries))


def member(home: Home, ref: ArtifactRef, path: str) -> ArtifactRef | None:
    """A file or folder in a folder; None where there is none."""
    if ref.kind != "folder":
        return None
    root, wanted = str(home.artifacts), path.strip("/")
    below: list[dict[str, Any]] = []
    for entry in content.manifest(root, ref.digest):
        if entry["path"] == wanted and entry["kind"] == "file":
            return msgspec.convert({key: value for key, value in entry.items() if key != "path"}, ArtifactRef)
        if entry["path"].startswith(f"{wanted}/"):
            below.append(entry | {"path": entry["path"][len(wanted) + 1 :]})
    return ArtifactRef(**content.keep_manifest(root, below)) if below else None


def collect(home: Home, live: set[str], *, older_than: float = 3600.0, dry_run: bool = False) -> tuple[int, int]:
    """Delete what none of the digests in `live` needs, and is older than `older_than` seconds; `dry_run` only counts.

    Gives the number of files deleted and their size in bytes. A file that a run is about to refer to
    is young, which is why the age matters.
    """
    root = str(home.artifacts)
    needed = set(live)
    for digest in live:
        path = Path(content.blob_path(root, digest))
        if path.exists() and _is_manifest(path):
            with contextlib.suppress(content.LostContentError):  # altered from outside: who needs it makes it anew
                needed.update(entry["digest"] for entry in content.manifest(root, digest) if "digest" in entry)
    count = size = 0
    before = time.time() - older_than
    for folder in Path(root).iterdir():
        for file in folder.iterdir():
            digest = folder.name + file.name
            try:
                facts = file.stat()
            except FileNotFoundError:
                continue  # what a step keeps is on its way to its place
            if digest not in needed and facts.st_mtime <= before and (dry_run or _drop(root, file, before)):
                size += facts.st_size
                count += 1
    return count, size


def _drop(root: str, file: Path, before: float) -> bool:
    digest = file.parent.name + file.name
    if file == Path(content.blob_path(root, digest)):
        return content.drop(root, digest, before)
    content.remove(str(file))  # left half made
    return True


def _is_manifest(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) in (b"[{", b"[]")
