"""The project around a folder, and the files of settings that count there."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

MARKS = ("couler.toml", "pyproject.toml", ".git")


def root_of(folder: Path) -> Path | None:
    """The nearest folder upwards with a couler.toml, a pyproject.toml or a .git; None where there is none.

    A folder further up where everybody may write (as /tmp) is nobody's project: what lies there may be a stranger's.
    """
    for candidate in (folder, *folder.parents):
        if candidate != folder and _everybodys(candidate):
            continue
        if any((candidate / mark).exists() for mark in MARKS):
            return candidate
    return None


def _everybodys(folder: Path) -> bool:
    try:
        return bool(folder.stat().st_mode & stat.S_IWOTH)
    except OSError:
        return True


def user_file(environ: Mapping[str, str]) -> Path:
    """The user's own file of settings, whether it is there or not."""
    configured = environ.get("XDG_CONFIG_HOME", "")
    base = Path(configured) if os.path.isabs(configured) else Path("~/.config").expanduser()  # noqa: PTH117 - a text
    return base / "couler" / "couler.toml"
