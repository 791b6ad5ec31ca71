"""The tree of a pattern."""

from __future__ import annotations

import msgspec

from couler_py.argolang.functions.regex.classes import Set


class One(msgspec.Struct, frozen=True):
    """One character of a set."""

    of: Set


class Place(msgspec.Struct, frozen=True):
    """A place that must be there: begin or end of the text or of a line, a boundary of a word or none."""

    kind: str


class Capture(msgspec.Struct, frozen=True):
    """A group with a number."""

    number: int
    body: Tree


class Joined(msgspec.Struct, frozen=True):
    """One after the other."""

    items: tuple[Tree, ...]


class Either(msgspec.Struct, frozen=True):
    """The first that fits."""

    items: tuple[Tree, ...]


class Repeated(msgspec.Struct, frozen=True):
    """`least` to `most` times (None: any number), as many as fit, or with `lazy` as few."""

    body: Tree
    least: int
    most: int | None
    lazy: bool


Tree = One | Place | Capture | Joined | Either | Repeated
