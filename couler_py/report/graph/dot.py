"""Layout by Graphviz' `dot` where that is installed. It is told sizes and numbers, never a user's text."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence

from couler_py.report.graph.layers import GAP, LAYER_GAP, Layout, Point

POINTS = 72.0  # of an inch, Graphviz' unit of sizes
SECONDS = 20
"""How long `dot` may take; it is slow on dense graphs, and ours is used then."""


def installed() -> bool:
    """Whether there is a `dot` to call."""
    return shutil.which("dot") is not None


def layout(sizes: Mapping[str, Point], links: Sequence[tuple[str, str]]) -> Layout | None:
    """Place boxes by `dot`; None where it can't (it fails, or takes longer than `SECONDS`)."""
    numbers = {name: f"n{number}" for number, name in enumerate(sizes)}
    arcs = [(a, b) for a, b in dict.fromkeys(links) if a != b]
    text = "\n".join(
        [
            f"digraph {{ graph [ranksep={LAYER_GAP / POINTS:.3f} nodesep={GAP / POINTS:.3f}]",
            'node [shape=box fixedsize=true label=""] edge [dir=none]',
            *(f"{numbers[n]} [width={w / POINTS:.4f} height={h / POINTS:.4f}]" for n, (w, h) in sizes.items()),
            *(f"{numbers[a]} -> {numbers[b]}" for a, b in arcs),
            "}",
        ]
    )
    try:
        ended = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return _read(ended.stdout, sizes, numbers) if ended.returncode == 0 else None


def _read(plain: str, sizes: Mapping[str, Point], numbers: Mapping[str, str]) -> Layout:
    # https://graphviz.org/docs/outputs/plain/: inches, the origin at the lower left.
    names = {number: name for name, number in numbers.items()}
    boxes: dict[str, Point] = {}
    lines: dict[tuple[str, str], tuple[Point, ...]] = {}
    width = height = 0.0
    for line in plain.replace("\\\n", "").splitlines():
        words = line.split()
        if words[0] == "graph":
            width, height = float(words[2]) * POINTS, float(words[3]) * POINTS
        elif words[0] == "node":
            name = names[words[1]]
            x, y = float(words[2]) * POINTS, height - float(words[3]) * POINTS
            boxes[name] = (x - sizes[name][0] / 2, y - sizes[name][1] / 2)
        elif words[0] == "edge":
            count = int(words[3])
            way = [float(word) * POINTS for word in words[4 : 4 + 2 * count]]
            points = tuple((way[i], height - way[i + 1]) for i in range(0, 2 * count, 2))
            lines[names[words[1]], names[words[2]]] = points
    return Layout(boxes, lines, width, height, splines=True)
