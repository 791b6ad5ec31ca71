"""Fields that Argo took away, where another says the same."""

from __future__ import annotations

from collections.abc import Iterator

from couler_py.backends.argo.lint.finding import Path
from couler_py.backends.argo.lint.fix.edits import Edit, value_edits, without_entry
from couler_py.backends.argo.lint.places import Node, Places
from couler_py.backends.argo.lint.reading import Read
from couler_py.backends.argo.lint.structure import checked
from couler_py.backends.argo.lint.versions import LISTS


def fields(document: Read) -> Iterator[Edit]:
    """The edits that replace removed fields of a document."""
    places = document.section.places
    for finding in checked(document.data, "4", "minimal")[0]:
        if finding.code == "CLR425":
            yield from _edits(places, document, finding.path)


def _edits(places: Places, document: Read, path: Path) -> list[Edit]:
    mapping, field = document.node(path[:-1]), str(path[-1])
    if mapping is None or field not in mapping.keys:
        return []
    new = LISTS.get(field)
    if new is not None:
        return value_edits(places, mapping, field, new) or [] if new not in mapping.children else []
    if field == "ttlSecondsAfterFinished" and "ttlStrategy" not in mapping.children:
        return _ttl(places, mapping, field)
    if path[-2:-1] == ("configMap",):
        return without_entry(places, mapping, field) or []
    return []


def _ttl(places: Places, mapping: Node, field: str) -> list[Edit]:
    value, (start, end) = mapping.children[field], mapping.keys[field]
    if not value.plain or value.children or value.start == value.end:
        return []
    if mapping.flow:
        text = f"ttlStrategy: {{secondsAfterCompletion: {places.text[value.start : value.end]}}}"
        return [Edit(start, value.end, text)]
    line = places.text.rfind("\n", 0, start) + 1
    return [Edit(start, end, f"ttlStrategy:\n{' ' * (start - line + 2)}secondsAfterCompletion")]
