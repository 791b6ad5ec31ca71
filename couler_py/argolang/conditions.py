"""`when`: whether a step or a task runs, once the tags in the text are filled.

Argo reads the filled text by govaluate and takes every bare word as a text, so `{{a}} == yes` compares two texts, and
is refused as soon as the value has a space or a sign in it. A quoted text that looks like a date counts as a number
of seconds. (Facts: shouldExecute in workflow/controller/steps.go of Argo Workflows 4.0.7.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from couler_py.argolang import govaluate
from couler_py.argolang.functions.goformat import formatted
from couler_py.argolang.functions.regex import RegexProblem, compiled
from couler_py.argolang.govaluate import Constant, Group, Operation, Tree
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.tags import Tag, scan, written


def condition(text: str) -> bool:
    """The value of a condition whose tags are filled; an empty one is true.

    Raises SyntaxProblem for a text that Argo can't read, and EvaluationProblem for one that isn't a yes or no.

    >>> condition("Succeeded == Succeeded && 3 > 2"), condition("'a b' == ab")
    (True, False)
    """
    if text == "":
        return True
    try:
        value = _value(govaluate.tree(text))
    except RecursionError:
        raise EvaluationProblem("the condition is nested too deeply") from None
    if not isinstance(value, bool):
        raise EvaluationProblem(f"{text!r} is no condition: its value is {formatted(value)}")
    return value


def parse_condition(text: str) -> Tree | None:
    """The tree of a condition; tags in it count as bare words, whatever they will be filled with. None if it is empty.

    Raises SyntaxProblem. Offsets are those of the text with its tags.

    >>> parse_condition("{{inputs.parameters.x}} == yes").operator
    '=='
    """
    return govaluate.tree(stand_ins(text)) if text else None


def stand_ins(text: str) -> str:
    """A condition with every tag replaced by a word of the same length.

    >>> stand_ins("{{x}} == yes")
    'ttttt == yes'
    """
    return "".join("t" * (part.end - part.start) if isinstance(part, Tag) else written(part) for part in scan(text))


def _value(tree: Tree | None) -> Any:
    if tree is None:
        return None
    if isinstance(tree, Group):
        return _value(tree.body)
    if isinstance(tree, Constant):
        if tree.accessor:
            raise EvaluationProblem(f"{tree.value} is read as a field of a variable; put it into quotes", tree.start)
        return tree.value
    spine = [tree]
    while isinstance(inner := spine[-1].left, Operation):  # operators lean to the left, and there may be thousands
        spine.append(inner)
    value = _value(spine[-1].left)
    for operation in reversed(spine):
        value = _operated(operation, value)
    return value


def _operated(operation: Operation, left: Any) -> Any:
    if operation.operator in _SHORT:
        decided, value = _SHORT[operation.operator](left)
        if decided:
            return value
    return _OPERATIONS[operation.operator](left, _value(operation.right), operation)


_SHORT: dict[str, Callable[[Any], tuple[bool, Any]]] = {
    "&&": lambda left: (left is False, False),
    "||": lambda left: (left is True, True),
    "??": lambda left: (left is not None, left),
    "?": lambda left: (left is False, None),
    ":": lambda left: (left is not None, left),
}


def _wrong(tree: Operation, *values: Any) -> EvaluationProblem:
    sign = tree.operator.removeprefix("prefix ")
    said = " and ".join(formatted(value) for value in values)
    return EvaluationProblem(f"{sign!r} has no meaning for {said}", tree.start)


def _numbers(apply: Callable[[float, float], float]) -> Callable[[Any, Any, Operation], Any]:
    def operation(left: Any, right: Any, tree: Operation) -> Any:
        if type(left) is not float or type(right) is not float:
            raise _wrong(tree, left, right)
        return apply(left, right)

    return operation


def _integers(apply: Callable[[int, int], int]) -> Callable[[Any, Any, Operation], Any]:
    return _numbers(lambda left, right: float(_signed(apply(_whole(left), _whole(right)))))


def _shifts(apply: Callable[[int, int], int]) -> Callable[[Any, Any, Operation], Any]:
    def shifted(left: float, right: float) -> float:
        number, places = _whole(left) % 2**64, _whole(right) % 2**64
        return float(apply(number, places) % 2**64 if places < 64 else 0)

    return _numbers(shifted)


def _whole(number: float) -> int:
    """A double as a signed integer of 64 bits; what doesn't fit is the least one, as on the machines Argo runs on."""
    return int(number) if math.isfinite(number) and -(2.0**63) <= number < 2.0**63 else -(2**63)


