"""Who did what when: a row for each worker, in which spans of several kinds follow each other."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from couler_py.report.plots.frame import COLOURS, QUIET, legend, segment, shown, svg, text, ticks
from couler_py.report.text import cut, number, width, xml

ROW = 24.0


class Lane(msgspec.Struct, frozen=True):
    """One row: what it is called, and what is in it: kind, start, end. Spans of a row are apart."""

    name: str
    spans: tuple[tuple[str, float, float], ...]


def lanes(rows: Sequence[Lane], *, title: str = "", unit: str = "s", wide: int = 960, upto: float | None = None) -> str:
    """Rows over one time, each kind of span in its colour. `upto` is where the time ends (default: the last span).

    Pictures that are to be compared get the same `upto`.
    """
    names = [cut(row.name, 32) for row in rows]
    left = min(max([width(name, 11) for name in names], default=40.0) + 24, wide * 0.4)
    end = max([end for row in rows for _, _, end in row.spans], default=0.0) if upto is None else upto
    marks = [mark for mark in ticks(0.0, end if end > 0 else 1.0, 8) if mark >= 0]
    top = 54.0 if title else 30.0
    bottom = top + ROW * len(rows)
    scale = (wide - left - 24) / marks[-1]
    kinds = list(dict.fromkeys(kind for row in rows for kind, _, _ in row.spans))
    parts = legend(kinds, left, top - 14)
    for mark in marks:
        x = left + mark * scale
        parts.append(segment(x, top, x, bottom))
        parts.append(text(x, bottom + 16, f"{shown(mark)} {unit}", anchor="middle", fill=QUIET, size=10))
    for place, (row, name) in enumerate(zip(rows, names, strict=True)):
        y = top + ROW * place
        parts.append(text(left - 10, y + 16, name, anchor="end"))
        for kind, start, stop in row.spans:
            length = max((stop - start) * scale - 0.5, 0.5)  # neighbours stay apart
            parts.append(
                f'<rect x="{number(left + start * scale)}" y="{number(y + 4)}" width="{number(length)}" '
                f'height="{number(ROW - 8)}" fill="{COLOURS[kinds.index(kind) % len(COLOURS)]}">'
                f"<title>{xml(f'{row.name}: {kind}, {stop - start:.3g} {unit}')}</title></rect>"
            )
    return svg(wide, bottom + 30, title, parts)
