"""The language's own functions, but for those that evaluate something for each element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from couler_py.argolang.arithmetic import equal, less, order, whole
from couler_py.argolang.functions.conversions import (
    as_float,
    as_int,
    cased,
    cut,
    decoded,
    encoded,
    exchanged,
    from_json,
    repeated,
)
from couler_py.argolang.functions.goformat import formatted, to_json
from couler_py.argolang.members import element, got
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.tokens import SPACES
from couler_py.argolang.values import (
    AnyMap,
    Duration,
    Function,
    NoList,
    Pair,
    in_bytes,
    is_integer,
    is_number,
    kind,
    wrapped,
)

_DEPTH = 200


# ---- numbers


def _number(value: Any) -> Any:
    if not is_number(value):
        raise EvaluationProblem(f"a number is needed, not a {kind(value)}")
    return value


def _half_up(number: float) -> int:
    low = math.floor(number)
    return low + (number - low >= 0.5)


def _rounded(value: Any) -> float:
    number = float(_number(value))
    if not math.isfinite(number) or abs(number) >= 2**52:
        return number
    return math.copysign(float(_half_up(abs(number))), number)


def _whole(value: Any) -> int:
    if not is_integer(value):
        raise EvaluationProblem(f"a whole number is needed, not a {kind(value)}")
    return int(value)


def _floored(round_: Callable[[float], int]) -> Callable[[Any], float]:
    def apply(value: Any) -> float:
        number = float(_number(value))
        return math.copysign(float(round_(number)), number) if math.isfinite(number) and number else number

    return apply


def _bits(apply: Callable[[int, int], int]) -> Callable[[Any, Any], int]:
    return lambda left, right: wrapped(apply(_whole(left), _whole(right)))


def _shift(apply: Callable[[int, int], int]) -> Callable[[Any, Any], int]:
    def shifted(left: Any, right: Any) -> int:
        number, places = _whole(left), _whole(right)
        if places < 0:
            raise EvaluationProblem(f"a shift by {places}")
        return wrapped(apply(number, min(places, 64)))

    return shifted


def _extreme(name: str, better: Callable[[Any, Any], bool]) -> Callable[..., Any]:
    def apply(*values: Any) -> Any:
        found: Any = None
        for value in values:
            if isinstance(value, list):
                for inner in value:
                    candidate = apply(inner)
                    if not is_number(candidate):
                        raise EvaluationProblem(f"{name} has no meaning for a {kind(candidate)}")
                    found = candidate if found is None or better(candidate, found) else found
            elif is_number(value) or isinstance(value, Duration):
                found = value if found is None or better(value, found) else found
            elif len(values) == 1:
                return value
            else:
                raise EvaluationProblem(f"{name} has no meaning for a {kind(value)}")
        return found

    return apply


def _numbers(values: tuple[Any, ...] | list[Any]) -> list[float]:
    found: list[float] = []
    for value in values:
        if isinstance(value, list):
            found += _numbers(value)
        else:
            found.append(float(value if isinstance(value, Duration) else _number(value)))
    return found


def _mean(*values: Any) -> float:
    numbers = _numbers(values)
    return sum(numbers) / len(numbers) if numbers else 0.0


def _median(*values: Any) -> float:
    numbers = sorted(_numbers(values))
    middle = len(numbers) // 2
    if not numbers:
        return 0.0
    return numbers[middle] if len(numbers) % 2 else (numbers[middle - 1] + numbers[middle]) / 2


# ---- texts


def _joined(values: list[Any], glue: str = "") -> str:
    for value in values:
        if not isinstance(value, str):
            raise EvaluationProblem(f"only texts can be joined, not a {kind(value)}")
    return glue.join(values)


def _place(find: Callable[[bytes, bytes], int]) -> Callable[[str, str], int]:
    return lambda text, part: find(in_bytes(text), in_bytes(part))


# ---- lists and objects


def length(value: Any) -> int:
    """`len(x)`: the characters of a text, the elements of a list, the keys of an object."""
    if isinstance(value, str | list | dict):
        return len(value)
    raise EvaluationProblem(f"a {kind(value)} has no length")


def _end(place: int) -> Callable[[Any], Any]:
    def apply(value: Any) -> Any:
        if not isinstance(value, list | str) or not value:
            return None
        return element(value, place)

    return apply


def _take(values: list[Any], count: Any) -> Any:
    number = _whole(count)
    if number < 0:
        raise EvaluationProblem(f"{number} elements can't be taken")
    return type(values)(values[:number])


def _from_pairs(pairs: list[Any]) -> AnyMap:
    found = AnyMap()
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2 or isinstance(pair[0], list | dict):
            raise EvaluationProblem("a pair has two elements, a key and a value")
        found[pair[0]] = pair[1]
    return found


def _uniq(values: list[Any]) -> list[Any]:
    if len(values) > 1000:
        raise EvaluationProblem("a list of more than 1000 elements isn't made unique here", late=True)
    found: list[Any] = []
    for value in values:
        if not any(equal(value, each) for each in found):
            found.append(value)
    return found


def _flat(values: list[Any], depth: int = 0) -> list[Any]:
    if depth > _DEPTH:
        raise EvaluationProblem(f"a value nested deeper than {_DEPTH} levels")
    found: list[Any] = []
    for value in values:
        found += _flat(value, depth + 1) if isinstance(value, list) else [value]
    return found


def _concat(first: list[Any], *others: list[Any]) -> list[Any]:
    found = [each for values in (first, *others) for each in values]
    return found or NoList()


def _sort(values: Any, how: str = "asc") -> list[Any]:
    if how not in ("asc", "desc"):
        raise EvaluationProblem("the order must be 'asc' or 'desc'")
    if not isinstance(values, list):
        return NoList()
    return [values[place] for place in order(values, reverse=how == "desc")]


def _table() -> dict[str, Function]:
    found: dict[str, Function] = {}

    def add(name: str, parameters: str, apply: Callable[..., Any], optional: int = 0) -> None:
        kinds = tuple(each.rstrip("*") for each in parameters.split())
        found[name] = Function(name, kinds, parameters.endswith("*"), apply, optional=optional)

    add("len", "any", length)
    add("type", "any", kind)
    add("abs", "any", lambda x: wrapped(abs(_number(x))) if is_integer(x) else abs(_number(x)))
    add("ceil", "any", _floored(math.ceil))
    add("floor", "any", _floored(math.floor))
    add("round", "any", _rounded)
    add("int", "any", as_int)
    add("float", "any", as_float)
    add("string", "any", formatted)
    add("trim", "string string", lambda text, cutset=SPACES: text.strip(cutset), 1)
    add("trimPrefix", "string string", lambda text, part=" ": text.removeprefix(part), 1)
    add("trimSuffix", "string string", lambda text, part=" ": text.removesuffix(part), 1)
    add("upper", "string", lambda text: cased(text, str.upper))
    add("lower", "string", lambda text: cased(text, str.lower))
    add("split", "string string any", lambda text, by, count=-1: cut(text, by, whole(count)), 1)
    add("splitAfter", "string string any", lambda text, by, count=-1: cut(text, by, whole(count), keep=True), 1)
    add("replace", "string string string any", lambda text, old, new, n=-1: exchanged(text, old, new, whole(n)), 1)
    add("repeat", "string any", lambda text, count: repeated(text, whole(count)))
    add("join", "list string", _joined, 1)
    add("indexOf", "string string", _place(bytes.find))
    add("lastIndexOf", "string string", _place(bytes.rfind))
    add("hasPrefix", "string string", str.startswith)
    add("hasSuffix", "string string", str.endswith)
    add("max", "any*", _extreme("max", lambda new, old: less(old, new)))
    add("min", "any*", _extreme("min", lambda new, old: less(new, old)))
    add("mean", "any*", _mean)
    add("median", "any*", _median)
    add("toJSON", "any", lambda value: to_json(value, indent=True))
    add("fromJSON", "string", from_json)
    add("toBase64", "string", encoded)
    add("fromBase64", "string", decoded)
    add("first", "any", _end(0))
    add("last", "any", _end(-1))
    add("get", "any any", got)
    add("take", "list any", _take)
    add("keys", "anymap", lambda values: list(values))
    add("values", "anymap", lambda values: list(values.values()))
    add("toPairs", "anymap", lambda values: [Pair(pair) for pair in values.items()])
    add("fromPairs", "list", _from_pairs)
    add("reverse", "list", lambda values: list(reversed(values)))
    add("uniq", "list", _uniq)
    add("concat", "list list*", _concat)
    add("flatten", "list", _flat)
    add("sort", "any string", _sort, 1)
    add("bitand", "any any", _bits(lambda left, right: left & right))
    add("bitor", "any any", _bits(lambda left, right: left | right))
    add("bitxor", "any any", _bits(lambda left, right: left ^ right))
    add("bitnand", "any any", _bits(lambda left, right: left & ~right))
    add("bitshl", "any any", _shift(lambda left, right: left << right))
    add("bitshr", "any any", _shift(lambda left, right: left >> right))
    add("bitushr", "any any", _shift(lambda left, right: left % 2**64 >> right))
    add("bitnot", "any", lambda value: ~_whole(value))
    return found


PLAIN = _table()
