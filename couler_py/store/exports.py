"""A run as a folder that can be mailed: what is in it, and how one that comes from elsewhere is read.

A folder from elsewhere is data of a stranger. Nothing in it is executed or followed: only `run.json`, the workflow and
the samples as JSON, and the logs and files that `run.json` names are read, each a plain file in its place, no link on
the way, and none longer than a bound.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import stat
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec

from couler_py.ir.diagnostics import CoulerError
from couler_py.store.records import AttemptRecord, RunRecord
from couler_py.store.samples import Sample

FORMAT = "couler-run/1"
RECORD, WORKFLOW, SAMPLES, SOURCE, REPORT, LOGS, FILES = (
    "run.json",
    "workflow.json",
    "samples.json",
    "workflow.py",
    "report.html",
    "logs",
    "files",
)
ARCHIVES = (".tar.gz", ".tgz")

LARGEST_RECORD = 256 << 20  # bytes of run.json and of the workflow: 100,000 tasks take about 50 MB
LARGEST_ARCHIVE = 8 << 30  # bytes of all that an archive unpacks to
LARGEST_HEADER = 1 << 20  # bytes of what stands before a file of an archive, its name above all
MOST_MEMBERS = 500_000  # of an archive

_PLACE = re.compile(r"(logs|files)/[A-Za-z0-9][A-Za-z0-9._-]{0,120}(/[^/\0]{1,255})*")


class ExportError(CoulerError):
    """What is said to be an exported run is none, or holds what it must not; the message says what."""


class ExportedLog(msgspec.Struct, frozen=True):
    """The log of one attempt: its place in the folder."""

    task: str
    attempt: int
    place: str


class ExportedFile(msgspec.Struct, frozen=True):
    """An artifact: its name (`TASK/NAME`) and place in the folder; without a place, why it was left out."""

    name: str
    digest: str
    size: int
    place: str = ""
    left_out: str = ""


class Exported(msgspec.Struct, frozen=True):
    """What `run.json` holds. `attempts` are those of all tasks, with the inner path of the task."""

    format: str
    couler: str
    run: RunRecord
    attempts: list[tuple[str, AttemptRecord]] = []
    events: list[dict[str, Any]] = []
    metrics: dict[str, dict[str, tuple[tuple[float, float], ...]]] = {}
    logs: list[ExportedLog] = []
    files: list[ExportedFile] = []


def is_archive(path: str | os.PathLike[str]) -> bool:
    """Whether a name is that of an archive."""
    return os.fspath(path).endswith(ARCHIVES)


def pack(folder: Path, target: Path) -> None:
    """Write a folder as an archive, in one move; the same folder always gives the same entries."""
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=".couler-export-")
    os.close(handle)
    name = next(target.name.removesuffix(suffix) for suffix in ARCHIVES if target.name.endswith(suffix))
    try:
        with tarfile.open(temporary, "w:gz") as tar:
            tar.add(folder, arcname=name, filter=_anonymous)
        Path(temporary).chmod(0o600)
        Path(temporary).rename(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Path]:
    """The folder of an exported run: of an archive, unpacked for as long as this is open. Raises `ExportError`."""
    if not is_archive(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="couler-run-") as scratch:
        try:
            _unpack(path, Path(scratch))
        except (tarfile.TarError, OSError, EOFError) as error:
            raise ExportError(f"{path} can't be unpacked: {error}") from error
        inside = list(Path(scratch).iterdir())
        yield inside[0] if len(inside) == 1 and inside[0].is_dir() else Path(scratch)


def _unpack(path: Path, target: Path) -> None:
    size = 0
    with _Bounded(path, "rb") as packed, tarfile.open(fileobj=packed, mode="r:") as tar:
        for number, member in enumerate(tar):
            size += max(member.size, 0)
            if number >= MOST_MEMBERS or size > LARGEST_ARCHIVE:
                raise ExportError(f"{path} unpacks to more than {MOST_MEMBERS:,} files or {LARGEST_ARCHIVE >> 30} GiB")
            if not (member.isfile() or member.isdir()):
                raise ExportError(f"{path} holds {member.name!r}, which is neither a file nor a folder")
            tar.extract(member, target, filter="data")


class _Bounded(gzip.GzipFile):
    """What an archive is unpacked from: no more of it than may be, and never much at once.

    The headers between the files are read whole, and one of them may say that it is as long as it likes.
    """

    def read(self, size: int | None = -1) -> bytes:
        size = LARGEST_HEADER + 1 if size is None or size < 0 else size
        if size > LARGEST_HEADER:
            raise ExportError(f"{self.name} holds a header of {size:,} bytes")
        self._check(self.tell() + size)
        return super().read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._check(offset)
        return super().seek(offset, whence)

    def _check(self, place: int) -> None:
        if place > LARGEST_ARCHIVE + MOST_MEMBERS * tarfile.RECORDSIZE:
            raise ExportError(f"{self.name} unpacks to more than {LARGEST_ARCHIVE >> 30} GiB")


def read(folder: Path) -> Exported:
    """What the `run.json` of a folder says. Raises `ExportError`."""
    data = content(folder, RECORD, LARGEST_RECORD)
    try:
        found = msgspec.json.decode(data, type=Exported)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ExportError(f"{folder / RECORD} is no record of a run: {error}") from error
    if found.format != FORMAT:
        raise ExportError(f"{folder / RECORD} has the format {found.format!r}; this version reads {FORMAT!r}")
    for name in [log.place for log in found.logs] + [file.place for file in found.files if file.place]:
        place(folder, name)
    return found


_Samples: TypeAlias = dict[
    str,
    list[
        tuple[
            Annotated[float, msgspec.Meta(ge=0, le=1e11)],
            Annotated[float, msgspec.Meta(ge=0, le=1e11)],
            Annotated[int, msgspec.Meta(ge=0, le=1 << 62)],
        ]
    ],
]
"""Samples by folder, within bounds that can be drawn."""


def samples(folder: Path) -> dict[str, list[Sample]]:
    """What the attempts used while they ran, by their folders; nothing where that wasn't exported.

    Raises `ExportError`.
    """
    if not os.path.lexists(folder / SAMPLES):
        return {}
    try:
        found = msgspec.json.decode(content(folder, SAMPLES, LARGEST_RECORD), type=_Samples)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ExportError(f"{folder / SAMPLES} holds no samples: {error}") from error
    return {attempt: [Sample(*each) for each in looks] for attempt, looks in found.items()}


def place(folder: Path, name: str) -> Path:
    """Where a log or file lies that `run.json` names. Raises `ExportError` for what isn't inside the folder."""
    parts = name.split("/")
    if not _PLACE.fullmatch(name) or any(part in (".", "..") for part in parts):
        raise ExportError(f"{folder / RECORD} names {name!r}, which is no place in the folder of a run")
    return folder.joinpath(*parts)


def content(folder: Path, name: str, most: int) -> bytes:
    """The bytes of a file of the folder. Raises `ExportError` where it isn't there, is no plain file or too long."""
    with reading(folder, name) as handle:
        size = os.fstat(handle).st_size
        if size > most:
            raise ExportError(f"{folder / name} is {size:,} bytes long, and {most:,} are read at most")
        with os.fdopen(os.dup(handle), "rb") as file:
            return file.read(most)


@contextlib.contextmanager
def reading(folder: Path, name: str) -> Iterator[int]:
    """A descriptor of a file of the folder, no part of whose path is a link. Raises `ExportError`."""
    held: list[int] = []
    try:
        held.append(os.open(folder, os.O_RDONLY | os.O_DIRECTORY))
        *above, last = name.split("/")
        for part in above:
            held.append(os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=held[-1]))
        # A pipe would be waited for.
        held.append(os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=held[-1]))
        if not stat.S_ISREG(os.fstat(held[-1]).st_mode):
            raise ExportError(f"{folder / name} is no plain file")
        yield held[-1]
    except OSError as error:
        raise ExportError(f"{folder / name} can't be read: {error.strerror or error}") from error
    finally:
        for handle in held:
            os.close(handle)
