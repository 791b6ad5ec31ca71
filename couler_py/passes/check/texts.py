"""All the texts with expressions in them, wherever they stand in a template."""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Iterator
from typing import Any

import msgspec

from couler_py.ir.expr import Text
from couler_py.ir.model import Graph, Loop, Template
from couler_py.ir.pod import PodSettings

_NO_POD = PodSettings()


def texts(template: Template) -> Iterator[Text]:
    """The texts of a template's body, pod, files, cache, locks and metrics; not of the tasks of a graph."""
    if not isinstance(template.body, Graph | Loop):
        yield from texts_in(template.body)
    if template.pod != _NO_POD:
        yield from texts_in(template.pod)
    for artifact in template.inputs.artifacts:
        if artifact.storage is not None:
            yield from texts_in(artifact.storage)
    for output in template.outputs.artifacts:
        if output.storage is not None:
            yield from texts_in(output.storage)
    for parameter in template.inputs.parameters:
        if parameter.value_from is not None:
            yield from texts_in(parameter.value_from)
    for part in (template.cache, template.locks, template.metrics):
        if part:
            yield from texts_in(part)


def texts_in(value: Any) -> list[Text]:
    """The texts anywhere inside a part of the IR that isn't itself an expression."""
    found: list[Text] = []
    _add_texts(value, found)
    return found


def _add_texts(value: Any, found: list[Text]) -> None:
    if isinstance(value, Text):
        found.append(value)
    elif isinstance(value, tuple):
        for item in value:
            if not isinstance(item, str):
                _add_texts(item, found)
    elif isinstance(value, msgspec.Struct):
        for name in _fields(type(value)):
            inner = getattr(value, name)
            if inner and not isinstance(inner, str):
                _add_texts(inner, found)


@functools.cache
def _fields(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields of a struct that can hold a text: the others needn't be looked at."""
    hints = typing.get_type_hints(struct)
    return tuple(name for name in struct.__struct_fields__ if _can_hold(hints[name], frozenset()))


def _can_hold(hint: Any, seen: frozenset[Any]) -> bool:
    if hint is Text:
        return True
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        if hint in seen:
            return False
        hints = typing.get_type_hints(hint)
        return any(_can_hold(hints[name], seen | {hint}) for name in hint.__struct_fields__)
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is not None:
        return any(_can_hold(argument, seen) for argument in typing.get_args(hint))
    return False
