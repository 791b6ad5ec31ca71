"""Fewer boxes where there are too many: alike tasks share one."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from couler_py.report.graph.scene import Link, Node, Scene
from couler_py.report.graph.states import added, worst

BETWEEN = " … "


def fold(scene: Scene, limit: int) -> Scene:
    """The scene in at most `limit` boxes.

    First, tasks of one template between the same others (a fan-out written by hand) become one box; then
    tasks of one template on neighbouring levels, as few levels together as needed; then everything is one box.
    """
    if scene.count() <= limit:
        return scene
    flat = Scene(tuple(msgspec.structs.replace(node, inside=None) for node in scene.nodes), scene.links, scene.folded)
    if flat.count() > limit:
        flat = _merge(flat, _twins(flat))
    together, alike = 1, flat
    levels = _levels(flat)
    while flat.count() > limit and together <= max(levels.values()):
        flat = _merge(alike, _neighbours(levels, together))
        together *= 2
    return flat if flat.count() <= limit else _merge(flat, lambda node: "all")


def _kin(node: Node) -> tuple[str, ...]:
    # In the picture of a run, a task that failed is never hidden among those that didn't.
    return (node.kind, node.template, node.condition, node.many, node.state)


def _twins(scene: Scene) -> Callable[[Node], object]:
    before: dict[str, set[tuple[str, str]]] = {node.id: set() for node in scene.nodes}
    after: dict[str, set[tuple[str, str]]] = {node.id: set() for node in scene.nodes}
    for link in scene.links:
        before[link.target].add((link.source, link.kind))
        after[link.source].add((link.target, link.kind))
    return lambda node: (_kin(node), frozenset(before[node.id]), frozenset(after[node.id]))


def _neighbours(levels: dict[str, int], together: int) -> Callable[[Node], object]:
    return lambda node: (node.template, node.state, levels[node.id] // together)


def _levels(scene: Scene) -> dict[str, int]:
    """The length of the longest path to each box. Scenes of workflows have no cycles."""
    waiting = {node.id: 0 for node in scene.nodes}
    after: dict[str, list[str]] = {node.id: [] for node in scene.nodes}
    for link in scene.links:
        waiting[link.target] += 1
        after[link.source].append(link.target)
    levels = dict.fromkeys(waiting, 0)
    ready = [name for name, count in waiting.items() if not count]
    for name in ready:
        for other in after[name]:
            levels[other] = max(levels[other], levels[name] + 1)
            waiting[other] -= 1
            if not waiting[other]:
                ready.append(other)
    return levels


def _merge(scene: Scene, key: Callable[[Node], object]) -> Scene:
    groups: dict[object, list[Node]] = {}
    for node in scene.nodes:
        groups.setdefault(key(node), []).append(node)
    home = {node.id: group[0].id for group in groups.values() for node in group}
    links: dict[Link, None] = {}
    for link in scene.links:
        source, target = home[link.source], home[link.target]
        if source != target:
            links[Link(source, target, link.kind)] = None
    nodes = tuple(_together(group) for group in groups.values())
    return Scene(nodes, tuple(links), scene.folded + len(scene.nodes) - len(nodes))


def _together(group: list[Node]) -> Node:
    first = group[0]
    if len(group) == 1:
        return first
    count = sum(_weight(node) for node in group)
    names = ", ".join(node.label for node in group[:20]) + (", …" if len(group) > 20 else "")
    return msgspec.structs.replace(
        first,
        label=f"{first.label.split(BETWEEN)[0]}{BETWEEN}{group[-1].label.split(BETWEEN)[-1]}",
        many=f"{count:,} tasks",
        kind="folded",
        title=names,
        state=worst(node.state for node in group),
        tally=added(node.tally for node in group),
    )


def _weight(node: Node) -> int:
    count = node.many.removesuffix(" tasks").replace(",", "")
    return int(count) if node.kind == "folded" and count.isdigit() else 1
