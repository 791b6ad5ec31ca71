"""A scene as Mermaid text (mermaid.js.org), for Markdown that draws it: GitHub, GitLab, mkdocs."""

from __future__ import annotations

from collections.abc import Iterator

from couler_py.report.graph.scene import LinkKind, Node, Scene
from couler_py.report.text import cut

ARROWS: dict[LinkKind, str] = {
    "value": "-->",
    "order": "-.->",
    "first": "-->|first|",
    "on_failure": "-.->|on failure|",
    "always": "-.->|always|",
}


def mermaid(scene: Scene) -> str:
    """The picture as a flowchart. Ids are numbers of ours; users' text stands only in quoted labels."""
    return "\n".join(["flowchart TD", *_lines(scene, "n", "  ")]) + "\n"


def _lines(scene: Scene, prefix: str, indent: str) -> Iterator[str]:
    ids = {node.id: f"{prefix}{number}" for number, node in enumerate(scene.nodes)}
    for node in scene.nodes:
        yield from _node(node, ids[node.id], indent)
    for link in scene.links:
        yield f"{indent}{ids[link.source]} {ARROWS[link.kind]} {ids[link.target]}"


def _node(node: Node, name: str, indent: str) -> Iterator[str]:
    label = "<br>".join(text(part) for part in _labels(node))
    if node.inside is not None and node.inside.nodes:
        yield f'{indent}subgraph {name}["{label}"]'
        yield from _lines(node.inside, f"{name}_", indent + "  ")
        yield f"{indent}end"
        return
    left, right = ("[[", "]]") if node.many else ("{{", "}}") if node.condition else ("[", "]")
    yield f'{indent}{name}{left}"{label}"{right}'


def _labels(node: Node) -> Iterator[str]:
    yield cut(node.label, 60)
    if node.many or node.note:
        yield cut(" · ".join(part for part in (node.many, node.note) if part), 60)
    if node.condition:
        yield cut(f"if {node.condition}", 60)


def text(label: str) -> str:
    """A text inside a quoted label: what Mermaid or Markdown could read as theirs is a numeric entity.

    >>> text('a "b" <c>')
    'a #34;b#34; #60;c#62;'
    """
    return "".join(char if char.isalnum() or char in " .,-_/:=×…·" else f"#{ord(char)};" for char in label)
