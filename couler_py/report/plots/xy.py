"""Lines and points over two axes of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from couler_py.report.plots.frame import COLOURS, Area, drawable, legend, svg, ticks, x_axis, y_axis
from couler_py.report.text import number, points, xml

Pairs: TypeAlias = Sequence[tuple[float, float]]


def line(
    series: Mapping[str, Pairs] | Pairs, *, title: str = "", x_label: str = "", y_label: str = "",
    wide: int = 640, tall: int = 360,
) -> str:  # fmt: skip
    """A line through the (x, y) pairs of each series; it breaks where a value isn't finite."""
    named = _named(series)
    area, parts = _axes(named, x_label, y_label, wide, tall)
    for position, pairs in enumerate(named.values()):
        colour = COLOURS[position % len(COLOURS)]
        for run in _runs(pairs):
            way = [(area.across(x), area.up(y)) for x, y in run]
            parts.append(
                f'<polyline points="{points(way)}" fill="none" stroke="{colour}" stroke-width="1.8" '
                'stroke-linejoin="round"/>'
            )
            if len(pairs) <= 40:
                parts += [_dot(x, y, colour, 2.6) for x, y in way]
    return svg(wide, tall, title, parts)


def scatter(
    series: Mapping[str, Pairs] | Pairs, *, title: str = "", x_label: str = "", y_label: str = "",
    wide: int = 640, tall: int = 360,
) -> str:  # fmt: skip
    """A point for each (x, y) pair of each series. Pairs that aren't finite are left out."""
    named = _named(series)
    area, parts = _axes(named, x_label, y_label, wide, tall)
    for position, (name, pairs) in enumerate(named.items()):
        colour = COLOURS[position % len(COLOURS)]
        for x, y in _finite(pairs):
            parts.append(_dot(area.across(x), area.up(y), colour, 3.4, f"{name} ({x:g}, {y:g})".strip()))
    return svg(wide, tall, title, parts)


def _named(series: Mapping[str, Pairs] | Pairs) -> dict[str, Pairs]:
    return dict(series) if isinstance(series, Mapping) else {"": series}


def _finite(pairs: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(x, y) for x, y in pairs if drawable(x) and drawable(y)]


def _runs(pairs: Pairs) -> list[list[tuple[float, float]]]:
    runs: list[list[tuple[float, float]]] = [[]]
    for x, y in pairs:
        if drawable(x) and drawable(y):
            runs[-1].append((x, y))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _axes(named: Mapping[str, Pairs], x_label: str, y_label: str, wide: int, tall: int) -> tuple[Area, list[str]]:
    known = [pair for pairs in named.values() for pair in _finite(pairs)] or [(0.0, 0.0)]
    across = ticks(min(x for x, _ in known), max(x for x, _ in known), 7)
    up = ticks(min(y for _, y in known), max(y for _, y in known))
    head = 34.0 + (20.0 if len(named) > 1 else 0.0)
    foot = 46.0 if x_label else 30.0
    area = Area(70, head, wide - 94, tall - head - foot, (across[0], across[-1]), (up[0], up[-1]))
    parts = [*y_axis(area, up, y_label), *x_axis(area, across, x_label)]
    if len(named) > 1:
        parts += legend(list(named), area.left, 42)
    return area, parts


def _dot(x: float, y: float, colour: str, radius: float, title: str = "") -> str:
    inside = f"<title>{xml(title)}</title>" if title else ""
    return (
        f'<circle cx="{number(x)}" cy="{number(y)}" r="{radius}" fill="{colour}" fill-opacity="0.85">{inside}</circle>'
    )
