"""A workflow without the places where it was written: what printing keeps."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from couler_py.ir.model import IncludeArchive, Piece, Source, Workflow

Part = TypeVar("Part")


def unplaced(part: Part) -> Part:
    """The same part of the IR with no file and line in it, so that two that differ only in these are equal."""
    return _unplaced(part)  # type: ignore[no-any-return]


def same(one: Workflow, other: Workflow) -> bool:
    """Whether two workflows are the same but for places, and for the order of their templates, which means nothing."""
    return _sorted(one) == _sorted(other)


def _sorted(workflow: Workflow) -> Workflow:
    found = unplaced(workflow)
    templates = tuple(sorted(found.templates, key=lambda template: template.name))
    return msgspec.structs.replace(found, templates=templates)


def _unplaced(value: Any) -> Any:
    if isinstance(value, Piece):
        return Piece(value.text)
    if isinstance(value, IncludeArchive):
        return msgspec.structs.replace(value, root="")
    if isinstance(value, tuple):
        return tuple(_unplaced(item) for item in value)
    if not isinstance(value, msgspec.Struct):
        return value
    changed = {
        name: None if isinstance(old, Source) else _unplaced(old)
        for name in value.__struct_fields__
        if isinstance(old := getattr(value, name), Source | tuple | msgspec.Struct)
    }
    return msgspec.structs.replace(value, **changed)
