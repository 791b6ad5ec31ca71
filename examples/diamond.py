"""Four steps in a diamond: the edges follow from the values."""

import couler_py as couler


@couler.step
def load(seed: int) -> list[int]:
    import random

    return random.Random(seed).sample(range(100), 10)


@couler.step
def smallest(numbers: list[int]) -> int:
    return min(numbers)


@couler.step
def largest(numbers: list[int]) -> int:
    return max(numbers)


@couler.step
def span(low: int, high: int) -> int:
    return high - low


@couler.workflow
def diamond(seed: int = 7):
    numbers = load(seed)
    return span(smallest(numbers), largest(numbers))
