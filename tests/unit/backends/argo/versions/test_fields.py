"""The table of fields is the whole difference between the schemas of Argo 4 and 3.5."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from couler_py.backends.argo.schema import PLURALS, schema
from couler_py.backends.argo.versions.fields import FIELDS, field_at

Place = tuple[tuple[str, ...], str]
MAPS_OF_METADATA = {"name", "generateName", "namespace", "labels", "annotations", "finalizers"}
"""What 3.5's CRDs say of metadata inside a document is only that it is an object; its controller reads these."""


def fields(node: dict[str, Any], parents: tuple[str, ...]) -> Iterator[Place]:
    """Every field of a schema: the names that it stands in, and its own."""
    for name, child in node.get("properties", {}).items():
        if name != "status":
            yield parents, name
            yield from fields(child, (*parents, name))
    for inner in ("items", "additionalProperties"):
        if isinstance(node.get(inner), dict):
            yield from fields(node[inner], parents)


def differences(kind: str) -> tuple[set[Place], set[Place]]:
    """The outermost fields that only 4 has, and that only 3.5 has."""
    new, old = (set(fields(schema(kind, crds), (kind,))) for crds in ("full", "full-3.5"))
    return outermost(new - old), outermost(old - new)


def outermost(places: set[Place]) -> set[Place]:
    ways = {(*parents, name) for parents, name in places}
    return {
        (parents, name)
        for parents, name in places
        if not any(parents[:length] in ways for length in range(1, len(parents) + 1))
    }


@pytest.mark.parametrize("kind", PLURALS)
def test_every_field_that_only_4_has_stands_in_the_table(kind: str) -> None:
    only_new, _ = differences(kind)
    missing = {
        ".".join((*parents, name))
        for parents, name in only_new
        if field_at(parents, name) is None
        and not (parents[-1] in ("metadata", "workflowMetadata") and name in MAPS_OF_METADATA)
    }
    # In steps, 3.5's CRDs say nothing about a step's fields; its controller reads those of a task but `depends`.
    assert {each for each in missing if ".steps." not in each} == set()


@pytest.mark.parametrize("kind", PLURALS)
def test_no_field_that_both_have_stands_in_the_table(kind: str) -> None:
    both = set(fields(schema(kind, "full"), (kind,))) & set(fields(schema(kind, "full-3.5"), (kind,)))
    assert {".".join((*parents, name)) for parents, name in both if field_at(parents, name) is not None} == set()


def test_every_row_of_the_table_is_met_in_a_schema() -> None:
    met = {
        field_at(parents, name)
        for kind in PLURALS
        for crds in ("full", "full-3.5")
        for parents, name in fields(schema(kind, crds), (kind,))
    }
    inline = {each for each in FIELDS if each.place.startswith("inline.")}  # its schema is open
    before_4 = {each for each in FIELDS if each.place in ("mutex.database", "semaphore.database")}  # of 3.7 alone
    assert set(FIELDS) - met == inline | before_4


def test_what_only_3_5_has_is_what_raising_knows() -> None:
    found = {name for kind in PLURALS for _, name in differences(kind)[1]}
    assert found == {"schedule", "mutex", "semaphore", "podPriority", "priority", "key", "optional"}
