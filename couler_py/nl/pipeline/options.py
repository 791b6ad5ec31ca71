"""What a draft by a model may be told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from couler_py.nl.calls import Limits
from couler_py.nl.privacy import Sending


def _silent(text: str) -> None:
    pass


def _agreed(sending: Sending) -> bool:
    return True


class Options(msgspec.Struct, frozen=True):
    """`show` hears what is about to be sent before the first call, and may say no; `said` hears how it goes.

    A plan, and the details of its steps, are asked for up to `tries` times until they are valid. The model scores what
    came out; below `baseline` it starts again with what it found wrong, `rounds` in all. `dry_run` runs each candidate
    with stubs. `lake` are folders, else those of `couler_py.nl.lake.folders`; entries are sent with their source only
    with `share_source`. `embeddings`, of langchain-core, help to find them. `cache` keeps replies by what was asked.
    `prices` are a file, or dollars for a million tokens in and out by name. `temperature` is that of first tries.
    """

    show: Callable[[Sending], bool] = _agreed
    said: Callable[[str], None] = _silent
    limits: Limits = Limits()
    tries: int = 3
    rounds: int = 3
    baseline: float = 0.7
    score: bool = True
    dry_run: bool = True
    lake: Sequence[Path] | None = None
    share_source: bool = False
    embeddings: Any = None
    cache: bool = True
    prices: str | Path | Mapping[str, tuple[float, float]] | None = None
    temperature: float = 0.0


def options_of(given: Mapping[str, Any]) -> Options:
    """Options by name. Raises `TypeError` for one that there isn't, `ValueError` for a number out of bounds."""
    unknown = sorted(set(given) - set(Options.__struct_fields__))
    if unknown:
        raise TypeError(f"ask takes no {unknown[0]!r}; there are {', '.join(Options.__struct_fields__)}")
    found = Options(**given)
    if found.tries < 1 or found.rounds < 1 or not 0 <= found.baseline <= 1:
        raise ValueError("tries and rounds are at least 1, and the baseline is from 0 to 1")
    return found
