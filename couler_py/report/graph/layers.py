"""A layered layout of boxes and lines, after Sugiyama, Tagawa and Toda (1981), without overlaps.

1. Layers: each box lies below all that it waits for (longest path; a cycle is opened where it closes).
2. Lines over several layers get a place in each, so that they run between boxes and not through them.
3. Order: barycentres of neighbours, sweeping down and up; the order with the fewest crossings is kept.
4. Coordinates: each box as near to the middle of its neighbours as the order and the gaps allow
   (least squares by pooling adjacent violators), so two boxes can't overlap.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import msgspec

Point: TypeAlias = tuple[float, float]

GAP = 28.0
LINE_GAP = 14.0
LAYER_GAP = 44.0
SWEEPS = 8
MOST_PLACES = 6000
"""Above this many places of long lines they are drawn straight; the picture is no longer readable then anyway."""


class Layout(msgspec.Struct, frozen=True):
    """Where boxes (left upper corners) and lines are, and the size of it all.

    A line is points from source to target: ends of straight vertical pieces with curves between them,
    or with `splines` the control points of cubic Bézier curves.
    """

    boxes: dict[str, Point]
    lines: dict[tuple[str, str], tuple[Point, ...]]
    width: float
    height: float
    splines: bool = False


def layout(sizes: Mapping[str, Point], links: Sequence[tuple[str, str]]) -> Layout:
    """Place boxes of the given sizes (width, height), and the lines between them.

    Links to oneself are left out; a link that closes a cycle is drawn upwards.
    """
    names = list(sizes)
    index = {name: number for number, name in enumerate(names)}
    arcs = [(index[a], index[b]) for a, b in dict.fromkeys(links) if a != b]
    if not names:
        return Layout({}, {}, 0.0, 0.0)
    down = _without_cycles(len(names), arcs)
    layer = _layers(len(names), down)
    graph = _Places([sizes[name] for name in names], layer, down)
    _order(graph)
    x = _coordinates(graph)
    return _result(names, arcs, down, graph, x)


def _without_cycles(count: int, arcs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    # Depth first in program order; an arc back to a box on the way is turned round.
    targets: list[list[int]] = [[] for _ in range(count)]
    for a, b in arcs:
        targets[a].append(b)
    state = [0] * count
    turned: set[tuple[int, int]] = set()
    for root in range(count):
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(targets[root]))]
        while stack:
            node, rest = stack[-1]
            for other in rest:
                if state[other] == 1:
                    turned.add((node, other))
                elif state[other] == 0:
                    state[other] = 1
                    stack.append((other, iter(targets[other])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return [(b, a) if (a, b) in turned else (a, b) for a, b in arcs]


def _layers(count: int, arcs: list[tuple[int, int]]) -> list[int]:
    waiting = [0] * count
    targets: list[list[int]] = [[] for _ in range(count)]
    for a, b in arcs:
        waiting[b] += 1
        targets[a].append(b)
    layer = [0] * count
    ready = [node for node in range(count) if not waiting[node]]
    for node in ready:
        for other in targets[node]:
            layer[other] = max(layer[other], layer[node] + 1)
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    return layer


class _Places:
    """Boxes and the places of long lines, by number: boxes first. `rows` holds the order in each layer."""

    def __init__(self, sizes: list[Point], layer: list[int], arcs: list[tuple[int, int]]):
        self.width = [size[0] for size in sizes]
        self.height = [size[1] for size in sizes]
        self.boxes = len(sizes)
        self.layer = list(layer)
        self.chains: dict[tuple[int, int], list[int]] = {}
        long = sum(layer[b] - layer[a] - 1 for a, b in arcs)
        up: list[list[int]] = [[] for _ in sizes]
        down: list[list[int]] = [[] for _ in sizes]
        for a, b in dict.fromkeys(arcs):
            chain = [a]
            if long <= MOST_PLACES:
                for level in range(layer[a] + 1, layer[b]):
                    self.width.append(0.0)
                    self.height.append(0.0)
                    self.layer.append(level)
                    up.append([])
                    down.append([])
                    chain.append(len(self.layer) - 1)
            chain.append(b)
            self.chains[a, b] = chain
            for above, below in pairwise(chain):
                down[above].append(below)
                up[below].append(above)
        self.up, self.down = up, down
        self.rows: list[list[int]] = [[] for _ in range(max(self.layer) + 1)]
        for node, level in enumerate(self.layer):
            self.rows[level].append(node)

    def gap(self, left: int, right: int) -> float:
        """The least distance between the middles of two neighbours."""
        lines = left >= self.boxes and right >= self.boxes
        return (self.width[left] + self.width[right]) / 2 + (LINE_GAP if lines else GAP)


# ---- order


def _order(graph: _Places) -> None:
    best = [list(row) for row in graph.rows]
    fewest = _crossings(graph)
    for sweep in range(SWEEPS):
        if fewest == 0:
            break
        downwards = sweep % 2 == 0
        levels = range(1, len(graph.rows)) if downwards else range(len(graph.rows) - 2, -1, -1)
        for level in levels:
            fixed = graph.rows[level - 1 if downwards else level + 1]
            place = {node: number for number, node in enumerate(fixed)}
            _sort_row(graph.rows[level], graph.up if downwards else graph.down, place)
        now = _crossings(graph)
        if now < fewest:
            fewest, best = now, [list(row) for row in graph.rows]
    graph.rows = best


def _sort_row(row: list[int], neighbours: list[list[int]], place: Mapping[int, int]) -> None:
    # A box without neighbours in the fixed row keeps its place.
    keys = {}
    for number, node in enumerate(row):
        known = [place[other] for other in neighbours[node] if other in place]
        keys[node] = sum(known) / len(known) if known else float(number)
    row.sort(key=lambda node: keys[node])


def _crossings(graph: _Places) -> int:
    total = 0
    for above, below in pairwise(graph.rows):
        place = {node: number for number, node in enumerate(below)}
        seen: list[int] = []
        for node in above:
            ends = sorted(place[other] for other in graph.down[node] if other in place)
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


# ---- coordinates


def _coordinates(graph: _Places) -> list[float]:
    x = [0.0] * len(graph.layer)
    for row in graph.rows:
        _place_row(graph, row, [0.0] * len(row), [1.0] * len(row), x)
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        order = range(len(graph.rows)) if downwards else range(len(graph.rows) - 1, -1, -1)
        for level in order:
            row = graph.rows[level]
            wanted, weight = [], []
            for node in row:
                near = graph.up[node] if downwards else graph.down[node]
                if sweep >= SWEEPS - 2:
                    near = graph.up[node] + graph.down[node]
                wanted.append(_middle([x[other] for other in near]) if near else x[node])
                # A line that passes is kept straight before a box is centred.
                weight.append((4.0 if node >= graph.boxes else 1.0) if near else 0.05)
            _place_row(graph, row, wanted, weight, x)
    return x


def _middle(values: list[float]) -> float:
    return sum(values) / len(values)


def _place_row(graph: _Places, row: list[int], wanted: list[float], weight: list[float], x: list[float]) -> None:
    """Put each node as near to where it is wanted as the gaps allow: isotonic regression of the offsets."""
    offset, shift = 0.0, []
    for number, node in enumerate(row):
        if number:
            offset += graph.gap(row[number - 1], node)
        shift.append(offset)
    blocks: list[list[float]] = []  # weight, weighted sum, how many
    for number in range(len(row)):
        block = [weight[number], weight[number] * (wanted[number] - shift[number]), 1.0]
        while blocks and blocks[-1][1] / blocks[-1][0] >= block[1] / block[0]:
            before = blocks.pop()
            block = [before[0] + block[0], before[1] + block[1], before[2] + block[2]]
        blocks.append(block)
    number = 0
    for total, weighted, count in blocks:
        for _ in range(int(count)):
            x[row[number]] = weighted / total + shift[number]
            number += 1


# ---- the result


def _result(
    names: list[str], arcs: list[tuple[int, int]], down: list[tuple[int, int]], graph: _Places, x: list[float]
) -> Layout:
    tall = [max(graph.height[node] for node in row) for row in graph.rows]
    top: list[float] = []
    y = 0.0
    for height in tall:
        top.append(y)
        y += height + LAYER_GAP
    left = min(x[node] - graph.width[node] / 2 for node in range(len(x)))
    right = max(x[node] + graph.width[node] / 2 for node in range(len(x)))
    boxes = {
        name: (x[node] - graph.width[node] / 2 - left, top[graph.layer[node]] + _drop(graph, node, tall))
        for node, name in enumerate(names)
    }
    lines = {}
    for (a, b), (low, high) in zip(arcs, down, strict=True):
        chain = graph.chains[low, high]
        # Straight down to the edge of the layer, then curves between layers, so that no taller neighbour is cut.
        level = graph.layer[low]
        way: list[Point] = [
            (x[low] - left, boxes[names[low]][1] + graph.height[low]),
            (x[low] - left, top[level] + tall[level]),
        ]
        for node in chain[1:-1]:
            level = graph.layer[node]
            way += [(x[node] - left, top[level]), (x[node] - left, top[level] + tall[level])]
        way += [(x[high] - left, top[graph.layer[high]]), (x[high] - left, boxes[names[high]][1])]
        lines[names[a], names[b]] = tuple(way if (a, b) == (low, high) else reversed(way))
    return Layout(boxes, lines, right - left, y - LAYER_GAP)


def _drop(graph: _Places, node: int, tall: list[float]) -> float:
    return (tall[graph.layer[node]] - graph.height[node]) / 2
