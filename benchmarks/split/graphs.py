"""Graphs of tasks as plain numbers, by shape; the larger ones are those of real workflows."""

from __future__ import annotations

import random
from collections.abc import Callable

from couler_py.passes.split.problem import Problem, plain

Edges = list[tuple[int, int]]


def scattered(count: int, chance: random.Random, *, most: int = 3, near: int | None = None) -> Edges:
    """Each task waits for up to `most` of those before it, or of the `near` before it."""
    found = set()
    for task in range(1, count):
        first = 0 if near is None else max(0, task - near)
        for _ in range(chance.randrange(most + 1)):
            found.add((chance.randrange(first, task), task))
    return sorted(found)


def layered(count: int, width: int, chance: random.Random, *, each: int = 2) -> Edges:
    """Layers of `width` tasks, each waiting for some of the layer before."""
    found = set()
    for task in range(width, count):
        before = (task // width - 1) * width
        found.update((before + chance.randrange(width), task) for _ in range(each))
    return sorted(found)


def map_reduce(count: int, width: int) -> Edges:
    """Rounds of one task, `width` that wait for it, and one that waits for those."""
    found: Edges = []
    first = 0
    while first + width + 2 <= count:
        last = first + width + 1
        if first:
            found.append((first - 1, first))
        for task in range(first + 1, last):
            found += [(first, task), (task, last)]
        first = last + 1
    return found


def montage(images: int) -> tuple[int, Edges]:
    """The shape of Montage (Bharathi et al. 2008): projections, differences of neighbours, a fit, corrections."""
    projected = range(images)
    differences = range(images, 3 * images - 3)
    concat, model = 3 * images - 3, 3 * images - 2
    corrected = range(3 * images - 1, 4 * images - 1)
    found: Edges = []
    for number, task in enumerate(differences):
        left = number // 2
        found += [(projected[left], task), (projected[left + 1 + number % 2], task), (task, concat)]
    found.append((concat, model))
    last = 4 * images - 1
    for image, task in zip(projected, corrected, strict=True):
        found += [(image, task), (model, task), (task, last)]
    tail = [(last + number, last + number + 1) for number in range(3)]
    return last + 4, found + tail


def cybershake(sites: int, each: int) -> tuple[int, Edges]:
    """The shape of CyberShake: by site, an extraction, `each` seismograms of it, a peak for each, and two archives."""
    found: Edges = []
    count = 2
    for _ in range(sites):
        extraction = count
        for number in range(each):
            seismogram, peak = count + 1 + 2 * number, count + 2 + 2 * number
            found += [(extraction, seismogram), (seismogram, peak), (seismogram, 0), (peak, 1)]
        count += 1 + 2 * each
    # The archives come last in program order.
    return count, [(a - 2 if a > 1 else count - 2 + a, b - 2 if b > 1 else count - 2 + b) for a, b in found]


def problem(shape: str, count: int, most: int, seed: int = 0) -> Problem:
    """A graph of about `count` tasks of a shape, of which a part may have `most`; tasks take 1 to 10 s."""
    chance = random.Random(f"{shape} {count} {seed}")
    makers: dict[str, Callable[[], tuple[int, Edges]]] = {
        "layered": lambda: (count, layered(count, max(2, count // 100), chance)),
        "random": lambda: (count, scattered(count, chance)),
        "narrow": lambda: (count, scattered(count, chance, near=50)),
        "map-reduce": lambda: (count, map_reduce(count, max(1, count // 100 - 2))),
        "montage": lambda: montage(max(3, count // 4)),
        "cybershake": lambda: cybershake(max(1, count // 200), 99),
    }
    number, edges = makers[shape]()
    return plain(edges, number, most, times=[chance.uniform(1, 10) for _ in range(number)])


SHAPES = ("layered", "random", "narrow", "map-reduce", "montage", "cybershake")
