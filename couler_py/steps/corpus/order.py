"""In which order samples come, for any number of readers: one place in one row says where everybody is.

The order depends on the seed alone, never on how many processes read, so that training goes on where it was with more
of them or fewer: what is kept is how many samples were consumed.
"""

from __future__ import annotations

import hashlib

import msgspec

ROUNDS = 6
_MASK = (1 << 64) - 1


class Order(msgspec.Struct, frozen=True):
    """An endless row of sample numbers: each epoch is all of them, shuffled anew."""

    samples: int
    seed: int = 0
    shuffled: bool = True

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ValueError(f"{self.samples} samples: there is nothing to train on")

    def __getitem__(self, place: int) -> int:
        """The sample at a place of the row."""
        epoch, within = divmod(place, self.samples)
        return shuffled_place(within, self.samples, self.seed, epoch) if self.shuffled else within

    def batch(self, consumed: int, count: int, reader: int = 0, readers: int = 1) -> list[int]:
        """What one of several readers gets of the next `count` samples: every `readers`-th.

        >>> order = Order(10, seed=1)
        >>> sorted(order.batch(0, 10)) == list(range(10))
        True
        >>> order.batch(4, 4, 0, 2)[0] == order.batch(4, 4)[0], order.batch(4, 4, 1, 2)[1] == order.batch(4, 4)[3]
        (True, True)
        """
        return [self[place] for place in range(consumed + reader, consumed + count, readers)]

    def epoch(self, consumed: int) -> float:
        """How many times all samples were consumed."""
        return consumed / self.samples


def shuffled_place(place: int, size: int, seed: int, epoch: int = 0) -> int:
    """Where a shuffle puts a place: a permutation of 0 … size-1, found without a table.

    A balanced Feistel network over the next power of four, walked until the result lies within the size (Black and
    Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002): less than four rounds on average.
    """
    half = max(1, ((size - 1).bit_length() + 1) // 2)
    mask = (1 << half) - 1
    keys = _keys(seed, epoch)
    while True:
        left, right = place >> half, place & mask
        for key in keys:
            left, right = right, left ^ (_mixed(right ^ key) & mask)
        place = left << half | right
        if place < size:
            return place


def _keys(seed: int, epoch: int) -> list[int]:
    digest = hashlib.blake2b(f"{seed}/{epoch}".encode(), digest_size=8 * ROUNDS).digest()
    return [int.from_bytes(digest[8 * n : 8 * n + 8], "big") for n in range(ROUNDS)]


def _mixed(x: int) -> int:
    # The finaliser of SplitMix64: Steele et al., "Fast splittable pseudorandom number generators", OOPSLA 2014.
    x = (x + 0x9E3779B97F4A7C15) & _MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)
