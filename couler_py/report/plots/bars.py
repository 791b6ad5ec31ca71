"""Bars."""

from __future__ import annotations

from collections.abc import Mapping

from couler_py.report.plots.frame import COLOURS, QUIET, Area, drawable, legend, shown, svg, text, ticks, y_axis
from couler_py.report.text import cut, number, width, xml


def bar(
    values: Mapping[str, float] | Mapping[str, Mapping[str, float]],
    *,
    title: str = "",
    y_label: str = "",
    wide: int = 640,
    tall: int = 360,
) -> str:
    """One bar for each name, or for each name a group of bars, by series: `{"svm": {"train": 1.0, "test": 0.9}}`.

    Bars begin at zero, and each carries its value. A value that isn't finite has no bar.
    """
    groups = {name: dict(value) if isinstance(value, Mapping) else {"": value} for name, value in values.items()}
    series = list(dict.fromkeys(key for group in groups.values() for key in group))
    numbers = [value for group in groups.values() for value in group.values() if drawable(value)]
    marks = ticks(min([0.0, *numbers]), max([0.0, *numbers], default=0.0) or 1.0)
    turned = any(width(cut(name, 24), 11) > (wide - 90) / max(len(groups), 1) - 8 for name in groups)
    longest = max([width(cut(name, 24), 11) for name in groups], default=0.0)
    foot = 30.0 + (longest * 0.66 if turned else 0.0)
    head = 34.0 + (20.0 if len(series) > 1 else 0.0)
    left = max(64.0, longest * 0.78 - 20.0) if turned else 64.0
    area = Area(left, head, wide - left - 20, tall - head - foot, y=(marks[0], marks[-1]))
    parts = y_axis(area, marks, y_label)
    slot = area.width / max(len(groups), 1)
    thick = min(slot * 0.72 / max(len(series), 1), 90.0)
    for place, (name, group) in enumerate(groups.items()):
        middle = area.left + slot * (place + 0.5)
        for position, key in enumerate(series):
            if key in group and drawable(group[key]):
                left = middle + (position - len(series) / 2) * thick
                parts += _bar(area, left, thick, group[key], position, f"{name} {key}".strip())
        label = cut(name, 24)
        y = area.top + area.height + 17
        if turned:
            parts.append(text(middle + 4, y, label, anchor="end", fill=QUIET, turn=-40))
        else:
            parts.append(text(middle, y, label, anchor="middle", fill=QUIET))
    if len(series) > 1:
        parts += legend(series, area.left, 42)
    return svg(wide, tall, title, parts)


def _bar(area: Area, left: float, thick: float, value: float, position: int, name: str) -> list[str]:
    top, bottom = sorted((area.up(value), area.up(0.0)))
    colour = COLOURS[position % len(COLOURS)]
    parts = [
        f'<rect x="{number(left + 1)}" y="{number(top)}" width="{number(max(thick - 2, 1))}" '
        f'height="{number(bottom - top)}" rx="2" fill="{colour}"><title>{xml(f"{name}: {value}")}</title></rect>'
    ]
    label = shown(value)
    if width(label, 10) <= thick + 6:
        y = top - 4 if value >= 0 else bottom + 12
        parts.append(text(left + thick / 2, y, label, anchor="middle", size=10))
    return parts
