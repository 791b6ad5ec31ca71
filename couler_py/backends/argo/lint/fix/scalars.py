"""Scalars that readers differ on, numbers where text is wanted, and spaces in tags."""

from __future__ import annotations

import re
from collections.abc import Iterator

from couler_py.backends.argo.lint.context import strings
from couler_py.backends.argo.lint.fix.edits import Edit
from couler_py.backends.argo.lint.places import Node
from couler_py.backends.argo.lint.reading import Read
from couler_py.backends.argo.lint.refusals import IN_QUOTES
from couler_py.backends.argo.lint.structure import checked

# Only what Argo itself fills in: text for other programs may hold braces too.
_SPACED = re.compile(
    r"\{\{(?!=)\s*((?:inputs|outputs|workflow|tasks|steps|item|pod|node|retries|lastRetry|io)(?:\.[-\w.]+|\[[^\]{}]*\])*)"
    r"\s*\}\}"
)


def numbers_for_text(document: Read) -> Iterator[Edit]:
    """Numbers and booleans in fields of text, as they are written, in quotes."""
    places = document.section.places
    for finding in checked(document.data, "4", "minimal")[0]:
        if finding.help == IN_QUOTES:
            node = document.node(finding.path)
            if node is not None and _is_plain(node):
                yield Edit(node.start, node.end, f'"{places.text[node.start : node.end]}"')


def ambiguous_scalars(document: Read) -> Iterator[Edit]:
    """Ambiguous scalars as what Kubernetes reads. Keys stay: which field is meant, only a person knows."""
    if not document.ambiguous:
        return
    wanted_as_text = {edit.start for edit in numbers_for_text(document)}
    for scalar in document.ambiguous:
        if scalar.value is not None and scalar.start not in wanted_as_text:
            yield Edit(scalar.start, scalar.end, scalar.value)


def spaces_in_tags(document: Read) -> Iterator[Edit]:
    """`{{ x }}` as `{{x}}`, which is what Argo looks up."""
    for path, value in strings(document.data.get("spec"), ("spec",)):
        if "{{ " not in value and " }}" not in value:
            continue
        node = document.node(path)
        if node is None:
            continue
        for found in _SPACED.finditer(document.section.text, node.start, node.end):
            if found[0] != f"{{{{{found[1]}}}}}":
                yield Edit(found.start(), found.end(), f"{{{{{found[1]}}}}}")


def _is_plain(node: Node) -> bool:
    return node.plain and node.style == "" and not node.children and node.end > node.start
