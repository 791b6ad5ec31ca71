"""How the tasks behind a box of a run's picture stand: counted by state, and summed up in one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import msgspec

from couler_py.report.facts import URGENT

_NUMBERS = re.compile(r"\[\d+\]|#\d+")


class Tally(msgspec.Struct, frozen=True):
    """The state that colours a box, and how many of the tasks behind it are in each."""

    state: str
    counts: tuple[tuple[str, int], ...] = ()


def tally(tasks: Iterable[tuple[str, str]]) -> dict[str, Tally]:
    """The states of a run's tasks (path and state) by the path that each has in the workflow.

    There, the items of a fan-out and the iterations of a loop are one.

    >>> found = tally([("map", "Failed"), ("map[0]", "Succeeded"), ("map[1]", "Failed")])
    >>> found["map"]
    Tally(state='Failed', counts=(('Failed', 1), ('Succeeded', 1)))
    """
    own: dict[str, str] = {}
    counted: dict[str, Counter[str]] = {}
    for path, state in tasks:
        place = _NUMBERS.sub("", path)
        if place == path:
            own[place] = state
        else:
            counted.setdefault(place, Counter())[state] += 1
    found = {}
    for place in own | counted:
        counts = counted.get(place, Counter())
        state = own.get(place) or worst(counts)
        found[place] = Tally(state, _ordered(counts or Counter({state: 1})))
    return found


def worst(states: Iterable[str]) -> str:
    """The state, of several, that whoever looks at a run asks about first; none of none."""
    given = set(states)
    return next((state for state in URGENT if state in given), "")


def added(tallies: Iterable[tuple[tuple[str, int], ...]]) -> tuple[tuple[str, int], ...]:
    """Several tallies as one."""
    total: Counter[str] = Counter()
    for counts in tallies:
        total.update(dict(counts))
    return _ordered(total)


def words(counts: tuple[tuple[str, int], ...]) -> str:
    """A tally in words; nothing for that of one task.

    >>> words((("Failed", 1), ("Succeeded", 1200)))
    '1 failed, 1,200 succeeded'
    """
    if sum(count for _, count in counts) < 2:
        return ""
    return ", ".join(f"{count:,} {state.lower()}" for state, count in counts)


def _ordered(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple((state, counts[state]) for state in URGENT if counts.get(state))
