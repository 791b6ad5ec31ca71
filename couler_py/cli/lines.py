"""Lines of a terminal, put together from pieces of text with styles, and drawn as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from rich.console import Console

Line: TypeAlias = Sequence[tuple[str, str]]
"""Pieces of text, each with the name of its style."""


class Lines:
    """Lines as rich prints them: on a terminal cut to its width, with an ellipsis where something is missing."""

    def __init__(self, lines: Iterable[Line]):
        self.lines = list(lines)

    def __rich_console__(self, console: Console, options: Any) -> Iterator[Any]:
        from rich.segment import Segment

        for line in self.lines:
            pieces = cropped(line, options.max_width) if console.is_terminal else line
            yield from (Segment(text, console.get_style(style)) for text, style in pieces if text)
            yield Segment.line()


def cropped(line: Line, width: int) -> Iterator[tuple[str, str]]:
    """A line in at most so many cells."""
    from rich.cells import cell_len, set_cell_size

    room = width
    for place, (text, style) in enumerate(line):
        cells = cell_len(text)
        # The last cell is for the ellipsis, should anything come after.
        if cells > room or (cells == room and any(rest for rest, _ in line[place + 1 :])):
            yield set_cell_size(text, max(room - 1, 0)) + ("…" if room > 0 else ""), style
            return
        room -= cells
        yield text, style


def branches(names: Sequence[str], parents: Mapping[str, str], *, more: bool = False) -> Iterator[tuple[str, str]]:
    """Names as a tree: each with the lines that are drawn before it. Those without a parent hang at the root.

    With `more`, something else follows there.

    >>> for before, name in branches(["a", "a/b", "c"], {"a/b": "a"}): print(before + name)
    ├── a
    │   └── a/b
    └── c
    """
    below: dict[str, list[str]] = {}
    for name in names:
        below.setdefault(parents.get(name, ""), []).append(name)
    # Depth first, by hand: graphs may be nested deeper than Python's own calls.
    roots = below.get("", [])
    stack = [("", name, name is roots[-1] and not more) for name in reversed(roots)]
    while stack:
        guide, name, last = stack.pop()
        yield guide + ("└── " if last else "├── "), name
        inside = below.get(name, [])
        further = guide + ("    " if last else "│   ")
        stack += [(further, each, each is inside[-1]) for each in reversed(inside)]
