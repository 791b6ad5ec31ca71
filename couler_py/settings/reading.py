"""A file of settings, read as data of somebody else: no pipe is waited for, and nothing endless is read."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path
from typing import Any

LARGEST = 1 << 20  # bytes of a file of settings


class UnreadableError(Exception):
    """Why a file of settings can't be read."""


def toml(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a TOML file and what it says.

    Raises `UnreadableError`, `OSError`, `UnicodeDecodeError`, and `tomllib.TOMLDecodeError` with the line.
    """
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise UnreadableError("it is no file")
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UnreadableError(f"it is longer than {LARGEST:,} bytes")
    text = data.decode("utf-8").replace("\r\n", "\n")
    try:
        return text, tomllib.loads(text)
    except RecursionError:
        raise UnreadableError("it is nested too deeply") from None
