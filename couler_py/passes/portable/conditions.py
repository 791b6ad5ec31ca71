"""Argo's conditions as comparisons that every engine has."""

from __future__ import annotations

import re

from couler_py import argolang
from couler_py.ir.expr import Compare, Condition, Expr, Literal, Raw

_MARK = "\ue000"  # of the private use area: it stands in a text for a value
_WORD = rf"(?:{_MARK}|[A-Za-z](?:[-\w]*\w)?)"
_SIDE = rf"(?:'(?P<single{{0}}>{_WORD})'|\"(?P<double{{0}}>{_WORD})\"|(?P<bare{{0}}>{_WORD}))"
_COMPARISON = re.compile(rf"\s*{_SIDE.format(1)}\s*(?P<sign>==|!=)\s*{_SIDE.format(2)}\s*")
_READ = frozenset({"true", "false"})
"""Bare words that are no texts."""


def comparison(condition: Condition) -> Expr | None:
    """The comparison that a condition is, for values that are words; None where it is more than one.

    >>> from couler_py.ir.expr import Input, Text
    >>> comparison(Condition(Text((Input("x"), " == yes"))))
    Compare(op='==', left=Input(name='x'), right=Literal(value='yes'))
    """
    parts = (condition.text,) if isinstance(condition.text, str) else condition.text.parts
    values = [part for part in parts if not isinstance(part, str)]
    if not values:
        return _constant("".join(map(str, parts)))
    if any(isinstance(value, Raw) for value in values):
        return None
    found = _COMPARISON.fullmatch("".join(part if isinstance(part, str) else _MARK for part in parts))
    if found is None:
        return None
    left, right = (_side(found, number, values) for number in (1, 2))
    return None if left is None or right is None else Compare("==" if found["sign"] == "==" else "!=", left, right)


def _side(found: re.Match[str], number: int, values: list[Expr]) -> Expr | None:
    word = found[f"single{number}"] or found[f"double{number}"] or found[f"bare{number}"]
    if word == _MARK:
        return values.pop(0)
    return None if word in _READ and found[f"bare{number}"] else Literal(word)


def _constant(text: str) -> Expr | None:
    try:
        return Literal(argolang.condition(text))
    except (argolang.SyntaxProblem, argolang.EvaluationProblem):
        return None
