"""The stores that a home has put something into: what it may have to tidy up there when no run names them any more."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from couler_py.store.home import Home
from couler_py.store.remote.location import Location, parse


def note(home: Home, location: Location) -> None:
    """Remember a store."""
    text = str(location)
    file = _folder(home) / hashlib.sha256(text.encode()).hexdigest()[:32]
    if not file.exists():
        file.parent.mkdir(mode=0o700, exist_ok=True)
        written = file.with_suffix(f".{os.getpid()}")
        written.write_text(text)
        written.rename(file)


def noted(home: Home) -> list[Location]:
    """The stores that are remembered, by their addresses."""
    if not _folder(home).exists():
        return []
    files = [file for file in _folder(home).iterdir() if not file.suffix]
    return sorted((parse(file.read_text()) for file in files), key=str)


def _folder(home: Home) -> Path:
    return home.path / "stores"
