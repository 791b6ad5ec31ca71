"""Rows of groups, of which each will be a pipeline: where a search begins, and one group moved or swapped."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

Group = tuple[float, int, tuple[int, ...]]
"""The time of a layer, how many ranks, and which."""


def starts(groups: Sequence[Group], pipelines: int) -> Iterator[list[list[Group]]]:
    """Ways to begin: equal speed for all, what is slow together, and what is slow dealt out."""
    fast_first = sorted(groups, key=lambda group: (group[0], group[2]))
    dealt: list[list[Group]] = [[] for _ in range(pipelines)]
    for group in fast_first:
        min(dealt, key=lambda row: (math.fsum(1 / each[0] for each in row), dealt.index(row))).append(group)
    yield dealt
    size, more = divmod(len(groups), pipelines)
    at, together = 0, []
    for number in range(pipelines):
        end = at + size + (number < more)
        together.append(list(reversed(fast_first))[at:end])
        at = end
    yield together
    yield [list(fast_first[number::pipelines]) for number in range(pipelines)]


def ordered(row: list[Group]) -> list[Group]:
    """What is slow comes first: the first stages have the least room for layers."""
    return sorted(row, key=lambda group: (-group[0], group[1], group[2]))


def kinds(row: list[Group]) -> list[Group]:
    """One group of each kind: groups as fast and as large are the same."""
    return list({group[:2]: group for group in reversed(row)}.values())


def kinds_of_rows(rows: list[list[Group]], besides: int) -> list[int]:
    """One row of each kind: rows with the same groups are the same."""
    found: dict[tuple[tuple[float, int], ...], int] = {}
    for number, row in enumerate(rows):
        if number != besides:
            found.setdefault(tuple(sorted(group[:2] for group in row)), number)
    return list(found.values())


def changed(rows: list[list[Group]], source: int, target: int, group: Group, back: Group | None) -> list[list[Group]]:
    """The rows with a group moved from one to another, and `back` moved the other way."""
    made = list(rows)
    made[source] = [each for each in rows[source] if each is not group] + ([back] if back is not None else [])
    made[target] = [each for each in rows[target] if each is not back] + [group]
    return made
