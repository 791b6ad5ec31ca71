"""The reference meaning of expressions.

This file is part of the runner that is copied into pods: it imports nothing but the standard
library and reads expressions in their JSON form (see `couler_py.ir.expr`).

Numbers are 64-bit integers and IEEE doubles, `/` is true division, strings compare by code point.
There is no truthiness and no conversion: what doesn't fit is an `EvaluationError`, which makes the
task that asked Failed.
"""

from __future__ import annotations

import json
import math
from typing import Any, Callable

from couler_py.ir.wire import NON_FINITE, as_text

Resolve = Callable[[Any], Any]

EXACT = 2**53  # beyond this, a double can't tell an integer from its neighbour
LEAST, MOST = -(2**63), 2**63 - 1


class EvaluationError(ValueError):
    """An expression that has no value."""


class AbsentError(EvaluationError):
    """A reference to a value that is not there: the task that makes it didn't succeed."""


def evaluate(node: dict[str, Any], resolve: Resolve) -> Any:
    """The value of an expression. `resolve` gives the value of each reference, or raises `AbsentError`."""
    kind = node["type"]
    operation = OPERATIONS.get(kind)
    if operation is None:
        return resolve(node)
    return operation(node, resolve)


def evaluate_condition(node: dict[str, Any], resolve: Resolve) -> bool:
    """The value of an expression that must be true or false."""
    return _boolean(evaluate(node, resolve), "a condition")