def _signed(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def _add(left: Any, right: Any, tree: Operation) -> Any:
    if isinstance(left, str) or isinstance(right, str):
        return formatted(left) + formatted(right)
    return _numbers(lambda a, b: a + b)(left, right, tree)


def _divide(left: float, right: float) -> float:
    if right:
        return left / right
    return math.nan if left == 0 or math.isnan(left) else math.copysign(math.inf, left) * math.copysign(1, right)


def _power(left: float, right: float) -> float:
    try:
        value = math.pow(left, right)
    except OverflowError:
        return -math.inf if left < 0 and right % 2 else math.inf
    except ValueError:
        return math.inf if left == 0 else math.nan
    return value


def _compares(apply: Callable[[Any, Any], bool]) -> Callable[[Any, Any, Operation], Any]:
    def operation(left: Any, right: Any, tree: Operation) -> Any:
        if type(left) is not type(right) or type(left) not in (float, str):
            raise _wrong(tree, left, right)
        return apply(left, right)

    return operation


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return type(left) is type(right) and bool(left == right)


def _in(left: Any, right: Any, tree: Operation) -> Any:
    if not isinstance(right, list) or isinstance(left, list):
        raise EvaluationProblem("'in' needs a list in parentheses, of two values or more, on its right", tree.start)
    return any(_same(left, each) for each in right)


def _matches(left: Any, right: Any, tree: Operation) -> Any:
    if not isinstance(left, str) or not isinstance(right, str):
        raise _wrong(tree, left, right)
    try:
        return compiled(right).search(left) is not None
    except RegexProblem as problem:
        raise EvaluationProblem(str(problem), tree.start, late=problem.late) from problem


def _logical(left: Any, right: Any, tree: Operation) -> Any:
    if not isinstance(left, bool) or not isinstance(right, bool):
        raise _wrong(tree, left, right)
    return (left and right) if tree.operator == "&&" else (left or right)


def _if(left: Any, right: Any, tree: Operation) -> Any:
    if not isinstance(left, bool):
        raise _wrong(tree, left)
    return right


def _listed(left: Any, right: Any, tree: Operation) -> Any:
    if isinstance(left, list):
        left.append(right)  # of a list there is one holder: nothing names a value in this language
        return left
    return [left, right]


def _prefixed(kind: type, apply: Callable[[Any], Any]) -> Callable[[Any, Any, Operation], Any]:
    def operation(left: Any, right: Any, tree: Operation) -> Any:
        if type(right) is not kind:
            raise _wrong(tree, right)
        return apply(right)

    return operation


_OPERATIONS: dict[str, Callable[[Any, Any, Operation], Any]] = {
    "==": lambda left, right, tree: _same(left, right),
    "!=": lambda left, right, tree: not _same(left, right),
    "<": _compares(lambda left, right: left < right),
    "<=": _compares(lambda left, right: left <= right),
    ">": _compares(lambda left, right: left > right),
    ">=": _compares(lambda left, right: left >= right),
    "=~": _matches,
    "!~": lambda left, right, tree: not _matches(left, right, tree),
    "in": _in,
    "&&": _logical,
    "||": _logical,
    "+": _add,
    "-": _numbers(lambda left, right: left - right),
    "*": _numbers(lambda left, right: left * right),
    "/": _numbers(_divide),
    "%": _numbers(lambda left, right: math.fmod(left, right) if right and math.isfinite(left) else math.nan),
    "**": _numbers(_power),
    "&": _integers(lambda left, right: left & right),
    "|": _integers(lambda left, right: left | right),
    "^": _integers(lambda left, right: left ^ right),
    "<<": _shifts(lambda left, right: left << right),
    ">>": _shifts(lambda left, right: left >> right),
    "?": _if,
    ":": lambda left, right, tree: right,
    "??": lambda left, right, tree: right,
    ",": _listed,
    "prefix -": _prefixed(float, lambda value: -value),
    "prefix !": _prefixed(bool, lambda value: not value),
    "prefix ~": _prefixed(float, lambda value: float(~_whole(value))),
}
