"""What plots have in common: colours, ticks at round numbers, axes, and the SVG around it all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from couler_py.report.text import cut, number, width, xml

COLOURS = ("#3f6fbf", "#d9822b", "#3b8f64", "#b5446e", "#7d4fb3", "#2f8a94", "#a08a1b", "#6b6f80")
INK, QUIET, GRID = "#1c2330", "#5b6474", "#e3e6ec"
FONT = "font-family=\"'DejaVu Sans','Liberation Sans',Verdana,Arial,sans-serif\""


class Area(msgspec.Struct, frozen=True):
    """The rectangle in which data are drawn, in pixels, and the data's range along each axis."""

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float] = (0.0, 1.0)
    y: tuple[float, float] = (0.0, 1.0)

    def across(self, value: float) -> float:
        """The x of a value in pixels."""
        low, high = self.x
        return self.left + (value - low) / (high - low) * self.width

    def up(self, value: float) -> float:
        """The y of a value in pixels; larger values stand higher."""
        low, high = self.y
        return self.top + self.height - (value - low) / (high - low) * self.height


LEAST = 1e-300
"""The narrowest range that an axis shows: the steps of narrower ones are no numbers of full precision (IEEE 754)."""


def drawable(value: float) -> bool:
    """Whether a number has a place on an axis: it is finite, and ranges of such numbers can be computed with."""
    return abs(value) < 1e300


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from at most `low` to at least `high`, about so many, 1, 2 or 5 times a power of ten apart.

    >>> ticks(0, 0.97)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    if not high - low >= LEAST:
        spread = abs(low) * 0.5 or 1.0
        low, high = low - spread, high + spread
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(each * step, digits + 1) for each in range(first, last + 1)]


def shown(value: float) -> str:
    """A number as a tick or a value label: at most four significant digits."""
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 1000 and value % 1 == 0 else f"{value:.4g}"


def svg(wide: float, tall: float, title: str, parts: Iterable[str]) -> str:
    """The picture, with its title at the top."""
    head = text(wide / 2, 20, cut(title, 80), anchor="middle", size=14, bold=True) if title else ""
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(wide)}" height="{number(tall)}" '
        f'viewBox="0 0 {number(wide)} {number(tall)}" {FONT} role="img">\n<title>{xml(title or "plot")}</title>\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{head}\n{body}\n</svg>\n'
    )


def text(
    x: float, y: float, words: str, *, anchor: str = "start", size: float = 11, fill: str = INK, bold: bool = False,
    turn: float = 0,
) -> str:  # fmt: skip
    """Words at a place; `turn` in degrees, clockwise."""
    weight = ' font-weight="bold"' if bold else ""
    turned = f' transform="rotate({number(turn)} {number(x)} {number(y)})"' if turn else ""
    return (
        f'<text x="{number(x)}" y="{number(y)}" font-size="{number(size)}" text-anchor="{anchor}" fill="{fill}"'
        f"{weight}{turned}>{xml(words)}</text>"
    )


def segment(x1: float, y1: float, x2: float, y2: float, colour: str = GRID) -> str:
    """A thin straight line."""
    return (
        f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" '
        f'stroke="{colour}" stroke-width="1"/>'
    )


def y_axis(area: Area, marks: Sequence[float], label: str = "") -> list[str]:
    """Grid lines with their values at the left, and the axis' label."""
    parts = []
    for mark in marks:
        parts.append(segment(area.left, area.up(mark), area.left + area.width, area.up(mark)))
        parts.append(text(area.left - 8, area.up(mark) + 4, shown(mark), anchor="end", fill=QUIET))
    if label:
        parts.append(text(15, area.top + area.height / 2, cut(label, 40), anchor="middle", fill=QUIET, turn=-90))
    return parts


def x_axis(area: Area, marks: Sequence[float], label: str = "") -> list[str]:
    """Grid lines with their values below, and the axis' label."""
    bottom = area.top + area.height
    parts = []
    for mark in marks:
        parts.append(segment(area.across(mark), area.top, area.across(mark), bottom))
        parts.append(text(area.across(mark), bottom + 16, shown(mark), anchor="middle", fill=QUIET))
    if label:
        parts.append(text(area.left + area.width / 2, bottom + 34, cut(label, 60), anchor="middle", fill=QUIET))
    return parts


def legend(names: Sequence[str], left: float, top: float) -> list[str]:
    """Names with their colours, side by side."""
    parts = []
    x = left
    for position, name in enumerate(names):
        label = cut(name, 24)
        parts.append(
            f'<rect x="{number(x)}" y="{number(top - 9)}" width="10" height="10" rx="2" '
            f'fill="{COLOURS[position % len(COLOURS)]}"/>'
        )
        parts.append(text(x + 15, top, label, fill=QUIET))
        x += 15 + width(label, 11) + 18
    return parts
