"""Sizes as people write them in settings."""

from __future__ import annotations

import re

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kKMGTPE]?)(i?)B?")
_POWERS = " KMGTPE"


def size_of(text: str) -> int:
    """A size in bytes, from Kubernetes' words ("100M", "20Gi") or everyday ones ("100 MB", "20GiB").

    Raises `ValueError` for text that is none.

    >>> size_of("100M"), size_of("2 GiB"), size_of("512")
    (100000000, 2147483648, 512)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None or (found[3] and not found[2]):
        raise ValueError(f"{text!r} is not a size, such as '512', '100M' or '20GiB'")
    unit = (1024 if found[3] else 1000) ** max(_POWERS.index(found[2].upper() or " "), 0)
    return int(float(found[1]) * unit)
