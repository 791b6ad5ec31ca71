"""Places in a document's data: the names and numbers that lead there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]


def dotted(path: Iterable[str | int]) -> str:
    """A place as a person writes it.

    >>> dotted(("spec", "templates", 0, "name"))
    'spec.templates[0].name'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
