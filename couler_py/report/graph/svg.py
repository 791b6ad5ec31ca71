"""A scene as SVG: no scripts, no links, no fonts from elsewhere; all text escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TypeAlias

import msgspec

from couler_py.report.facts import Area, Picture
from couler_py.report.graph import dot, layers
from couler_py.report.graph.layers import Layout, Point
from couler_py.report.graph.scene import LinkKind, Node, Scene
from couler_py.report.graph.states import words
from couler_py.report.text import cut, number, width, xml

FONT = "font-family=\"'DejaVu Sans','Liberation Sans',Verdana,Arial,sans-serif\""
LABEL, NOTE = 13.0, 10.5
PADDING, LINE, MARGIN = 12.0, 17.0, 18.0
STACK = 4.0
LONGEST = 34

COLOURS: dict[str, tuple[str, str]] = {
    "function": ("#eef4ff", "#3f6fbf"),
    "container": ("#eefaf3", "#3b8f64"),
    "script": ("#eefaf3", "#3b8f64"),
    "container_set": ("#eefaf3", "#3b8f64"),
    "resource": ("#fff6e8", "#b9822b"),
    "distributed_job": ("#f6eeff", "#7d4fb3"),
    "suspend": ("#fffbe0", "#a08a1b"),
    "http": ("#eafafb", "#2f8a94"),
    "folded": ("#f1f1f4", "#6b6f80"),
    "graph": ("#fafbfc", "#8a93a3"),
    "loop": ("#fafbfc", "#8a93a3"),
}
"""Fill and outline by the kind of a box."""

STATES: dict[str, tuple[str, str]] = {
    "Succeeded": ("#e3f6e8", "#2b8a46"),
    "Failed": ("#fde4e4", "#c62f2f"),
    "Running": ("#dff1fd", "#1877b5"),
    "Suspended": ("#fff3cf", "#a87a00"),
    "Stopped": ("#fff3cf", "#a87a00"),
    "Skipped": ("#f3f3f3", "#9a9a9a"),
    "Blocked": ("#f8e6f5", "#a03c8e"),
    "Pending": ("#ffffff", "#b5bac4"),
}

_PLAIN = frozenset({"", "Succeeded", "Pending"})  # states that their colours say well enough

LINES: dict[LinkKind, tuple[str, str, str]] = {
    "value": ("#3f6fbf", "", "value: reads an output"),
    "order": ("#7b8494", "", "order: only waits"),
    "first": ("#3f6fbf", "7 3 1.5 3", "first of several values"),
    "on_failure": ("#c62f2f", "6 4", "runs when the other failed"),
    "always": ("#7b8494", "1.5 3.5", "runs in any case"),
}
"""Colour, dashes and meaning of each kind of line."""


class _Box(msgspec.Struct, frozen=True):
    width: float
    height: float
    lines: tuple[tuple[str, str], ...]  # text, and its role: label, note, condition
    inner: _Laid | None = None


class _Laid(msgspec.Struct, frozen=True):
    scene: Scene
    boxes: dict[str, _Box]
    layout: Layout


Parts: TypeAlias = Iterator[str]


def svg(scene: Scene, *, title: str = "", graphviz: bool | None = None) -> str:
    """The picture. `graphviz` chooses the layouter: `dot`, ours, or (None) `dot` where it is installed."""
    return picture(scene, title=title, graphviz=graphviz).svg


def picture(scene: Scene, *, title: str = "", graphviz: bool | None = None) -> Picture:
    """The picture with its size and the places of its boxes, for who puts links over it."""
    laid = _lay(scene, dot.installed() if graphviz is None else graphviz)
    legend = _legend(scene, laid.layout.height + 2 * MARGIN + (26 if title else 0))
    head = 26.0 if title else 0.0
    wide = max(laid.layout.width, legend[1], width(title, 15)) + 2 * MARGIN
    tall = laid.layout.height + 2 * MARGIN + head + legend[2]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(wide)}" height="{number(tall)}" '
        f'viewBox="0 0 {number(wide)} {number(tall)}" {FONT} role="img">',
        f"<title>{xml(title or 'workflow')}</title>",
        "<defs>",
        *(_arrow(kind, colour) for kind, (colour, _, _) in LINES.items()),
        "</defs>",
        f'<rect width="{number(wide)}" height="{number(tall)}" fill="#ffffff"/>',
    ]
    if title:
        parts.append(
            f'<text x="{number(MARGIN)}" y="28" font-size="15" font-weight="bold">{xml(cut(title, 90))}</text>'
        )
    parts.append(f'<g transform="translate({number(MARGIN)},{number(MARGIN + head)})">')
    parts += _draw(laid)
    parts += ["</g>", legend[0], "</svg>"]
    areas = tuple(_areas(laid, MARGIN, MARGIN + head))
    return Picture("\n".join(parts) + "\n", wide, tall, areas)


def _areas(laid: _Laid, left: float, top: float) -> Iterator[Area]:
    """The boxes that stand for tasks of a run; those inside others come after them."""
    for node in laid.scene.nodes:
        box = laid.boxes[node.id]
        x, y = laid.layout.boxes[node.id]
        if node.path:
            label = ", ".join(part for part in (node.label, words(node.tally) or node.state) if part)
            yield Area(node.path, label, left + x, top + y, box.width, box.height)
        if box.inner is not None:
            yield from _areas(box.inner, left + x + _indent(node, box, box.inner), top + y + _head(box))


def _lay(scene: Scene, graphviz: bool) -> _Laid:
    boxes = {node.id: _box(node, graphviz) for node in scene.nodes}
    sizes = {name: (box.width, box.height) for name, box in boxes.items()}
    links = [(link.source, link.target) for link in scene.links]
    found = dot.layout(sizes, links) if graphviz else None
    return _Laid(scene, boxes, found or layers.layout(sizes, links))


def _box(node: Node, graphviz: bool) -> _Box:
    lines = [(cut(node.label, LONGEST), "label")]
    note = " · ".join(part for part in (node.many, node.note) if part)
    if note:
        lines.append((cut(note, LONGEST + 10), "note"))
    counts = words(node.tally) or (node.state.lower() if node.state not in _PLAIN else "")
    if counts:
        lines.append((counts, "note"))
    if node.condition:
        lines.append((cut(f"if {node.condition}", LONGEST + 10), "condition"))
    wide = max(width(text, LABEL if role == "label" else NOTE) for text, role in lines) + 2 * PADDING
    tall = LINE * len(lines) + PADDING
    stack = 2 * STACK if node.many else 0.0
    if node.inside is None:
        return _Box(max(wide, 64.0) + stack, tall + stack, tuple(lines))
    inner = _lay(node.inside, graphviz)
    return _Box(
        max(wide, inner.layout.width + 2 * PADDING) + stack,
        tall + inner.layout.height + PADDING + stack,
        tuple(lines),
        inner,
    )


# ---- drawing


def _draw(laid: _Laid) -> Parts:
    kinds = {(link.source, link.target): link.kind for link in laid.scene.links}
    for ends, way in laid.layout.lines.items():
        yield _line(kinds[ends], way, laid.layout.splines)
    for node in laid.scene.nodes:
        yield from _draw_box(node, laid.boxes[node.id], laid.layout.boxes[node.id])


def _line(kind: LinkKind, way: tuple[Point, ...], splines: bool) -> str:
    colour, dashes, _ = LINES[kind]
    path = _splines(way) if splines else _curves(way)
    style = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.4"{style} marker-end="url(#{kind})"/>'


def _at(point: Point) -> str:
    return f"{number(point[0])} {number(point[1])}"


def _splines(way: tuple[Point, ...]) -> str:
    curves = (f"C{_at(way[i])} {_at(way[i + 1])} {_at(way[i + 2])}" for i in range(1, len(way) - 2, 3))
    return f"M{_at(way[0])}" + "".join(curves)


def _curves(way: tuple[Point, ...]) -> str:
    # Straight between an even point and the next, a curve that leaves and arrives upright between the others.
    pieces = [f"M{_at(way[0])}"]
    for place, (start, end) in enumerate(pairwise(way)):
        if place % 2 == 0 or start[0] == end[0]:
            if start != end:
                pieces.append(f"L{_at(end)}")
            continue
        middle = (start[1] + end[1]) / 2
        pieces.append(f"C{_at((start[0], middle))} {_at((end[0], middle))} {_at(end)}")
    return "".join(pieces)


def _arrow(kind: str, colour: str) -> str:
    return (
        f'<marker id="{kind}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0.5L8 4L0 7.5z" fill="{colour}"/></marker>'
    )


def _draw_box(node: Node, box: _Box, at: Point) -> Parts:
    fill, stroke = STATES.get(node.state) or COLOURS.get(node.kind, ("#f7f7f9", "#6b7280"))
    stack = 2 * STACK if node.many else 0.0
    wide, tall = box.width - stack, box.height - stack
    yield f'<g transform="translate({number(at[0])},{number(at[1])})">'
    if node.title:
        yield f"<title>{xml(node.title)}</title>"
    for shift in (stack, stack / 2) if stack else ():
        yield _rect(shift, shift, wide, tall, fill, stroke)
    dashed = ' stroke-dasharray="5 3"' if node.condition else ""
    yield _rect(0, 0, wide, tall, fill, stroke, dashed)
    # With tasks inside, the text stands at the left; else in the middle.
    x, anchor = (PADDING, "start") if box.inner else (wide / 2, "middle")
    for row, (text, role) in enumerate(box.lines):
        yield _text(x, PADDING / 2 + LINE * row + 12.5, text, role, anchor)
    if box.inner is not None:
        yield f'<g transform="translate({number(_indent(node, box, box.inner))},{number(_head(box))})">'
        yield from _draw(box.inner)
        yield "</g>"
    yield "</g>"


def _indent(node: Node, box: _Box, inner: _Laid) -> float:
    return (box.width - (2 * STACK if node.many else 0.0) - inner.layout.width) / 2


def _head(box: _Box) -> float:
    return PADDING + LINE * len(box.lines)


def _rect(x: float, y: float, wide: float, tall: float, fill: str, stroke: str, more: str = "") -> str:
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(wide)}" height="{number(tall)}" rx="6" '
        f'fill="{fill}" stroke="{stroke}"{more}/>'
    )


def _text(x: float, y: float, text: str, role: str, anchor: str = "start") -> str:
    look = {
        "label": f'font-size="{LABEL}" fill="#1c2330"',
        "note": f'font-size="{NOTE}" fill="#5b6474"',
        "condition": f'font-size="{NOTE}" fill="#8a4b08" font-style="italic"',
    }[role]
    return f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}" {look}>{xml(text)}</text>'


# ---- legend


def _legend(scene: Scene, top: float) -> tuple[str, float, float]:
    """The kinds of lines that the picture has, its width and its height."""
    used = [kind for kind in LINES if kind in set(_kinds(scene))]
    notes = [f"{scene.folded:,} tasks share a box with others"] if scene.folded else []
    if not used and not notes:
        return ("", 0.0, 0.0)
    parts = []
    widest = 0.0
    y = top
    for kind in used:
        colour, dashes, meaning = LINES[kind]
        style = f' stroke-dasharray="{dashes}"' if dashes else ""
        parts.append(
            f'<path d="M{number(MARGIN)} {number(y)}h34" fill="none" stroke="{colour}" stroke-width="1.4"{style} '
            f'marker-end="url(#{kind})"/>'
        )
        parts.append(_text(MARGIN + 44, y + 3.5, meaning, "note"))
        widest = max(widest, 44 + width(meaning, NOTE))
        y += LINE
    for note in notes:
        parts.append(_text(MARGIN, y + 3.5, note, "note"))
        widest = max(widest, width(note, NOTE))
        y += LINE
    return ("\n".join(parts), widest, LINE * (len(used) + len(notes)))


def _kinds(scene: Scene) -> Iterable[LinkKind]:
    yield from (link.kind for link in scene.links)
    for node in scene.nodes:
        if node.inside is not None:
            yield from _kinds(node.inside)