def kind_of(value: Any) -> str:
    """The kind of a JSON value, as messages name it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, (list, tuple)):
        return "list"
    if isinstance(value, dict):
        return "object"
    raise EvaluationError(f"{type(value).__name__} is not a JSON value")


def equal(left: Any, right: Any) -> bool:
    """Whether two JSON values are the same: by kind first, then by content. A boolean is not a number."""
    kind = kind_of(left)
    if kind != kind_of(right):
        return False
    if kind == "list":
        return len(left) == len(right) and all(equal(a, b) for a, b in zip(left, right))  # noqa: B905
    if kind == "object":
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    if kind == "number":
        return bool(_exact(left) == _exact(right))
    return bool(left == right)


def _exact(number: Any) -> Any:
    if isinstance(number, int) and not -EXACT <= number <= EXACT:
        raise EvaluationError(f"{number} is beyond plus or minus 2^53, where engines compare integers differently")
    return number


def _boolean(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise EvaluationError(f"{what} needs true or false, not the {kind_of(value)} {value!r}")
    return value


def _number(value: Any, what: str) -> Any:
    if kind_of(value) != "number":
        raise EvaluationError(f"{what} needs a number, not the {kind_of(value)} {value!r}")
    return value


def _literal(node: dict[str, Any], resolve: Resolve) -> Any:
    return node["value"]


def _non_finite(node: dict[str, Any], resolve: Resolve) -> Any:
    return NON_FINITE[node["name"]]


def _or_else(node: dict[str, Any], resolve: Resolve) -> Any:
    try:
        return evaluate(node["value"], resolve)
    except AbsentError:
        return evaluate(node["default"], resolve)


def _first(node: dict[str, Any], resolve: Resolve) -> Any:
    for option in node["options"]:
        try:
            return evaluate(option, resolve)
        except AbsentError:
            continue
    raise AbsentError("none of the values of first(...) is present")


def _compare(node: dict[str, Any], resolve: Resolve) -> bool:
    op = node["op"]
    left, right = evaluate(node["left"], resolve), evaluate(node["right"], resolve)
    if op == "==":
        return equal(left, right)
    if op == "!=":
        return not equal(left, right)
    kind = kind_of(left)
    if kind != kind_of(right) or kind not in ("number", "string"):
        raise EvaluationError(f"{kind} can't be ordered with {kind_of(right)} by {op}")
    if kind == "number":
        left, right = _exact(left), _exact(right)
    if op == "<":
        return bool(left < right)
    if op == "<=":
        return bool(left <= right)
    if op == ">":
        return bool(left > right)
    return bool(left >= right)


def _and(node: dict[str, Any], resolve: Resolve) -> bool:
    return all(_boolean(evaluate(operand, resolve), "and") for operand in node["operands"])


def _or(node: dict[str, Any], resolve: Resolve) -> bool:
    return any(_boolean(evaluate(operand, resolve), "or") for operand in node["operands"])


def _not(node: dict[str, Any], resolve: Resolve) -> bool:
    return not _boolean(evaluate(node["operand"], resolve), "not")


def _compute(node: dict[str, Any], resolve: Resolve) -> Any:
    op = node["op"]
    left, right = evaluate(node["left"], resolve), evaluate(node["right"], resolve)
    if op == "+" and kind_of(left) == kind_of(right) and kind_of(left) in ("string", "list"):
        return left + right
    left, right = _number(left, op), _number(right, op)
    if op in ("/", "//", "%") and right == 0:
        raise EvaluationError("division by zero")
    try:
        result = _arithmetic(op, left, right)
    except OverflowError:
        raise EvaluationError(f"{left!r} {op} {right!r} is too large for a double") from None
    if isinstance(result, int) and not LEAST <= result <= MOST:
        raise EvaluationError(f"{left!r} {op} {right!r} doesn't fit in 64 bits")
    return result


def _arithmetic(op: str, left: Any, right: Any) -> Any:
    if op == "+":
        return left + right
    if op == "-":
        return left - right
    if op == "*":
        return left * right
    if op == "/":
        return left / right
    if op == "//":
        if isinstance(left, float) and math.isinf(left):
            return math.nan
        return left // right
    return left % right


def _access(node: dict[str, Any], resolve: Resolve) -> Any:
    value, key = evaluate(node["value"], resolve), evaluate(node["key"], resolve)
    kind = kind_of(value)
    if kind == "object" and isinstance(key, str):
        if key not in value:
            raise EvaluationError("there is no member {!r} among {}".format(key, ", ".join(map(repr, sorted(value)))))
        return value[key]
    if kind == "list" and isinstance(key, int) and not isinstance(key, bool):
        if not -len(value) <= key < len(value):
            raise EvaluationError(f"there is no element {key} in a list of {len(value)}")
        return value[key]
    raise EvaluationError(f"a {kind} has no member {key!r}")


def _length(node: dict[str, Any], resolve: Resolve) -> int:
    value = evaluate(node["value"], resolve)
    if kind_of(value) not in ("string", "list", "object"):
        raise EvaluationError(f"a {kind_of(value)} has no length")
    return len(value)


def _contains(node: dict[str, Any], resolve: Resolve) -> bool:
    container, member = evaluate(node["container"], resolve), evaluate(node["member"], resolve)
    kind = kind_of(container)
    if kind == "list":
        return any(equal(member, element) for element in container)
    if kind in ("object", "string") and isinstance(member, str):
        return member in container
    raise EvaluationError(f"a {kind} can't hold a {kind_of(member)}")


def _object(node: dict[str, Any], resolve: Resolve) -> Any:
    values = [evaluate(value, resolve) for value in node["values"]]
    if node.get("form", "object") == "list":
        return values
    return dict(zip(node["keys"], values))  # noqa: B905


def _zip(node: dict[str, Any], resolve: Resolve) -> Any:
    lists = [evaluate(value, resolve) for value in node["lists"]]
    for value in lists:
        if kind_of(value) != "list":
            raise EvaluationError(f"zip needs lists, not a {kind_of(value)}")
    lengths = [len(value) for value in lists]
    if len(set(lengths)) > 1:
        raise EvaluationError("zip needs lists of equal length, not of {}".format(", ".join(map(str, lengths))))
    return [list(group) for group in zip(*lists)]  # noqa: B905


def _text(node: dict[str, Any], resolve: Resolve) -> str:
    return "".join(part if isinstance(part, str) else as_text(evaluate(part, resolve)) for part in node["parts"])


def _from_json(node: dict[str, Any], resolve: Resolve) -> Any:
    text = evaluate(node["text"], resolve)
    if not isinstance(text, str):
        raise EvaluationError(f"JSON is read from a text, not from a {kind_of(text)}")
    try:
        return json.loads(text)
    except ValueError as error:
        raise EvaluationError(f"this is not JSON: {error}") from None


OPERATIONS: dict[str, Callable[[Any, Resolve], Any]] = {
    "literal": _literal,
    "nonfinite": _non_finite,
    "or_else": _or_else,
    "first": _first,
    "compare": _compare,
    "and": _and,
    "or": _or,
    "not": _not,
    "compute": _compute,
    "access": _access,
    "length": _length,
    "contains": _contains,
    "object": _object,
    "zip": _zip,
    "text": _text,
    "from_json": _from_json,
}
