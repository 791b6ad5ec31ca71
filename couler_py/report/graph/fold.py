"""Fewer boxes where there are too many: alike tasks share one."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from couler_py.report.graph.scene import Link, Node, Scene


def fold(scene: Scene, limit: int) -> Scene:
    """The scene in at most `limit` boxes.

    First, tasks of one template between the same others (a fan-out written by hand) become one box;
    then all tasks of one template; then everything is one box.
    """
    if scene.count() <= limit:
        return scene
    flat = Scene(tuple(msgspec.structs.replace(node, inside=None) for node in scene.nodes), scene.links, scene.folded)
    for key in (_twins, _same_template, _everything):
        if flat.count() <= limit:
            break
        flat = _merge(flat, key(flat))
    return flat


def _kin(node: Node) -> tuple[str, str, str, str]:
    return (node.kind, node.template, node.condition, node.many)


def _twins(scene: Scene) -> Callable[[Node], object]:
    before: dict[str, set[tuple[str, str]]] = {node.id: set() for node in scene.nodes}
    after: dict[str, set[tuple[str, str]]] = {node.id: set() for node in scene.nodes}
    for link in scene.links:
        before[link.target].add((link.source, link.kind))
        after[link.source].add((link.target, link.kind))
    return lambda node: (_kin(node), frozenset(before[node.id]), frozenset(after[node.id]))


def _same_template(scene: Scene) -> Callable[[Node], object]:
    return lambda node: (node.kind, node.template)


def _everything(scene: Scene) -> Callable[[Node], object]:
    return lambda node: "all"


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
        first, label=f"{first.label} … {group[-1].label}", many=f"{count:,} tasks", kind="folded", title=names, state=""
    )


def _weight(node: Node) -> int:
    count = node.many.removesuffix(" tasks").replace(",", "")
    return int(count) if node.kind == "folded" and count.isdigit() else 1
