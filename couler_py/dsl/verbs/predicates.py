"""Couler's predicates: `equal(result, "heads")`, and their composition.

With a value on the left, a predicate is a condition like every other. Without one, as `equal("tails")`,
`exec_while` applies it to the output of the step that it repeats. Both are joined by `&`, `|` and `~`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from couler_py.dsl import compute
from couler_py.dsl.placeholder import Placeholder
from couler_py.dsl.problems import PlaceholderError, fail
from couler_py.dsl.verbs.numbers import is_text, number
from couler_py.dsl.verbs.outputs import first_value
from couler_py.dsl.verbs.state import recording
from couler_py.ir.expr import Comparison

VERBS: dict[Comparison, str] = {
    "==": "equal",
    "!=": "not_equal",
    ">": "bigger",
    "<": "smaller",
    ">=": "bigger_equal",
    "<=": "smaller_equal",
}


class Open(msgspec.Struct, frozen=True, eq=False):
    """A predicate whose left side is still to come. `on(value)` gives the condition, `numbers` asks for a number."""

    on: Callable[[Any], Any]
    numbers: bool = False

    def __and__(self, other: Any) -> Open:
        return Open(lambda value: compute.all_of(self.on(value), _on(other, value)), self.numbers or _numbers(other))

    def __or__(self, other: Any) -> Open:
        return Open(lambda value: compute.any_of(self.on(value), _on(other, value)), self.numbers or _numbers(other))

    __rand__ = __and__
    __ror__ = __or__

    def __invert__(self) -> Open:
        return Open(lambda value: compute.not_(self.on(value)), self.numbers)

    def __bool__(self) -> bool:
        fail(
            "CLR181",
            "a predicate can't be used in if, and, or, not",
            help="join predicates by &, | and ~, and give them to couler.when or couler.exec_while",
            kind=PlaceholderError,
        )


def equal(pre: Any, post: Any = None) -> Any:
    """Whether an output is a value. What a step prints is text: with a number, it is compared as a number.

    >>> couler.when(couler.equal(result, "heads"), lambda: go_on())  # doctest: +SKIP
    """
    return _predicate("==", pre, post)


def not_equal(pre: Any, post: Any = None) -> Any:
    """The opposite of `equal`.

    >>> couler.when(couler.not_equal(result, "heads"), lambda: go_on())  # doctest: +SKIP
    """
    return _predicate("!=", pre, post)


def bigger(pre: Any, post: Any = None) -> Any:
    """Whether an output, read as a number, is greater.

    >>> couler.when(couler.bigger(result, 5), lambda: go_on())  # doctest: +SKIP
    """
    return _predicate(">", pre, post)


def smaller(pre: Any, post: Any = None) -> Any:
    """Whether an output, read as a number, is less.

    >>> couler.when(couler.smaller(result, 5), lambda: go_on())  # doctest: +SKIP
    """
    return _predicate("<", pre, post)


def bigger_equal(pre: Any, post: Any = None) -> Any:
    """Whether an output, read as a number, is greater or equal.

    >>> couler.when(couler.bigger_equal(result, 5), lambda: go_on())  # doctest: +SKIP
    """
    return _predicate(">=", pre, post)


def smaller_equal(pre: Any, post: Any = None) -> Any:
    """Whether an output, read as a number, is less or equal.

    >>> couler.when(couler.smaller_equal(result, 5), lambda: go_on())  # doctest: +SKIP
    """
    return _predicate("<=", pre, post)


def _predicate(op: Comparison, pre: Any, post: Any) -> Any:
    verb = VERBS[op]
    if post is None and not _is_value(pre):
        return Open(lambda value: _compare(op, value, pre), _wants_number(op, pre))
    with recording():
        left, right = _called(pre, verb), _called(post, verb)
    if right is None:
        fail(
            "CLR181", f"{verb} has nothing to compare with", help=f"couler.{verb}(output, value)", kind=PlaceholderError
        )
    return _compare(op, left, right)


def _compare(op: Comparison, left: Any, right: Any) -> Any:
    left, right = first_value(left, VERBS[op]), first_value(right, VERBS[op])
    if isinstance(right, bool) and is_text(left):
        # As Python prints them, and as everything else does.
        join = compute.any_of if op == "==" else compute.all_of
        return join(*(compute.compare(op, left, word) for word in (str(right), str(right).lower())))
    if _wants_number(op, right) or (_wants_number(op, left) and is_text(right)):
        left, right = number(left), number(right)
    return compute.compare(op, left, right)


def _wants_number(op: Comparison, value: Any) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return True
    if op in ("==", "!="):
        return False
    return isinstance(value, str) or is_text(value)


def _is_value(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and any(isinstance(item, Placeholder) for item in value)
    return isinstance(value, Placeholder) or callable(value)


def _called(value: Any, verb: str) -> Any:
    """The value; of a function, what it returns, its steps being recorded."""
    if callable(value) and not isinstance(value, Placeholder):
        value = value()
    return first_value(value, verb)


def _on(other: Any, value: Any) -> Any:
    return other.on(value) if isinstance(other, Open) else other


def _numbers(other: Any) -> bool:
    return isinstance(other, Open) and other.numbers
