"""The user's project around a file: its root, and the settings that hold there."""

from __future__ import annotations

from pathlib import Path

from couler_py.dsl.sources import shown
from couler_py.settings import Settings, load


def folder_of(filename: str) -> Path:
    """The folder of a source file; the working folder for a notebook cell."""
    return Path.cwd() if shown(filename).startswith("<") else Path(filename).resolve().parent


def project_of(filename: str) -> tuple[Path, Settings]:
    """The project root around a source file (else its folder) and its settings. Raises `SettingsError`."""
    folder = folder_of(filename)
    settings = load(folder)
    return Path(settings.root or folder), settings
