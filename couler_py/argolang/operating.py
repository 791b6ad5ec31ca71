"""The values that operators give, and what they leave uncomputed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from couler_py.argolang import arithmetic, nodes
from couler_py.argolang.functions.regex import RegexProblem, compiled
from couler_py.argolang.loops import boolean
from couler_py.argolang.members import held
from couler_py.argolang.nodes import Node
from couler_py.argolang.problems import EvaluationProblem, placed
from couler_py.argolang.values import Integers, is_nil, kind

if TYPE_CHECKING:
    from couler_py.argolang.evaluation import Evaluation


def unary(here: Evaluation, node: nodes.Unary) -> Any:
    """The value of an operator before its operand."""
    value = here.value(node.operand)
    if node.operator in ("not", "!"):
        return not boolean(value, node, repr(node.operator))
    return value if node.operator == "+" else placed(node.start, lambda: arithmetic.negated(value))


def binary(here: Evaluation, node: nodes.Binary) -> Any:
    """Operators of one rank lean to the left, and there may be hundreds: they are walked down, not recursed into."""
    spine = [node]
    while _constant(spine[-1]) is None and isinstance(spine[-1].left, nodes.Binary):
        spine.append(spine[-1].left)
    value = None if _constant(spine[-1]) is not None else here.value(spine[-1].left)
    for operation in reversed(spine):
        here.spend(operation, 1)
        value = _operated(here, operation, value)
    return value


def _constant(node: nodes.Binary) -> bool | None:
    """`x && false` and `x || true` are known without x."""
    right = _written(node.right)
    if right is False and node.operator in ("&&", "and"):
        return False
    return True if right is True and node.operator in ("||", "or") else None


def _written(node: Node) -> bool | None:
    """The value of a `true` or `false` that stands in the text, with any number of `not` before it."""
    yes = True
    while isinstance(node, nodes.Unary) and node.operator in ("not", "!"):
        node, yes = node.operand, not yes
    return node.value is yes if isinstance(node, nodes.Boolean) else None


def _operated(here: Evaluation, node: nodes.Binary, left: Any) -> Any:
    operator = node.operator
    if operator in ("&&", "and", "||", "or"):
        return _logical(here, node, left)
    if operator == "??":
        return here.value(node.right) if is_nil(left) else left
    if operator == "in":
        return _contained(here, node, left)
    right = here.value(node.right)
    if operator == "..":
        return _range(here, node, left, right)
    if operator == "matches":
        here.spend(node, len(left) if isinstance(left, str) else 0)
        return placed(node.start, lambda: _matches(left, right))
    if operator == "+" and isinstance(left, str) and isinstance(right, str):
        here.spend(node, (len(left) + len(right)) // 100)
    return placed(node.start, lambda: arithmetic.OPERATIONS[operator](left, right))


def _logical(here: Evaluation, node: nodes.Binary, left: Any) -> Any:
    constant = _constant(node)
    if constant is not None:
        return constant
    both = node.operator in ("&&", "and")
    if _written(node.right) is not None:
        return left
    first = boolean(left, node.left, repr(node.operator))
    return here.value(node.right) if first is both else first


def _contained(here: Evaluation, node: nodes.Binary, needle: Any) -> Any:
    items = node.right
    if isinstance(items, nodes.Binary) and items.operator == ".." and type(needle) is int:
        first, last = here.value(items.left), here.value(items.right)
        if type(first) is int and type(last) is int:
            return first <= needle <= last
    strings = (
        isinstance(items, nodes.Array) and items.items and all(isinstance(each, nodes.String) for each in items.items)
    )
    right = here.value(items)
    here.spend(node, len(right) if isinstance(right, list) else 0)
    return placed(node.start, lambda: held(dict.fromkeys(right) if strings else right, needle))


def _range(here: Evaluation, node: Node, left: Any, right: Any) -> Any:
    first, last = placed(node.start, lambda: (arithmetic.whole(left), arithmetic.whole(right)))
    size = max(last - first + 1, 0)
    here.grow(node, size)
    here.spend(node, size // 10)
    return Integers(range(first, first + size))


def _matches(left: Any, right: Any) -> bool:
    if is_nil(left) or is_nil(right):
        return False
    if not isinstance(left, str) or not isinstance(right, str):
        raise EvaluationProblem(f"'matches' needs two texts, not a {kind(left)} and a {kind(right)}")
    try:
        return compiled(right).search(left) is not None
    except RegexProblem as problem:
        raise EvaluationProblem(str(problem), late=problem.late) from problem
