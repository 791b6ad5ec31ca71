"""What a task gives to its template's inputs."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.emission import Emission
from couler_py.backends.argo.emit.expressions import Scope, UnprovenError, translate
from couler_py.backends.argo.emit.literals import tag
from couler_py.backends.argo.emit.values import SIMPLE, Value, to_plain, to_wire
from couler_py.ir import wire
from couler_py.ir.expr import Expr, Text, walk
from couler_py.ir.expr import Literal as Constant
from couler_py.ir.model import Source
from couler_py.ir.types import STR, Type


def argument(expr: Expr, target: Type, plain: bool, scope: Scope) -> str:
    """The text of an argument for an input of the type `target`.

    `plain` inputs are read by containers: a string stands as it is. Raises `UnprovenError`.
    """
    if type(expr) is Constant:
        return plain_literal(expr.value, target) if plain else literal_text(expr.value, target)
    value = translate(expr, scope)
    if not plain:
        return filled(value, to_wire(value, target))
    if holds_braces(expr):
        raise UnprovenError("Argo evaluates the {{ in this string before the container sees it")
    return filled(value, to_plain(value, target))


def holds_braces(expr: Expr) -> bool:
    """Whether a constant part of an expression holds what Argo would take for a tag, once it is put together."""
    for node in walk(expr):
        if isinstance(node, Text) and any(isinstance(part, str) and "{{" in part for part in node.parts):
            return True
        if isinstance(node, Constant) and isinstance(node.value, str) and "{{" in node.value:
            return True
    return False


def filled(value: Value, text: str) -> str:
    """The tag for an expression: the plain reference where that is right for every value, else an expression.

    Argo writes references into JSON by Go's rules for quoting, which break on some characters; numbers and booleans
    have none of them.
    """
    if value.tag and text == value.text and value.type in SIMPLE:
        return "{{" + value.tag + "}}"
    return tag(text)


def literal_text(value: Any, target: Type) -> str:
    """A constant as it travels to a reader of ours."""
    if target == STR and isinstance(value, str):
        return value if wire.travels_raw(value) else wire.JSON_MARK + wire.to_json(value)
    return wire.to_json(value)


def plain_literal(value: Any, target: Type) -> str:
    """A constant as a container reads it. Raises `UnprovenError` for a string that Argo would change."""
    if target != STR or not isinstance(value, str):
        return wire.to_json(value)
    if "{{" in value:
        raise UnprovenError("Argo evaluates the {{ in this string before the container sees it")
    if "\0" in value:
        raise UnprovenError("no program can be given a NUL character as text")
    return value


def report(emission: Emission, error: UnprovenError, what: str, step: str, source: Source | None) -> None:
    """Turn what can't be said into a finding."""
    emission.problem(
        "CLR402",
        f"{what} can't be said on Argo: {error}",
        step=step,
        source=source,
        why="only expressions that were proven equal on the real controller are emitted in its own language",
        help="compute it in a Python step, and use that step's result",
    )


def no_files(emission: Emission, what: str, source: Source | None) -> None:
    """Note that a hook or handler is given what another task left: that is never left out in silence."""
    emission.problem(
        "CLR402",
        f"{what} is given files of other tasks, which isn't proven on Argo",
        source=source,
        help="give it the place where the file lies as a string, and let it fetch the file",
    )
