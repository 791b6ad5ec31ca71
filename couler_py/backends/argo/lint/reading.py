"""Reading a text for the linter: the data of every document that can be read, and what is wrong with the others."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from typing import Any

import msgspec

from couler_py.backends.argo.lint.ambiguous import Ambiguous, ambiguous, suspicious
from couler_py.backends.argo.lint.finding import Path
from couler_py.backends.argo.lint.places import Node, Place, Places
from couler_py.backends.yaml_reader import Reader, YamlError, load_all

# Three dashes in the first column begin a document wherever they stand, in a block of text too.
_MARKER = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)


class Broken(msgspec.Struct, frozen=True):
    """Text that is no YAML, or that Kubernetes refuses to read; `first` is where a repeated key stands first."""

    problem: str
    place: Place
    first: Place | None = None


class Section:
    """A part of the text that is parsed by itself: all of it, or one document where others can't be read."""

    def __init__(self, text: str, lines: int) -> None:
        self.text = text
        self.lines = lines
        """How many lines of the file stand before it."""

    @cached_property
    def places(self) -> Places:
        return Places(self.text)

    @cached_property
    def ambiguous(self) -> dict[int, list[Ambiguous]]:
        """The scalars that readers of YAML differ on, by the number of their document, in their order."""
        found: dict[int, list[Ambiguous]] = {}
        for scalar in ambiguous(self.text) if suspicious(self.text) else ():
            found.setdefault(scalar.document, []).append(scalar)
        return found

    def find(self, document: int, path: Path, *, key: bool = False, offset: int = 0) -> Place:
        """A place of the section's document of this number, as the file counts lines."""
        return self.moved(self.places.find(document, path, key=key, offset=offset))

    def moved(self, place: Place) -> Place:
        return msgspec.structs.replace(place, line=place.line + self.lines)


class Read(msgspec.Struct, frozen=True):
    """A document: its data, the part of the text that it stands in, its number there, and where in that it begins."""

    data: Any
    section: Section
    number: int
    prefix: Path = ()

    def find(self, path: Path, *, key: bool = False, offset: int = 0) -> Place:
        """Where in the file a path leads."""
        return self.section.find(self.number, (*self.prefix, *path), key=key, offset=offset)

    def node(self, path: Path) -> Node | None:
        """What a path leads to in the text; None where it leaves it."""
        return self.section.places.node(self.number, (*self.prefix, *path))

    @property
    def ambiguous(self) -> list[Ambiguous]:
        """The scalars of this document that readers of YAML differ on, in their order."""
        found = self.section.ambiguous.get(self.number, [])
        if not found or not self.prefix:
            return found
        node = self.node(())
        first, last = (
            (bisect_left(found, end, key=lambda each: each.start) for end in (node.start, node.end)) if node else (0, 0)
        )
        return found[first:last]

    def written(self, path: Path) -> str:
        """What stands in the text where a path leads."""
        node = self.node(path)
        return self.section.text[node.start : node.end] if node else ""


class Reading(msgspec.Struct, frozen=True):
    """What a text holds: the documents that can be read, and what is wrong with the others."""

    documents: list[Read]
    broken: list[Broken]

    @property
    def data(self) -> list[Any]:
        return [each.data for each in self.documents]


class _Lenient(Reader):
    """Reads on where a key stands twice."""

    def repeated(self, key: str, event: Any) -> None:
        pass


def read(text: str) -> Reading:
    """The documents of a text that can be read, and what is wrong with the others.

    Empty documents are left out. One with a key that stands twice is among both. A byte order mark is no part of it.
    """
    text = text.removeprefix("\ufeff")
    whole = Section(text, 0)
    try:
        return Reading(_documents(load_all(text), whole), [])
    except YamlError:
        pass  # found again below, by document
    documents: list[Read] = []
    broken: list[Broken] = []
    for section in _sections(text):
        try:
            documents += _documents([data for data, _ in _Lenient(section.text).documents()], section)
        except YamlError as error:
            broken.append(Broken(error.problem, section.moved(Place(error.line, error.column))))
        broken += [
            Broken(
                f"the key {each.key!r} stands twice in this mapping",
                section.moved(each.again),
                section.moved(each.first),
            )
            for each in section.places.repeated
        ]
    return Reading(documents, broken)


def _documents(data: list[Any], section: Section) -> list[Read]:
    found = []
    for number, each in enumerate(data):
        if isinstance(each, dict) and each.get("kind") == "List" and isinstance(each.get("items"), list):
            # What `kubectl get -o yaml` prints.
            found += [Read(item, section, number, ("items", index)) for index, item in enumerate(each["items"])]
        elif each is not None:
            found.append(Read(each, section, number))
    return found


def _sections(text: str) -> list[Section]:
    starts = [match.start() for match in _MARKER.finditer(text)]
    if not starts or text[: starts[0]].strip():
        starts = [0, *(start for start in starts if start)]
    ends = [*starts[1:], len(text)]
    return [Section(text[start:end], text.count("\n", 0, start)) for start, end in zip(starts, ends, strict=True)]
