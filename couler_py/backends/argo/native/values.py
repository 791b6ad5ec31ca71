"""What a person gives, as plain JSON data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from couler_py.dsl.problems import fail, problem


class Null:
    """A field without a value: `argo.null`. (None leaves a field out.)"""

    def __repr__(self) -> str:
        return "argo.null"


null: Any = Null()
"""A field that is written without a value, as YAML has it in `arguments:`. Argo and Kubernetes read it as left out."""


def plain(value: Any, place: str = "") -> Any:
    """The value as dicts, lists and plain text: what every writer takes. References and names become their text.

    Raises `RecordingError` (CLR191) for what JSON can't say, naming its `place`.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Null):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return {_key(key, place): plain(item, f"{place}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, f"{place}[{number}]") for number, item in enumerate(value)]
    raise problem(
        "CLR191",
        f"{place or 'a value'} is a {type(value).__name__}, which Argo's documents can't hold",
        help="give text, numbers, lists and dicts; write a path or a date as text",
    )


def as_text(value: Any, place: str) -> str:
    """The value of a parameter: text as it is, everything else as its JSON text, since Argo's parameters are text."""
    found = plain(value, place)
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def _key(key: Any, place: str) -> str:
    if not isinstance(key, str):
        fail("CLR191", f"{place or 'a value'} has the key {key!r}", help="keys are text: write it in quotes")
    return str.__str__(key)
