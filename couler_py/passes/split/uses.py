"""What tasks read of each other: the values that go over the border where the two are in different parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from couler_py.ir.expr import Expr, Input, InputArtifact, TaskArtifact, TaskOutput, walk
from couler_py.ir.graph import Shape
from couler_py.ir.meaning import value_expressions
from couler_py.ir.model import Task, Template
from couler_py.ir.types import ANY, Choice, DictOf, ListOf, Record, Scalar, Type, UnionOf


class Uses(msgspec.Struct, frozen=True):
    """By producer, the outputs and the files that a task or a graph's outputs read of it; each once, in reading order.

    A producer that is only waited for has none. `inputs` and `artifacts` are those of the graph around.
    """

    outputs: dict[str, dict[str, None]]
    files: dict[str, dict[str, None]]
    inputs: dict[str, None]
    artifacts: dict[str, None]


def uses_of(task: Task, shape: Shape) -> Uses:
    """What a task reads and waits for."""
    found = uses_in(value_expressions(task))
    for name in shape.producers[task.name]:
        found.outputs.setdefault(name, {})
    return found


def uses_in(expressions: Iterable[Expr]) -> Uses:
    """What some expressions of one graph read."""
    outputs: dict[str, dict[str, None]] = {}
    files: dict[str, dict[str, None]] = {}
    inputs: dict[str, None] = {}
    artifacts: dict[str, None] = {}
    for expr in expressions:
        for node in walk(expr):
            match node:
                case TaskOutput(task=task, name=name):
                    outputs.setdefault(task, {})[name] = None
                case TaskArtifact(task=task, name=name):
                    outputs.setdefault(task, {})
                    files.setdefault(task, {})[name] = None
                case Input(name=name):
                    inputs[name] = None
                case InputArtifact(name=name):
                    artifacts[name] = None
    return Uses(outputs, files, inputs, artifacts)


def joined(all_uses: Iterable[Uses]) -> Uses:
    """What several tasks read together."""
    found = Uses({}, {}, {}, {})
    for uses in all_uses:
        for mine, theirs in ((found.outputs, uses.outputs), (found.files, uses.files)):
            for task, names in theirs.items():
                mine.setdefault(task, {}).update(names)
        found.inputs.update(uses.inputs)
        found.artifacts.update(uses.artifacts)
    return found


def output_type(task: Task, name: str, templates: Mapping[str, Template]) -> Type:
    """The type of an output of a task, as its readers see it."""
    template = templates.get(task.call) if isinstance(task.call, str) else None
    known = {each.name: each.type for each in template.outputs.parameters} if template is not None else {}
    type_ = known.get(name, ANY)
    return ListOf(type_) if task.each is not None else type_


def zero(type_: Type) -> Any:
    """A value of a type, for where there is none: nobody reads it."""
    match type_:
        case Scalar(name=name):
            simple = {"str": "", "int": 0, "float": 0.0, "bool": False, "datetime": "1970-01-01T00:00:00+00:00"}
            return simple.get(name)
        case ListOf():
            return []
        case DictOf():
            return {}
        case Choice(values=values):
            return values[0]
        case UnionOf(options=options):
            return zero(options[0])
        case Record(fields=fields):
            return {field.name: zero(field.type) for field in fields if field.required}
