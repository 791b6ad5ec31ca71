"""Pages as their tests read them."""

from __future__ import annotations

from html.parser import HTMLParser

HOSTILE = "</title></p><script>alert(1)</script>{{ 7*7 }}\"'><img src=x onerror=alert(1)>"


class Tags(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, html: str):
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]
