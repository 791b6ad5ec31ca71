"""JSON values in Kubernetes' words, with the strings that an engine fills in put where they belong."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeAlias

from couler_py.ir.expr import TextLike
from couler_py.ir.pod import Templated

Render: TypeAlias = Callable[[TextLike], str]
"""Gives an engine's text for a string that may hold expressions."""


def plain(text: TextLike) -> str:
    """A `Render` for places where no engine fills anything in. Raises `ValueError` for a text with expressions."""
    if isinstance(text, str):
        return text
    raise ValueError("a string with values in it can't stand here")


def templated(given: Templated, render: Render) -> Any:
    """The JSON value, every string rendered: those with expressions by their pointer, plain ones where they stand."""
    pointers = {substitution.pointer for substitution in given.texts}
    value = _rendered(given.value, render, "", pointers)
    for substitution in given.texts:
        value = _replaced(value, _steps(substitution.pointer), render(substitution.text))
    return value


def _rendered(value: Any, render: Render, pointer: str, skip: set[str]) -> Any:
    if isinstance(value, str):
        return value if pointer in skip else render(value)
    if isinstance(value, dict):
        return {key: _rendered(item, render, f"{pointer}/{_escaped(key)}", skip) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rendered(item, render, f"{pointer}/{index}", skip) for index, item in enumerate(value)]
    return copy.copy(value)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _steps(pointer: str) -> list[str]:
    """The parts of a JSON pointer (RFC 6901)."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _replaced(value: Any, steps: list[str], text: str) -> Any:
    if not steps:
        return text
    inner = value
    for step in steps[:-1]:
        inner = inner[int(step)] if isinstance(inner, list) else inner[step]
    last = steps[-1]
    inner[int(last) if isinstance(inner, list) else last] = text
    return value
