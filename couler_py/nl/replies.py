"""Replies of models kept by the hash of what was asked, so that the same question costs once."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any


class Replies:
    """A folder of replies. Without a folder nothing is kept."""

    def __init__(self, folder: Path | None = None):
        self._folder = folder

    def find(self, key: str) -> str | None:
        """The reply to a question, where it is kept and readable."""
        if self._folder is None:
            return None
        try:
            return (self._folder / f"{key}.txt").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def keep(self, key: str, text: str) -> None:
        """Keep a reply that could be read. Two processes may keep the same at once."""
        if self._folder is None:
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._folder)
        try:
            with open(handle, "w", encoding="utf-8", errors="replace") as file:
                file.write(text)
            os.replace(name, self._folder / f"{key}.txt")  # noqa: PTH105 - of a name that mkstemp gave
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                Path(name).unlink()
            raise


def key_of(**asked: Any) -> str:
    """The hash of a question: model, place, messages, schema, all that the reply depends on.

    >>> key_of(model="m", prompt="x") == key_of(prompt="x", model="m")
    True
    """
    text = json.dumps(asked, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
