"""Expressions in Argo's language that every engine has words for: references, texts, comparisons of texts, logic."""

from __future__ import annotations

from typing import Literal as OneOf

from couler_py import argolang
from couler_py.argolang import nodes as n
from couler_py.ir.expr import (
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Expr,
    Input,
    Literal,
    Not,
    OrElse,
    Raw,
    TaskOutput,
    Text,
    WorkflowParameter,
)

_EQUAL: dict[str, OneOf["==", "!="]] = {"==": "==", "!=": "!="}


def truth(condition: Condition) -> Expr | None:
    """The condition that `{{= … }}` alone is, in the IR's words; None where it is, or may be, anything else."""
    text = condition.text
    parts = [part for part in (text.parts if isinstance(text, Text) else ()) if not _is_blank(part)]
    return _truth(_parsed(parts[0])) if len(parts) == 1 and isinstance(parts[0], Raw) else None


def text_of(expr: Raw) -> Expr | None:
    """The text that an expression gives, in the IR's words; None where it isn't certain that it gives one.

    The output of a task stands for itself only with `??`: without, an absent one is an error on Argo.
    """
    found = _text(_parsed(expr))
    return None if isinstance(found, TaskOutput) else found


def _is_blank(part: str | Expr) -> bool:
    return isinstance(part, str) and not part.strip()


def _parsed(expr: Raw) -> n.Node | None:
    if expr.engine != "argo" or "{{" in expr.text:
        return None
    try:
        return argolang.parse(expr.text)
    except argolang.SyntaxProblem:
        return None  # what it is stays a finding


def _truth(node: n.Node | None) -> Expr | None:
    match node:
        case n.Boolean(value=value):
            return Literal(value)
        case n.Unary(operator="!" | "not", operand=operand):
            inner = _truth(operand)
            return None if inner is None else Not(inner)
        case n.Binary(operator="&&" | "and" | "||" | "or" as sign, left=left, right=right):
            one, other = _truth(left), _truth(right)
            if one is None or other is None:
                return None
            return AllOf((one, other)) if sign in ("&&", "and") else AnyOf((one, other))
        case n.Binary(operator="==" | "!=" as sign, left=left, right=right):
            sides = _compared(left), _compared(right)
            return None if None in sides else Compare(_EQUAL[sign], *sides)  # type: ignore[arg-type]
        case _:
            return None


def _compared(node: n.Node) -> Expr | None:
    """A text beside a sign, where an absent one is nil."""
    found = _text(node)
    return OrElse(found, Literal(None)) if isinstance(found, TaskOutput) else found


def _text(node: n.Node | None) -> Expr | None:
    match node:
        case n.String(value=value) if "{" not in value:  # two of them make a tag, which Argo reads in values again
            return Literal(value)
        case n.Binary(operator="??", left=left, right=right):
            output, default = _text(left), _text(right)
            return OrElse(output, default) if isinstance(output, TaskOutput) and default is not None else None
        case n.Member():
            return _reference(_names(node))
        case _:
            return None


def _names(node: n.Node) -> tuple[str, ...]:
    """The names of a chain of members; none where it is anything else."""
    names: list[str] = []
    while isinstance(node, n.Member) and isinstance(node.property, n.String) and not node.optional:
        names.append(node.property.value)
        node = node.base
    return (*reversed([*names, node.name]),) if isinstance(node, n.Identifier) else ()


def _reference(names: tuple[str, ...]) -> Expr | None:
    match names:
        case ("inputs", "parameters", name):
            return Input(name)
        case ("workflow", "parameters", name):
            return WorkflowParameter(name)
        case ("tasks" | "steps", task, "outputs", "parameters", name):
            return TaskOutput(task, name)
        case ("tasks" | "steps", task, "outputs", "result"):
            return TaskOutput(task, "result")
        case _:
            return None
