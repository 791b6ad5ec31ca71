"""Edits of a YAML text, made so that they hold in block style and in brackets alike."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

import msgspec

from couler_py.backends.argo.lint.places import Node, Places


class Edit(msgspec.Struct, frozen=True, order=True):
    """Text between two indices, and what stands there instead. Edits of one `group` are made together or not at all."""

    start: int
    end: int
    text: str
    group: int = 0


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits made; of groups that overlap, the one that begins first is."""
    groups: dict[int, list[Edit]] = {}
    for edit in sorted(set(edits)):
        groups.setdefault(edit.group or -edit.start - 1, []).append(edit)
    taken: list[Edit] = []
    for group in sorted(groups.values(), key=lambda group: group[0].start):
        if not any(_overlaps(edit, taken) for edit in group):
            for edit in group:
                insort(taken, edit)
    line_break = "\r\n" if "\r\n" in text else "\n"
    parts: list[str] = []
    position = 0
    for edit in taken:
        parts += (text[position : edit.start], edit.text.replace("\n", line_break))
        position = edit.end
    return "".join((*parts, text[position:]))


def _overlaps(edit: Edit, taken: list[Edit]) -> bool:
    """Whether an edit overlaps one of those in order, none of which overlaps another: so the last before its end."""
    before = bisect_left(taken, edit.end, key=lambda each: each.start)
    return before > 0 and taken[before - 1].end > edit.start


def column(text: str, index: int) -> int:
    """How far from the beginning of its line an index is."""
    return index - (text.rfind("\n", 0, index) + 1)


def value_edits(places: Places, mapping: Node, key: str, new_key: str) -> list[Edit] | None:
    """Rename a key, and make its value the only item of a list.

    None where the value is written elsewhere (an alias), has an anchor or a tag, is empty, or is text of several lines.
    """
    text, value, (start, end) = places.text, mapping.children[key], mapping.keys[key]
    if not value.plain or value.start == value.end or not start < value.start:
        return None
    rename = Edit(start, end, new_key, start + 1)
    if mapping.flow or value.flow:
        return [rename, Edit(value.start, value.start, "[", start + 1), Edit(value.end, value.end, "]", start + 1)]
    if not value.children:
        if value.style in ("|", ">") or "\n" in text[value.start : value.end]:
            return None
        dash = "\n" + " " * column(text, start) + "- "
        gap = text.rfind(":", end, value.start) + 1
        return [rename, Edit(gap, value.start, dash, start + 1)]
    return [rename, *_dashed(text, value, column(text, start), start + 1)]


def _dashed(text: str, value: Node, parent: int, group: int) -> list[Edit]:
    """A block mapping as the item of a list: the dash takes the place of two spaces, or all lines move by some."""
    inner = column(text, value.start)
    missing = max(parent + 2 - inner, 0)
    line = value.start - inner
    edits = [Edit(value.start - min(2, inner - parent), value.start, "- ", group)]
    last = last_index(value)
    while missing and (line := text.find("\n", line, last) + 1):
        edits.append(Edit(line, line, " " * missing, group))
    return edits


def without_entry(places: Places, mapping: Node, key: str) -> list[Edit] | None:
    """Take a field away with its line; None where it shares its line, or is alone in its mapping."""
    text, value, (start, _) = places.text, mapping.children[key], mapping.keys[key]
    if mapping.flow or len(mapping.children) < 2 or not value.plain or value.end < start:
        return None
    line = start - column(text, start)
    if text[line:start].strip():
        return None  # behind the dash of an item
    last = max(last_index(value), start)
    end = text.find("\n", last) + 1 or len(text)
    return [Edit(line, end, "", start + 1)]


def last_index(node: Node) -> int:
    """The last character of a node, without the line breaks and comments that a parser counts with it."""
    if node.flow or not node.children:
        return node.end - 1
    return last_index(list(node.children.values())[-1])
