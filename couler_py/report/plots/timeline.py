"""When the tasks of a run ran: a Gantt chart."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from couler_py.report.plots.frame import GRID, QUIET, segment, svg, text, ticks
from couler_py.report.text import cut, number, width, xml

STATE_COLOURS = {
    "Succeeded": "#3b9a5b",
    "Failed": "#c62f2f",
    "Running": "#1877b5",
    "Suspended": "#c79a1b",
    "Stopped": "#c79a1b",
}
ROW = 20.0
MOST_ROWS = 400


class Span(msgspec.Struct, frozen=True):
    """One bar: what ran, from when to when (seconds from the start of the run), and how it ended."""

    name: str
    start: float
    end: float
    state: str = "Succeeded"


def timeline(spans: Sequence[Span], *, title: str = "", wide: int = 960) -> str:
    """A row for each span, in the order of their starts. Of more than 400 the longest are shown."""
    kept = sorted(spans, key=lambda span: span.start - span.end)[:MOST_ROWS]
    kept.sort(key=lambda span: (span.start, span.end))
    names = [cut(span.name, 44) for span in kept]
    left = min(max([width(name, 11) for name in names], default=40.0) + 24, wide * 0.45)
    end = max([span.end for span in kept], default=0.0)
    marks = [mark for mark in ticks(0.0, end if end > 0 else 1.0, 8) if mark >= 0]
    top = 34.0 if title else 12.0
    bottom = top + ROW * len(kept)
    scale = (wide - left - 70) / marks[-1]
    parts = []
    for mark in marks:
        x = left + mark * scale
        parts.append(segment(x, top, x, bottom, GRID))
        parts.append(text(x, bottom + 16, f"{mark:g} s", anchor="middle", fill=QUIET, size=10))
    for row, (span, name) in enumerate(zip(kept, names, strict=True)):
        parts += _row(span, name, left, top + ROW * row, scale)
    if len(kept) < len(spans):
        note = f"the {len(kept)} longest of {len(spans):,} tasks"
        parts.append(text(left, bottom + 32, note, fill=QUIET, size=10))
    return svg(wide, bottom + 40, title, parts)


def _row(span: Span, name: str, left: float, y: float, scale: float) -> list[str]:
    x, length = left + span.start * scale, max((span.end - span.start) * scale, 1.5)
    colour = STATE_COLOURS.get(span.state, "#9a9a9a")
    seconds = f"{span.end - span.start:.3g} s"
    return [
        text(left - 10, y + 14, name, anchor="end"),
        f'<rect x="{number(x)}" y="{number(y + 4)}" width="{number(length)}" height="{number(ROW - 8)}" rx="2" '
        f'fill="{colour}"><title>{xml(f"{span.name}: {span.state}, {seconds}")}</title></rect>',
        text(x + length + 5, y + 14, seconds, fill=QUIET, size=10),
    ]
