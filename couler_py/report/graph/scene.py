"""What a picture of a workflow shows: boxes, boxes in boxes, and lines between them."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

LinkKind: TypeAlias = Literal["order", "value", "on_failure", "always", "first"]


class Link(msgspec.Struct, frozen=True):
    """A line from the box `source` to the box `target` of the same scene."""

    source: str
    target: str
    kind: LinkKind = "order"


class Node(msgspec.Struct, frozen=True):
    """A box. `id` is unique in its scene, and never shown.

    `note` is a second, quieter line; `kind` chooses the colour (the tag of a body, or "folded");
    `template` is what it runs; `condition` is a guard; `many` draws a stack of boxes; `inside` is what the box holds;
    `title` is the long form. Of a run, `path` is the task that the box stands for, `state` how it stands, and `tally`
    how many of the tasks behind it are in each state.
    """

    id: str
    label: str
    note: str = ""
    kind: str = ""
    template: str = ""
    condition: str = ""
    many: str = ""
    title: str = ""
    state: str = ""
    path: str = ""
    tally: tuple[tuple[str, int], ...] = ()
    inside: Scene | None = None


class Scene(msgspec.Struct, frozen=True):
    """Boxes in program order, and the lines between them. `folded` counts tasks that share a box with others."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...] = ()
    folded: int = 0

    def count(self) -> int:
        """How many boxes there are, those inside others too."""
        return sum(1 + (node.inside.count() if node.inside else 0) for node in self.nodes)
