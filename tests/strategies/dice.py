"""What the generator asks for its choices: hypothesis, which shrinks them, or a seeded source."""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Dice(Protocol):
    """Choices. The simplest outcome comes first, so that a failing example shrinks to it."""

    def number(self, least: int, most: int) -> int:
        """An integer, both bounds included."""

    def double(self) -> float:
        """Any float but NaN."""

    def text(self) -> str:
        """Any short Unicode text."""


class Drawn:
    """Choices that hypothesis draws."""

    def __init__(self, draw: st.DrawFn):
        self._draw = draw

    def number(self, least: int, most: int) -> int:
        return self._draw(_numbers(least, most))

    def double(self) -> float:
        return self._draw(_DOUBLES)

    def text(self) -> str:
        return self._draw(_TEXTS)


class Seeded:
    """Choices from a source of random numbers."""

    def __init__(self, source: random.Random):
        self._source = source

    def number(self, least: int, most: int) -> int:
        return self._source.randint(least, most)

    def double(self) -> float:
        return self._source.choice((0.0, -1.5, 1e-300, 1e300, self._source.uniform(-1e6, 1e6)))

    def text(self) -> str:
        return "".join(map(chr, self._source.choices((*range(128), 0xE9, 0x4E2D, 0x1F600, 0x2028, 0xFEFF), k=6)))


def pick(dice: Dice, options: Sequence[T]) -> T:
    """One of the options, the first being the simplest."""
    return options[0] if len(options) == 1 else options[dice.number(0, len(options) - 1)]


def chance(dice: Dice, percent: int) -> bool:
    """True in about so many of a hundred."""
    return dice.number(0, 99) >= 100 - percent


def some(dice: Dice, options: Sequence[T], most: int) -> list[T]:
    """Some of the options, each at most once, in their order."""
    wanted = dice.number(0, min(most, len(options)))
    left = list(range(len(options)))
    chosen = [left.pop(dice.number(0, len(left) - 1)) for _ in range(wanted)]
    return [options[i] for i in sorted(chosen)]


@functools.cache
def _numbers(least: int, most: int) -> st.SearchStrategy[int]:
    return st.integers(least, most)


_DOUBLES: st.SearchStrategy[float] = st.floats(allow_nan=False, allow_infinity=False)
_TEXTS: st.SearchStrategy[Any] = st.text(max_size=12)
