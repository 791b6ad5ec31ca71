"""Count words: fan out over a list that a step returns, and gather the results."""

import couler_py as couler

TEXT = """the quick brown fox jumps over the lazy dog
the dog sleeps
the fox runs away"""


@couler.step
def split(text: str) -> list[str]:
    return text.splitlines()


@couler.step
def count(line: str) -> dict[str, int]:
    from collections import Counter

    return dict(Counter(line.split()))


@couler.step
def merge(counts: list[dict[str, int]]) -> dict[str, int]:
    from collections import Counter

    total: Counter[str] = Counter()
    for part in counts:
        total.update(part)
    return dict(total.most_common(3))


@couler.workflow
def map_reduce(text: str = TEXT):
    counts = couler.map(count, split(text), parallel=4)
    return merge(counts)
