"""The arguments of a call, checked against the inputs of the template that it calls."""

from __future__ import annotations

import pathlib
from typing import Any

import msgspec

from couler_py.dsl.conversions import ValueMismatchError, to_wire
from couler_py.dsl.frames import WHAT, Frame, FrameItem, Node, Reference, Scoped, home, is_expression, leaves
from couler_py.dsl.lifting import holds_placeholder, lift
from couler_py.dsl.placeholder import Placeholder, expression
from couler_py.dsl.problems import RecordingError, fail, problem
from couler_py.ir import expr as ir
from couler_py.ir.model import InputArtifact, Parameter, Source, Template
from couler_py.ir.storage import LocalPath, Storage
from couler_py.ir.types import Type, accepts, describe


class ArgumentError(RecordingError, TypeError):
    """An argument of a call is missing, unknown, or of the wrong type."""


def bind(node: Node, template: Template, arguments: Any) -> None:
    """Give a task its arguments. Raises `ArgumentError` for those that don't fit the template's inputs."""
    given = 0
    for parameter in template.inputs.parameters:
        name = parameter.name
        if name in arguments:
            given += 1
            node.arguments[name] = _argument(node, parameter, arguments[name])
        elif parameter.default is msgspec.UNSET and parameter.value_from is None:
            _missing(node, template, name)
    for artifact in template.inputs.artifacts:
        name = artifact.name
        if name in arguments:
            given += 1
            value = file_argument(node, artifact, arguments[name])
            if value is not None:
                node.artifacts[name] = value
        elif not artifact.optional and artifact.storage is None:
            _missing(node, template, name)
    if given != len(arguments):
        _unknown(node, template, arguments)


def _argument(node: Node, parameter: Parameter, value: Any) -> Any:
    if isinstance(value, Placeholder) or holds_placeholder(value):
        expr, type_ = expression(value) if isinstance(value, Placeholder) else _pair(value)
        if type_ is None:
            _mismatch(node, parameter.name, "a value", f"{value!r}, a file or folder", value)
        elif type_ != parameter.type and not accepts(parameter.type, type_):
            _mismatch(node, parameter.name, describe(parameter.type), describe(type_), value)
        check_reach(expr, node)
        return expr
    try:
        return ir.Literal(to_wire(parameter.type, value))
    except ValueMismatchError as problem:
        fail(
            "CLR148",
            f"the argument {parameter.name!r} doesn't fit: {problem}",
            source=node.source,
            step=node.base,
            kind=ArgumentError,
        )


def _pair(value: Any) -> tuple[Any, Type | None]:
    lifted = lift(value)
    return lifted.expr, lifted.type


def file_argument(node: Node, artifact: InputArtifact, value: Any) -> Any:
    """The expression or the place in storage that a file argument stands for; None where it is left out."""
    if value is None and artifact.optional:
        return None
    if isinstance(value, Placeholder):
        lifted = lift(value)
        if lifted.type is not None:
            _mismatch(node, artifact.name, "a file or folder (Path)", describe(lifted.type), value)
        check_reach(lifted.expr, node)
        return lifted.expr
    if isinstance(value, pathlib.PurePath):
        return LocalPath(str(value))
    if isinstance(value, Storage):
        return value
    if is_expression(value):
        return value
    raise problem(
        "CLR148",
        f"the argument {artifact.name!r} wants a file or folder, not {value!r}",
        source=node.source,
        step=node.base,
        help="give the output of a step that returns a Path, a pathlib.Path, or a place in storage",
        kind=ArgumentError,
    )


def check_reach(expr: Any, node: Node) -> None:
    """Raise `RecordingError` where a task can't read a value because of the graph that it belongs to."""
    frame = node.frame
    if type(expr) is Reference and expr.node.frame is frame:
        return
    for leaf in leaves(expr):
        _check_leaf(leaf, frame, node.source)
        if isinstance(leaf, Scoped):
            check_reach(leaf.expr, node)


def _check_leaf(leaf: Any, frame: Frame, source: Source | None) -> None:
    owner = home(leaf)
    ended = isinstance(leaf, FrameItem) and leaf.frame.closed
    if frame.within(owner) and not ended:
        return
    if owner.recorder is not frame.recorder:
        fail("CLR149", f"{_what(leaf)} belongs to another workflow", source=source)
    if isinstance(leaf, FrameItem):
        fail(
            "CLR149",
            "the item of couler.map exists only inside the function that it maps",
            source=source,
            help="return what you need of it from the function, or use `.inputs` of what couler.map returns",
        )
    if _root(frame).kind == "handler":
        fail(
            "CLR150",
            f"a handler can't read {_what(leaf)}",
            source=source,
            why="handlers run when the run has ended, whatever became of its tasks; they see parameters, "
            "couler.run_info and published values",
            help='in the workflow `couler.publish("name", value)`, in the handler `couler.published("name")`',
        )
    inner: Frame | None = owner
    while inner is not None and not frame.within(inner):
        if inner.kind != "branch":
            _no_escape(leaf, inner, source)
        inner = inner.parent


def _no_escape(leaf: Any, inner: Frame, source: Source | None) -> None:
    why = {
        "map": "it runs once for each item, so there is no single value",
        "loop": "it runs again and again; only the last result leaves the loop",
        "handler": "handlers run after everything else",
    }.get(inner.kind, "it may be called from several places")
    fail(
        "CLR149",
        f"{_what(leaf)} can't be used outside of {WHAT[inner.kind]}",
        source=source,
        why=why,
        help="return the value from the function, and use what the call gives back",
    )


def _root(frame: Frame) -> Frame:
    while frame.parent is not None:
        frame = frame.parent
    return frame


def _what(leaf: Any) -> str:
    if isinstance(leaf, Reference):
        return f"the output of {leaf.node.name}" if leaf.kind != "status" else f"the status of {leaf.node.name}"
    return f"the value {getattr(leaf, 'name', 'of or_else or first')!r}"


def _mismatch(node: Node, name: str, wanted: str, given: str, value: Any) -> None:
    made = getattr(value, "_couler_source", None)
    label = getattr(value, "_couler_label", "")
    callee = node.call
    related = []
    if made is not None:
        related.append((f"{label} comes from here", made))
    if isinstance(callee, Template) and callee.source is not None:
        related.append((f"{callee.name} is defined here", callee.source))
    fail(
        "CLR148",
        f"the argument {name!r} of {node.base} wants {wanted}, but {label or 'the value'} is {given}",
        source=node.source,
        step=node.base,
        related=tuple(related),
        kind=ArgumentError,
    )


def _missing(node: Node, template: Template, name: str) -> None:
    fail(
        "CLR151",
        f"{template.name} needs the argument {name!r}",
        source=node.source,
        step=node.base,
        related=(("it is defined here", template.source),) if template.source else (),
        kind=ArgumentError,
    )


def _unknown(node: Node, template: Template, arguments: Any) -> None:
    known = [parameter.name for parameter in template.inputs.parameters]
    known += [artifact.name for artifact in template.inputs.artifacts]
    extra = next(name for name in arguments if name not in known)
    fail(
        "CLR151",
        f"{template.name} has no input {extra!r}",
        source=node.source,
        step=node.base,
        help=f"its inputs are {', '.join(known)}" if known else "it takes no arguments",
        related=(("it is defined here", template.source),) if template.source else (),
        kind=ArgumentError,
    )
