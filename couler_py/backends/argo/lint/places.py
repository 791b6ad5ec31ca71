"""Lines and columns of what a path leads to: a second parse, made only for a document with findings."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import msgspec

from couler_py.backends.argo.lint.finding import Path
from couler_py.backends.argo.lint.scalars import indices
from couler_py.backends.argo.lint.versions import LISTS
from couler_py.backends.yaml_reader import Reader, YamlError

_OLD: dict[str | int, str] = {new: old for old, new in LISTS.items()}
"""Where a field is in a text of an older version that rules see under its new name."""


class Place(msgspec.Struct, frozen=True, order=True):
    """A place in a text; all count from 1. `end` is the column behind it, 0 where it ends on another line."""

    line: int
    column: int
    end: int = 0


class Node:
    """What stands at one path: its extent in the text as indices, and its children.

    A `plain` node is written where it stands: no anchor, tag or alias. `flow` are collections in brackets.
    """

    __slots__ = ("children", "end", "flow", "keys", "plain", "start", "style", "value")

    def __init__(self, start: int, end: int, *, plain: bool = True, style: str = "", value: str = "") -> None:
        self.start, self.end, self.plain, self.flow = start, end, plain, False
        self.style, self.value = style, value
        self.keys: dict[str, tuple[int, int]] = {}
        self.children: dict[str | int, Node] = {}


class Repeated(msgspec.Struct, frozen=True):
    """A key that stands twice in a mapping: where first, and where again."""

    key: str
    first: Place
    again: Place


class Places:
    """The places of one YAML text, of all its documents. What can't be parsed ends it; what stood before has places."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.documents: list[Node] = []
        self.repeated: list[Repeated] = []
        self._lines = _line_starts(text)
        self._anchors: dict[str, Node] = {}
        self._names: dict[str, str] = {}
        """Keys met before: most are the same few words."""
        self._characters: dict[int, Sequence[int]] = {}
        """By the start of a scalar where each character of its value stands, worked out once for all who ask."""
        try:
            self._read(Reader(text))
        except YamlError:
            return  # reading the data says what is wrong

    def find(self, document: int, path: Path, *, key: bool = False, offset: int = 0) -> Place:
        """The place that a path leads to in a document; of a path that leads nowhere, where it leaves the text."""
        if document >= len(self.documents):
            return Place(1, 1)
        node = self.documents[document]
        at: tuple[int, int] | None = None
        steps = iter(path)
        for step in steps:
            if step not in node.children and _OLD.get(step) in node.children:
                step = _OLD[step]
                next(steps, None)  # the list that rules see has one item
            if step not in node.children:
                break
            at = node.keys[step] if isinstance(step, str) else None
            node = node.children[step]
        else:
            if offset and not key:
                start = node.start + self._index(node, offset)
                return self.place(start, start if node.style in ("|", ">") else node.end)
        if at is not None and (key or node.children or node.start == node.end):
            return self.place(*at)
        return self.place(node.start, node.end)

    def node(self, document: int, path: Path) -> Node | None:
        """What a path leads to; None where it leaves the text."""
        node: Node | None = self.documents[document] if document < len(self.documents) else None
        for step in path:
            node = node and node.children.get(step)
        return node

    def place(self, start: int, end: int) -> Place:
        """The place of a piece of the text."""
        line = bisect_right(self._lines, start) - 1
        line_start = self._lines[line]
        same = end > start and (line + 1 == len(self._lines) or end < self._lines[line + 1])
        return Place(line + 1, start - line_start + 1, end - line_start + 1 if same else 0)

    def _index(self, node: Node, offset: int) -> int:
        """How far into the text of a scalar a character of its value stands."""
        found = self._characters.get(node.start)
        if found is None:
            found = indices(self.text[node.start : node.end], node.style, node.value)
            self._characters[node.start] = found
        return found[min(offset, len(found) - 1)]

    def _read(self, reader: Reader) -> None:
        yaml = reader.yaml
        try:
            for event in reader.events:
                if isinstance(event, yaml.DocumentStartEvent):
                    self._anchors.clear()
                    self.documents.append(self._node(next(reader.events), reader))
        except yaml.MarkedYAMLError:
            return  # reading the data says what is wrong

    def _node(self, event: Any, reader: Reader) -> Node:
        yaml = reader.yaml
        kind = type(event)
        start, end = event.start_mark.index, event.end_mark.index
        if kind is yaml.AliasEvent:
            return self._anchors.get(event.anchor) or Node(start, end, plain=False)
        plain = event.anchor is None and event.tag is None
        if kind is yaml.ScalarEvent:
            node = Node(start, end, plain=plain, style=event.style or "", value=event.value)
        else:
            node = Node(start, end, plain=plain)
            node.flow = event.flow_style
            if kind is yaml.SequenceStartEvent:
                self._items(node, reader)
            else:
                self._members(node, reader)
        if event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _items(self, node: Node, reader: Reader) -> None:
        last = reader.yaml.SequenceEndEvent
        for index, event in enumerate(reader.events):
            if type(event) is last:
                node.end = max(node.end, event.end_mark.index)
                return
            node.children[index] = self._node(event, reader)

    def _members(self, node: Node, reader: Reader) -> None:
        merged: list[Node] = []
        last, events = reader.yaml.MappingEndEvent, reader.events
        for event in events:
            if type(event) is last:
                node.end = max(node.end, event.end_mark.index)
                break
            key = self._key(event, reader)
            value = self._node(next(events), reader)
            if key == "<<" and event.implicit[0]:
                merged.extend(value.children.values() if 0 in value.children else [value])
                continue
            if key is None:
                continue
            at = (event.start_mark.index, event.end_mark.index)
            if key in node.keys:
                self.repeated.append(Repeated(key, self.place(*node.keys[key]), self.place(*at)))
            node.keys[key], node.children[key] = at, value
        for source in merged:
            for name, inner in source.children.items():
                if isinstance(name, str) and name not in node.children:
                    node.keys[name], node.children[name] = source.keys[name], inner

    def _key(self, event: Any, reader: Reader) -> str | None:
        """The key as the data has it; None for one that data can't have (reading refuses it)."""
        if type(event) is not reader.yaml.ScalarEvent:
            self._node(event, reader)
            return None
        if event.anchor is None and event.tag is None and event.value in self._names:
            return self._names[event.value]
        if event.value == "<<" and event.implicit[0]:
            return "<<"
        try:
            key = reader.key(event, 0)
        except YamlError:
            return None
        if key == event.value:
            self._names[key] = key  # text, in quotes or not
        return key


def _line_starts(text: str) -> list[int]:
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts
