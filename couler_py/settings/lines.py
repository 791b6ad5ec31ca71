"""Where in a TOML file a key stands. Python's reader of TOML doesn't say, and errors should."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from typing import Any, TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""A key by its tables, from the outermost; numbers are places in a list."""

_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*\]\]?\s*(?:#.*)?")
_ASSIGNED = re.compile(rf"\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*=")


def line_of(text: str, path: Path) -> int:
    """The line of a key, or of what is nearest around it; 1 where nothing is.

    >>> line_of("[resources]\\ncpu = 1\\nmemory = 2", ("resources", "memory"))
    3
    """
    best, found = 0, 1
    tables: Counter[Path] = Counter()
    header: Path = ()
    for number, line in enumerate(text.splitlines(), 1):
        if table := _HEADER.fullmatch(line):
            header = _keys(table[2])
            if table[1] == "[[":
                tables[header] += 1
                header = (*header, tables[header] - 1)
            key = header
        elif assigned := _ASSIGNED.match(line):
            key = (*header, *_keys(assigned[1]))
        else:
            continue
        common = _common(key, path)
        if common == len(key) and common > best:
            best, found = common, number
    return found


def _common(key: Path, path: Path) -> int:
    shorter = min(len(key), len(path))
    return next((at for at in range(shorter) if key[at] != path[at]), shorter)


def _keys(dotted: str) -> Path:
    try:
        inner: Any = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return (dotted,)
    keys = []
    while isinstance(inner, dict):
        [(key, inner)] = inner.items()
        keys.append(key)
    return tuple(keys)
