"""The names of tasks as paths: what is around a task, and which of several tasks are inside others of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def outside(name: str) -> Iterator[str]:
    """The names of what is around a task, the outermost first.

    >>> list(outside("prepare/map[3]/train"))
    ['prepare', 'prepare/map', 'prepare/map[3]']
    """
    for place, char in enumerate(name):
        if char in "/[#" and place:
            yield name[:place]


def innermost(names: Iterable[str]) -> list[str]:
    """The names that are around none of the others: of tasks that failed, those where it happened.

    >>> innermost(["map", "map[1]", "map[1]/train", "check"])
    ['map[1]/train', 'check']
    """
    given = list(names)
    around = {outer for name in given for outer in outside(name)}
    return [name for name in given if name not in around]
