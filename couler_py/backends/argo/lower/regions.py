"""How a graph is put together: parts side by side and parts one after the other, found from its edges alone.

A region is either one task, or parts of a kind: "parallel" (any of them together could be a graph of their own),
"series" (any run of neighbours could), "other" (each alone could).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

DEPTH = 32
"""Parts of parts are looked for so deep: each level looks at every task once."""

Kind: TypeAlias = Literal["task", "parallel", "series", "other"]
Neighbours: TypeAlias = Mapping[str, Sequence[str]]
Signature: TypeAlias = Callable[[str], object]


class Region(msgspec.Struct, frozen=True):
    """A part of a graph; `tasks` are in program order where the graph doesn't demand another."""

    kind: Kind
    tasks: tuple[str, ...]
    parts: tuple[Region, ...] = ()


def decompose(order: Sequence[str], producers: Neighbours, consumers: Neighbours, signature: Signature) -> Region:
    """The region that a whole graph is. `order` names its tasks, each after its producers; `signature` tells tasks
    apart that wait for the same tasks in different ways.
    """
    return _region(tuple(order), producers, consumers, signature, DEPTH)


def joined(kind: Kind, parts: Iterable[Region]) -> Region:
    """The region of several parts; a single part is itself."""
    parts = tuple(parts)
    if len(parts) == 1:
        return parts[0]
    return Region(kind, tuple(name for part in parts for name in part.tasks), parts)


def _region(
    order: tuple[str, ...], producers: Neighbours, consumers: Neighbours, signature: Signature, depth: int
) -> Region:
    if len(order) == 1:
        return Region("task", order)
    if depth == 0:
        return Region("other", order, tuple(Region("task", (name,)) for name in order))

    def inside(tasks: tuple[str, ...]) -> Region:
        return _region(tasks, producers, consumers, signature, depth - 1)

    components = _components(order, consumers)
    if len(components) > 1:
        alike: dict[object, list[Region]] = {}
        for component in components:
            alike.setdefault(signature(component[0]), []).append(inside(component))
        return joined("other", (joined("parallel", parts) for parts in alike.values()))
    pieces = _pieces(order, producers, consumers)
    if len(pieces) > 1:
        return joined("series", map(inside, pieces))
    return joined("other", _alike_or_in_a_row(order, producers, consumers, signature))


def _components(order: tuple[str, ...], consumers: Neighbours) -> list[tuple[str, ...]]:
    """The tasks by what they are joined to, whichever way."""
    root = {name: name for name in order}

    def find(name: str) -> str:
        while root[name] != name:
            root[name] = root[root[name]]
            name = root[name]
        return name

    for name in order:
        for consumer in consumers[name]:
            if consumer in root:
                root[find(consumer)] = find(name)
    found: dict[str, list[str]] = {}
    for name in order:
        found.setdefault(find(name), []).append(name)
    return [tuple(names) for names in found.values()]


def _pieces(order: tuple[str, ...], producers: Neighbours, consumers: Neighbours) -> list[tuple[str, ...]]:
    """The tasks cut wherever all ends of what is before lead to all beginnings of what is after, and nothing else does.

    Each edge, and each task as an end or a beginning, adds to the places between which it is open: linear in both.
    """
    place = {name: index for index, name in enumerate(order)}
    count = len(order)
    straddling, ends, beginnings, crossing = ([0] * (count + 1) for _ in range(4))

    def add(to: list[int], first: int, last: int) -> None:
        if first <= last:
            to[first] += 1
            to[last + 1] -= 1

    for index, name in enumerate(order):
        after = [place[other] for other in consumers[name] if other in place]
        before = [place[other] for other in producers[name] if other in place]
        for other in after:
            add(crossing, index, other - 1)
        add(ends, index, (min(after) if after else count) - 1)
        add(beginnings, max(before, default=0), index - 1)
        if after:
            add(straddling, min(after), max(after) - 1)
        if before:
            add(straddling, min(before), max(before) - 1)
    found, start = [], 0
    sums = [0, 0, 0, 0]
    for index in range(count - 1):
        sums = [total + each[index] for total, each in zip(sums, (straddling, ends, beginnings, crossing), strict=True)]
        if sums[0] == 0 and sums[3] == sums[1] * sums[2]:
            found.append(order[start : index + 1])
            start = index + 1
    found.append(order[start:])
    return found


def _alike_or_in_a_row(
    order: tuple[str, ...], producers: Neighbours, consumers: Neighbours, signature: Signature
) -> list[Region]:
    """Tasks with the same edges together, tasks in a row together, the others alone."""
    twins: dict[object, list[str]] = {}
    for name in order:
        twins.setdefault((signature(name), tuple(consumers[name])), []).append(name)
    found: list[Region] = []
    single = set()
    for names in twins.values():
        if len(names) > 1:
            found.append(joined("parallel", (Region("task", (name,)) for name in names)))
        else:
            single.add(names[0])
    rows: dict[str, list[str]] = {}
    for name in order:
        if name not in single:
            continue
        before = producers[name]
        row = rows.get(before[0]) if len(before) == 1 and len(consumers[before[0]]) == 1 else None
        if row is None:
            row = []
        row.append(name)
        rows[name] = row
    for row in {id(row): row for row in rows.values()}.values():
        found.append(joined("series", (Region("task", (name,)) for name in row)))
    return found
