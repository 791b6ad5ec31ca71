"""`couler.lock` beside a source file: exact versions of packages, and images that hold them.

    {
      "format": "couler-lock/1",
      "sets": {
        "python 3.11: scikit-learn>=1.4": {"python": "3.11", "pins": ["joblib==1.4.2", "numpy==2.1.0", …]}
      },
      "images": {
        "3f1c…": "registry.example.com/train@sha256:…"
      }
    }

`couler lock FILE` writes the sets, `couler image push` the images. A set is known by its requirements
(and the version of Python, where the image's name tells it), an image by what is in it (see
`couler_py.dsl.images`), so that neither is used for anything else.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import msgspec

from couler_py.dsl.project import folder_of
from couler_py.ir.diagnostics import CoulerError

FORMAT = "couler-lock/1"
LOCK_FILE = "couler.lock"


class LockError(CoulerError):
    """Requirements can't be resolved, or the lock file can't be read."""


class PinnedSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The versions that a set of requirements resolves to, for one version of Python."""

    python: str
    pins: tuple[str, ...]


class Lock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `couler.lock`: pins by the requirements they satisfy, images by the key of their recipe."""

    format: str = FORMAT
    sets: dict[str, PinnedSet] = {}
    images: dict[str, str] = {}


_ignored: ContextVar[frozenset[str]] = ContextVar("couler_lock_ignored", default=frozenset())


@contextmanager
def ignoring(*parts: str) -> Iterator[None]:
    """Build without the "sets" or "images" of lock files: for who writes them."""
    token = _ignored.set(_ignored.get() | set(parts))
    try:
        yield
    finally:
        _ignored.reset(token)


def lock_of(filename: str) -> Lock | None:
    """The lock beside a source file, without the parts that are ignored; None where there is none."""
    path = folder_of(filename) / LOCK_FILE
    try:
        stamp = path.stat().st_mtime_ns
    except OSError:
        return None
    found = _read(path, stamp)
    ignored = _ignored.get()
    if "sets" in ignored and "images" in ignored:
        return None
    return msgspec.structs.replace(found, images={}) if "images" in ignored else found


def ignores_sets() -> bool:
    """Whether requirements are built as they are written."""
    return "sets" in _ignored.get()


def read_lock(path: Path) -> Lock:
    """The content of a lock file. Raises `LockError`."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Lock)
    except (msgspec.DecodeError, msgspec.ValidationError) as problem:
        raise LockError(f"{path} can't be read: {problem}; run `couler lock` again") from problem
    if found.format != FORMAT:
        raise LockError(f"{path} has the format {found.format!r}; this version reads {FORMAT!r}")
    return found


def write_lock(path: Path, lock: Lock) -> None:
    """Write a lock file: the same content always gives the same text."""
    content = msgspec.to_builtins(lock)
    for part in ("sets", "images"):
        content[part] = dict(sorted(content[part].items()))
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


@functools.lru_cache(maxsize=64)
def _read(path: Path, stamp: int) -> Lock:
    return read_lock(path)
