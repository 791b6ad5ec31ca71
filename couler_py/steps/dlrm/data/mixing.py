"""Numbers that look random and depend on their place alone, so that any part of a row of them can be made by itself."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

Words = np.ndarray[Any, np.dtype[Any]]
"""Numbers of 64 bits: uint64."""
Numbers = np.ndarray[Any, np.dtype[Any]]
"""float64."""

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def key(*parts: object) -> np.uint64:
    """A key for a row of numbers, from a seed and names."""
    digest = hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "big"))


def mixed(x: Words) -> Words:
    """The finaliser of SplitMix64 (Steele et al., "Fast splittable pseudorandom number generators", OOPSLA 2014)."""
    x = x + GOLDEN
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def drawn(places: Words, of: np.uint64) -> Words:
    """64 bits for each place in the row of a key."""
    return mixed(places * GOLDEN + of)


def uniform(words: Words) -> Numbers:
    """Numbers in [0, 1) from the 53 high bits."""
    return (words >> np.uint64(11)) * (1.0 / (1 << 53))


def bell(words: Words) -> Numbers:
    """Numbers of mean 0 and deviation 1, nearly normal: four uniform ones of 16 bits added (Irwin-Hall).

    Only integers are added, so that every machine gets the same.
    """
    low = np.uint64(0x0000FFFF0000FFFF)
    pairs = (words & low) + ((words >> np.uint64(16)) & low)
    total = (pairs & np.uint64(0xFFFFFFFF)) + (pairs >> np.uint64(32))
    return (total - 131070.0) * (3.0**0.5 / 65536.0)


def permuted(first: int, count: int, *seed: object) -> Words:
    """A permutation of 0 … count-1 that a seed and the place of the rows give.

    No two places draw the same number (`mixed` is one to one), so any way of sorting gives the same.
    """
    places = np.arange(first, first + count, dtype=np.uint64)
    return np.argsort(drawn(places, key(*seed)))
