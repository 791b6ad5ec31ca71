"""Mixes of pipelines for a corpus's lengths: the program finds what trying all of them finds."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence

import pytest

from couler_py.steps.hybrid.proposing import propose_strategies
from couler_py.steps.hybrid.schemes import POOL32, Scheme

SCHEMES = (
    Scheme(4, 1, 1e-4, 0.02, 1.0, 600),
    Scheme(2, 1, 2e-4, 0.05, 2.0, 400),
    Scheme(1, 2, 2e-4, 0.05, 1.5, 300),
    Scheme(1, 1, 4e-4, 0.12, 3.0, 100),
)


def everything(lengths: Sequence[int], counts: Sequence[int], schemes: Sequence[Scheme], ranks: int) -> float:
    """The least time over all multisets of pipelines and all intervals of lengths, one interval a scheme's copies."""

    def cost(scheme: Scheme, first: int, end: int) -> float:
        own = [scheme.cost(length) for length in lengths[first:end]]
        if lengths[end - 1] > scheme.longest:
            return math.inf
        total = sum(count * (one + scheme.fixed) for count, one in zip(counts[first:end], own, strict=True))
        return total + (scheme.stages - 1) * own[-1]

    def ways(first: int, left: int) -> Iterator[float]:
        if first == len(lengths):
            yield 0.0
        for end, scheme in itertools.product(range(first + 1, len(lengths) + 1), schemes):
            for copies in range(1, left // scheme.ranks + 1):
                one = cost(scheme, first, end) / copies
                if math.isfinite(one):
                    yield from (max(one, rest) for rest in ways(end, left - copies * scheme.ranks))

    return min(ways(0, ranks), default=math.inf)


@pytest.mark.parametrize("seed", range(20))
def test_the_program_finds_the_best_of_all_mixes_and_intervals(seed: int) -> None:
    drawn = random.Random(seed)
    lengths = sorted(drawn.sample(range(10, 600, 10), drawn.randint(1, 5)))
    counts = [drawn.randint(1, 30) for _ in lengths]
    ranks = drawn.randint(4, 7)
    found = propose_strategies(dict(zip(lengths, counts, strict=True)), SCHEMES, ranks, grain=10)
    assert found.value == pytest.approx(everything(lengths, counts, SCHEMES, ranks), rel=1e-9)
    assert found.strategies[0].longest >= lengths[-1]
    assert all(each.ranks <= ranks for each in found.strategies)


def test_a_pool_for_published_constants_mixes_schemes_and_holds_the_longest() -> None:
    schemes = [each for each in POOL32 if each.tensor > 2]
    found = propose_strategies({512: 900, 2048: 300, 8192: 30, 30000: 2}, schemes, 64, grain=1024)
    assert found.strategies[0].longest >= 30000
    assert len(set(found.strategies[0].pipelines)) > 1
    assert str(found.strategies[-1]) == "4×(4,4)"


def test_lengths_rounded_up_still_fit_the_scheme_that_holds_them() -> None:
    found = propose_strategies({599: 1}, SCHEMES, 4, grain=512)
    assert str(found.strategies[0]) == "1×(4,1)"


@pytest.mark.parametrize(
    ("histogram", "ranks", "grain", "why"),
    [
        ({}, 4, 128, "no lengths"),
        ({10: 0}, 4, 128, "no lengths"),
        ({0: 3}, 4, 128, "3 sequences of 0 tokens"),
        ({500: 1}, 3, 100, "no pipeline of at most 3 ranks holds a sequence of 500 tokens"),
        ({10: 1}, 4, 0, "a grain of 0 tokens"),
    ],
)
def test_what_cannot_be_planned_is_refused(histogram: dict[int, int], ranks: int, grain: int, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        propose_strategies(histogram, SCHEMES, ranks, grain=grain)
