"""Cards as one HTML page that needs nothing else: no scripts, no requests, everything escaped."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from couler_py.ir.quantity import amount
from couler_py.report.cards import Card, Html, Image, Plot, Table, Text
from couler_py.templates.environment import environment

POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)
"""The page's Content-Security-Policy: pictures from itself, its own styles, no script from anywhere."""


class Section(msgspec.Struct, frozen=True):
    """Cards under a heading."""

    title: str
    cards: tuple[Card, ...]


def page(
    title: str,
    cards: Sequence[Card | Section],
    *,
    facts: Mapping[str, Any] | None = None,
    status: str = "",
) -> str:
    """The HTML of a page: a title, a line of facts, and cards in order.

    `status` is the state of a run, shown beside the title in its colour.
    """
    sections = [card if isinstance(card, Section) else Section("", (card,)) for card in cards]
    shown = {name: value_text(value) for name, value in (facts or {}).items()}
    return render("page.html", title=title, status=status, facts=shown, sections=sections)


def render(template: str, **data: Any) -> str:
    """A template of `templates/report` with some data; all text in it is escaped."""
    data = {name: [_section(each) for each in value] if _is_sections(value) else value for name, value in data.items()}
    return environment("report", amount, autoescape=True).get_template(template).render(policy=POLICY, **data)


def _is_sections(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, Section) for each in value)


def _section(section: Section) -> dict[str, Any]:
    return {"title": section.title, "cards": [_card(card) for card in section.cards]}


def value_text(value: Any) -> str:
    """A value as it stands in a table: strings as they are, everything else as JSON where it is JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.6g}"
    try:
        return json.dumps(value, ensure_ascii=False)
    except TypeError:
        return str(value)


def data_uri(content: bytes, media_type: str) -> str:
    """Bytes as a `data:` URI."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def _card(card: Card) -> dict[str, Any]:
    match card:
        case Text(text=text, title=title):
            return {"kind": "text", "title": title, "text": text}
        case Table(columns=columns, rows=rows, title=title):
            cells = [[value_text(value) for value in row] for row in rows]
            numeric = [
                bool(rows) and all(isinstance(row[place], int | float) for row in rows) for place in range(len(columns))
            ]
            return {"kind": "table", "title": title, "columns": columns, "rows": cells, "numeric": numeric}
        case Plot(title=title, svg=svg):
            return {"kind": "image", "title": title, "uri": data_uri(svg.encode(), "image/svg+xml"), "drawn": True}
        case Image(title=title, content=content, media_type=media_type):
            if not media_type.startswith("image/"):
                raise ValueError(f"{media_type!r} is not a media type of pictures")
            return {"kind": "image", "title": title, "uri": data_uri(content, media_type), "drawn": False}
        case Html(title=title, html=html, height=height):
            return {"kind": "html", "title": title, "html": html, "height": height}
