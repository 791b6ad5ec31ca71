"""Entries of the code lake, and the folders that they lie in: a JSON file an entry, made to be shared.

The lake of a folder is `.couler/lake` (below `$COULER_HOME`); `$COULER_LAKE` names further folders, as a team's in a
repository, in the way of PATH. What this package ships is always there. Reading a lake runs nothing.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from couler_py.ir.diagnostics import CoulerError
from couler_py.nl.privacy import clean
from couler_py.store.home import open_home

LARGEST = 1_000_000  # bytes of an entry's file
SHIPPED = "couler"
"""The lake of what comes with this package."""


class LakeError(CoulerError):
    """A lake that can't be read or written, or a file that holds no steps."""


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A step or a workflow that somebody wrote.

    `signature` is its first line as Python, `summary` what its docstring says first. `pieces` are its source, with what
    it needs of its module, in order; they are there only where its author shares them. `calls` are the steps of a
    workflow, in order. `origin` is the file it was read from, by name.
    """

    name: Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
    kind: Literal["step", "workflow"]
    signature: Annotated[str, Meta(max_length=1000)]
    summary: Annotated[str, Meta(max_length=500)] = ""
    origin: Annotated[str, Meta(max_length=200)] = ""
    calls: Annotated[tuple[str, ...], Meta(max_length=100)] = ()
    packages: Annotated[tuple[str, ...], Meta(max_length=50)] = ()
    pieces: Annotated[tuple[str, ...], Meta(max_length=200)] = ()

    @property
    def key(self) -> str:
        """What it is called among all: `file.name`."""
        return f"{Path(self.origin).stem}.{self.name}" if self.origin else self.name

    def line(self) -> str:
        """It as a model sees it: signature and summary, without source and without what looks like a secret."""
        said = f"{self.signature}: {self.summary}" if self.summary else self.signature
        if self.calls:
            said += f" (steps: {', '.join(self.calls[:12])})"
        return clean(said).text


class Found(msgspec.Struct, frozen=True):
    """An entry, and the lake that it is of: "couler" for what is shipped, else a folder."""

    entry: Entry
    lake: str

    @property
    def own(self) -> bool:
        """Whether it is the user's or their team's."""
        return self.lake != SHIPPED


def keep(entries: Sequence[Entry], folder: Path | None = None) -> Path:
    """Write entries into a lake, in the place of those of the same name. Gives its folder."""
    if folder is None:
        folder = open_home().path / "lake"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for entry in entries:
            _write(folder / f"{_stem(entry.key)}.json", msgspec.json.format(msgspec.json.encode(entry), indent=2))
    except OSError as error:
        raise LakeError(f"{folder}: {error.strerror or error}") from error
    return folder


def _stem(key: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", key).lstrip(".")


def _write(file: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=file.parent)
    try:
        with open(handle, "wb") as out:
            out.write(data + b"\n")
        Path(name).chmod(0o644)
        Path(name).replace(file)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
        raise
