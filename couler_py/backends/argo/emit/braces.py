"""Double braces in fields of plain text, where nothing escapes them: Argo would fill in what they name."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, get_args

import msgspec

from couler_py.backends.argo.emission import Emission, place
from couler_py.ir.expr import Text
from couler_py.ir.model import (
    Graph,
    InputArtifact,
    Loop,
    OutputArtifact,
    OutputParameter,
    Parameter,
    Piece,
    Source,
    Template,
)
from couler_py.ir.pod import Templated

BESIDE = frozenset({"description", "success_condition", "failure_condition", "transformation", "manifest", "packages"})
"""Fields that never get there as they are, or that are written in Argo's own words."""

NAMED = (Parameter, OutputParameter, InputArtifact, OutputArtifact)
ENCODED = frozenset({"name", "global_name", "type", "value", "default", "enum"})
"""Their fields that get a name which is legal on Argo, or text that it leaves as it is."""


def check_braces(emission: Emission, template: Template) -> None:
    """Note every plain text of a template that Argo would change; what may hold values is seen to elsewhere."""
    if isinstance(template.body, Graph | Loop) or b"{{" not in msgspec.json.encode(template):
        return
    for part in (template.body, template.inputs, template.outputs, template.pod, template.locks):
        for where, text in _texts(part):
            if "{{" in text:
                emission.problem(
                    "CLR403",
                    f"{where} {text!r} holds {{{{, which Argo takes for a place to fill in",
                    why="only command, arguments and environment of a container can carry it",
                    help="choose a text without double braces here",
                    **place(template),  # type: ignore[arg-type]
                )


def check_settings(emission: Emission, settings: dict[str, Any]) -> None:
    """Note every text of a run's own settings that Argo would change: it fills in all of a `spec` but its templates."""
    for where, text in _strings(settings, ""):
        if "{{" in text:
            emission.problem(
                "CLR403",
                f"{where} of the workflow holds {{{{, which Argo takes for a place to fill in: {text!r}",
                step=emission.workflow.name,
                source=emission.workflow.source,
                why="nothing there can carry it",
                help="choose a text without double braces here",
            )


def _strings(value: Any, where: str) -> Iterator[tuple[str, str]]:
    """Every string in JSON data, names of members too, each with the path to it."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            path = f"{where}.{key}" if where else key
            yield path, key
            yield from _strings(inner, path)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _strings(inner, f"{where}[{number}]")


def _texts(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """The plain texts of a struct, each with the name of its field."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, tuple):
        for each in value:
            yield from _texts(each, where)
    elif isinstance(value, Templated):
        yield from ((where, key) for key in _keys(value.value))
    elif isinstance(value, msgspec.Struct) and not isinstance(value, Text | Piece | Source):
        skipped = ENCODED if isinstance(value, NAMED) else frozenset[str]()
        for name, mixed in _fields(type(value)):
            if name in BESIDE or name in skipped:
                continue
            inner = getattr(value, name)
            if not mixed:
                yield from _texts(inner, name)
            else:
                yield from _of_mixed(inner, name)


def _of_mixed(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """What is plain where texts may hold values: the first of a pair, and what isn't text but refers to some."""
    if isinstance(value, msgspec.Struct):
        yield from _texts(value, name)
    elif isinstance(value, tuple):
        for each in value:
            if isinstance(each, tuple):
                yield from _texts(each[0], name)
                yield from _of_mixed(each[1:], name)
            else:
                yield from _of_mixed(each, name)


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from _keys(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _keys(each)


@functools.cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, bool], ...]:
    """The fields of a struct, and whether each is text that may hold values."""
    return tuple((field.name, _mixed(field.type)) for field in msgspec.structs.fields(kind))


def _mixed(type_: Any) -> bool:
    return type_ is Text or any(_mixed(part) for part in get_args(type_))
