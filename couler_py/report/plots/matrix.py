"""Matrices of numbers as coloured cells."""

from __future__ import annotations

from collections.abc import Sequence

from couler_py.report.plots.frame import QUIET, drawable, shown, svg, text
from couler_py.report.text import cut, number, width, xml

Rows = Sequence[Sequence[float]]


def confusion_matrix(counts: Rows, labels: Sequence[str], *, title: str = "Confusion matrix") -> str:
    """How often each true class (row) was predicted as each class (column). Shades are shares of the row.

    Raises `ValueError` where the matrix isn't square, or has another number of labels.
    """
    if len(counts) != len(labels) or any(len(row) != len(labels) for row in counts):
        raise ValueError(f"a confusion matrix of {len(labels)} labels has {len(labels)} rows of {len(labels)} counts")
    shares = [[value / (sum(row) or 1) for value in row] for row in counts]
    return _cells(counts, shares, labels, labels, title, "predicted", "true")


def heatmap(
    values: Rows, rows: Sequence[str], columns: Sequence[str], *, title: str = "", x_label: str = "", y_label: str = ""
) -> str:
    """A cell for each value, the darker the greater. Cells that aren't finite stay white.

    Raises `ValueError` where the numbers of rows or columns differ from their labels.
    """
    if len(values) != len(rows) or any(len(row) != len(columns) for row in values):
        raise ValueError(f"a heatmap of {len(rows)} rows and {len(columns)} columns has as many values")
    finite = [value for row in values for value in row if drawable(value)] or [0.0]
    low, spread = min(finite), (max(finite) - min(finite)) or 1.0
    shades = [[(value - low) / spread if drawable(value) else 0.0 for value in row] for row in values]
    return _cells(values, shades, rows, columns, title, x_label, y_label)


def _cells(
    values: Rows, shades: Rows, rows: Sequence[str], columns: Sequence[str], title: str, x_label: str, y_label: str
) -> str:
    names = [cut(name, 18) for name in rows]
    heads = [cut(name, 18) for name in columns]
    widest = max([width(shown(value), 11) for row in values for value in row], default=0.0)
    cell = max(30.0, widest + 12, min(max([width(head, 11) for head in heads], default=0.0) + 10, 88.0))
    turned = any(width(head, 11) > cell - 4 for head in heads)
    left = 34.0 + max([width(name, 11) for name in names], default=0.0) + 8
    top = 52.0 + (max(width(head, 11) for head in heads) * 0.72 + 8 if turned else 16.0)
    parts = []
    for place, head in enumerate(heads):
        x = left + cell * (place + 0.5)
        if turned:
            parts.append(text(x, top - 8, head, fill=QUIET, turn=-45))
        else:
            parts.append(text(x, top - 8, head, anchor="middle", fill=QUIET))
    for row, label in enumerate(names):
        y = top + 30.0 * row
        parts.append(text(left - 8, y + 19, label, anchor="end", fill=QUIET))
        for column, value in enumerate(values[row]):
            parts += _cell(
                left + cell * column, y, cell, value, shades[row][column], f"{rows[row]} → {columns[column]}"
            )
    wide, tall = left + cell * len(heads) + 24, top + 30.0 * len(names) + 20
    wide = max(wide, width(cut(title, 80), 14) * 1.1 + 40)
    if x_label:
        parts.append(text(left + cell * len(heads) / 2, 42, x_label, anchor="middle", fill=QUIET))
    if y_label:
        parts.append(text(18, top + 15.0 * len(names), y_label, anchor="middle", fill=QUIET, turn=-90))
    return svg(wide, tall, title, parts)


def _cell(x: float, y: float, wide: float, value: float, shade: float, name: str) -> list[str]:
    # From white to the blue of the other plots.
    mixed = "#" + "".join(f"{round(255 + (end - 255) * shade):02x}" for end in (0x2B, 0x57, 0xA5))
    ink = "#ffffff" if shade > 0.5 else "#1c2330"
    return [
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(wide - 1)}" height="29" fill="{mixed}" stroke="#e3e6ec">'
        f"<title>{xml(f'{name}: {value:g}')}</title></rect>",
        text(x + wide / 2, y + 19, shown(value), anchor="middle", fill=ink),
    ]
