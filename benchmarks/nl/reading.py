"""Which tasks play which roles: by the words in their names, and of the possible readings the one that fits best."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from benchmarks.nl.descriptions import Description
from benchmarks.nl.units import Unit

Group: TypeAlias = tuple[int, ...]  # places of units
Reading: TypeAlias = Mapping[str, Group]  # a role that nobody plays has no place

READINGS = 1500  # that are tried one by one
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_]+")


def words(text: str) -> list[str]:
    """The words of a name, in small letters.

    >>> words("train_test-split2 evalModel")
    ['train', 'test', 'split', '2', 'eval', 'model']
    """
    return [word.lower() for word in _WORD.findall(text)]


def stands(word: str, among: list[str]) -> bool:
    """Whether a word, or one that begins with it, is among others. Two letters have to be the whole word."""
    if not word.isascii():
        return any(word in other for other in among)
    return any(other == word if len(word) < 3 else other.startswith(word) for other in among)


def same(expected: Any, value: Any) -> bool:
    """Whether a value is the expected one: an equal number, or a text that has it in it, however it is written."""
    if isinstance(expected, bool) or isinstance(value, bool):
        return expected is value
    if isinstance(expected, int | float):
        number = _number(value)
        return number is not None and abs(number - expected) <= 1e-9 * max(1.0, abs(expected))
    wanted, text = _plain(expected), _plain(str(value))
    return wanted == text or (len(wanted) > 3 and wanted in text) or wanted in words(str(value))


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def roles_of(description: Description, found: list[Unit]) -> dict[str, list[Group]]:
    """For each role the tasks that may play it, the likeliest first: one, or several for what was written out."""
    possible = {}
    items = {each.role: each.items for each in description.facts.each if each.items}
    for role, names in description.roles.items():
        matching = _matching(names, found)
        groups: list[Group] = [(place,) for place in matching]
        written_out = _one_for_each(items.get(role, ()), matching, found)
        if written_out:
            groups.insert(0, written_out)
        if len(matching) > 1 and tuple(matching) not in groups:
            groups.append(tuple(sorted(matching)))
        possible[role] = groups
    return possible


def _matching(names: tuple[str, ...], found: list[Unit]) -> list[int]:
    """The places of the units that one of the names fits, best first; by their descriptions only if by nothing else."""
    ours = [place for place, unit in enumerate(found) if unit.moment != "failure"]
    named = [(_fit(names, words(found[place].names), found[place]), place) for place in ours]
    if not any(fit for fit, _ in named):
        named = [(_fit(names, words(found[place].about), found[place]), place) for place in ours]
    return [place for fit, place in sorted(named, key=lambda one: (-one[0], one[1])) if fit]


def _fit(names: tuple[str, ...], among: list[str], unit: Unit) -> int:
    """How well the best of the names fits: 0 is not at all, more where it is the first word, or the only one."""
    best = 0
    for name in names:
        first, *rest = words(name) or [name]
        if stands(first, among):
            around = [*among, *(word for value in unit.values for word in words(str(value)))]
            if all(stands(word, around) for word in rest):
                best = max(best, 1 + stands(first, among[:1]) + len(rest) + (len(set(among)) == 1))
    return best


def _one_for_each(items: tuple[tuple[Any, ...], ...], matching: list[int], found: list[Unit]) -> Group:
    """A task of its own for each item, where there are such."""
    taken: list[int] = []
    for alternatives in items:
        place = next((p for p in matching if p not in taken and _speaks_of(alternatives, found[p])), None)
        if place is None:
            return ()
        taken.append(place)
    return tuple(taken)


def _speaks_of(alternatives: tuple[Any, ...], unit: Unit) -> bool:
    for one in alternatives:
        if any(same(one, value) for value in unit.values):
            return True
        # in a name of its own: "test-3-11" is about 3.11, "train-us" about us
        wanted = words(str(one))
        name = words(unit.names)
        if wanted and any(name[at : at + len(wanted)] == wanted for at in range(len(name))):
            return True
        if isinstance(one, str) and len(_plain(one)) > 2 and _plain(one) in _plain(unit.names):
            return True
    return False


def best_reading(possible: Mapping[str, list[Group]], held: Callable[[Reading], int], most: int) -> Reading:
    """The reading under which most facts hold, the first of several. `most` is how many there are."""
    best: Reading = {}
    score = -1
    for tried, reading in enumerate(_readings(possible)):
        count = held(reading)
        if count > score:
            best, score = reading, count
        if score == most or tried >= READINGS:
            break
    return _improved(best, score, possible, held)


def _readings(possible: Mapping[str, list[Group]]) -> Iterator[Reading]:
    """All readings in which no task plays two roles, roles with the fewest choices decided first."""
    order = sorted(possible, key=lambda role: len(possible[role]))

    def decide(at: int, reading: dict[str, Group], taken: frozenset[int]) -> Iterator[Reading]:
        if at == len(order):
            yield dict(reading)
            return
        role = order[at]
        free = [group for group in possible[role] if taken.isdisjoint(group)]
        for group in free:
            yield from decide(at + 1, {**reading, role: group}, taken | set(group))
        if not free:
            yield from decide(at + 1, reading, taken)

    yield from decide(0, {}, frozenset())


def _improved(
    best: Reading, score: int, possible: Mapping[str, list[Group]], held: Callable[[Reading], int]
) -> Reading:
    """A reading made better role by role, for where there are too many to try all."""
    better = True
    while better:
        better = False
        for role, groups in possible.items():
            for group in groups:
                # whoever played with one of these tasks gives its role up to find another, or none
                kept = {name: of for name, of in best.items() if name != role and set(of).isdisjoint(group)}
                reading: dict[str, Group] = {**kept, role: group}
                for name in best.keys() - reading.keys():
                    taken = {place for of in reading.values() for place in of}
                    free = next((one for one in possible[name] if taken.isdisjoint(one)), None)
                    if free is not None:
                        reading[name] = free
                count = held(reading)
                if count > score:
                    best, score, better = reading, count, True
    return best
