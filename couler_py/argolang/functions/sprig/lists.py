"""`sprig`: lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from couler_py.argolang.arithmetic import same
from couler_py.argolang.functions.sprig.numbers import whole
from couler_py.argolang.functions.sprig.texts import texts_of
from couler_py.argolang.functions.tables import Table, table
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import Function, NoList, Strings, in_bytes

_UNIQUE = 1000


def empty(value: Any) -> bool:
    """Whether a value counts as nothing: nil, false, 0, and what has no elements."""
    if value is None:
        return True
    if isinstance(value, str | list | dict):
        return len(value) == 0
    return not value if isinstance(value, int | float) else False


def _rest(values: list[Any]) -> list[Any]:
    return [*values[1:]] if values else NoList()


def _initial(values: list[Any]) -> list[Any]:
    return [*values[:-1]] if values else NoList()


def _inside(values: list[Any], needle: Any) -> bool:
    return any(same(needle, each) for each in values)


def _uniq(values: list[Any]) -> list[Any]:
    if len(values) > _UNIQUE:
        raise EvaluationProblem(f"a list of more than {_UNIQUE} elements isn't made unique here", late=True)
    found: list[Any] = []
    for value in values:
        if not _inside(found, value):
            found.append(value)
    return found


def _has(needle: Any, values: Any) -> bool:
    if values is None:
        return False
    if not isinstance(values, list):
        raise EvaluationProblem("sprig.has needs a list")
    return _inside(values, needle)


def _slice(values: list[Any], *given: Any) -> Any:
    if not values:
        return None
    start = whole(given[0]) if given else 0
    end = whole(given[1]) if len(given) > 1 else len(values)
    if not 0 <= start <= end <= len(values):
        raise EvaluationProblem(f"{start} to {end} is out of range: there are {len(values)} elements")
    return type(values)(values[start:end])


def _chunks(size: int, values: list[Any]) -> list[Any]:
    if size <= 0:
        raise EvaluationProblem(f"chunks of {size} elements")
    return [list(values[start : start + size]) for start in range(0, len(values), size)]


def _concat(*lists: list[Any]) -> list[Any]:
    return [each for values in lists for each in values] or NoList()


def _sorted(values: Any) -> Strings:
    return Strings(sorted(texts_of(values), key=in_bytes))


def _default(instead: Any, *given: Any) -> Any:
    return instead if not given or empty(given[0]) else given[0]


def _coalesce(*values: Any) -> Any:
    return next((value for value in values if not empty(value)), None)


def _both(name: str, kinds: str, apply: Callable[..., Any]) -> Table:
    """A function and its twin with `must`, which fails alike where there is no way to catch a failure."""
    (function,) = table(name=(kinds, apply)).values()
    twin = "must" + name[0].upper() + name[1:]
    return {each: Function(each, function.parameters, function.variadic, apply) for each in (name, twin)}


LISTS: Table = {
    **table(
        tuple=("any*", lambda *values: list(values)),
        list=("any*", lambda *values: list(values)),
        concat=("list*", _concat),
        sortAlpha=("any", _sorted),
        default=("any any*", _default),
        empty=("any", empty),
        coalesce=("any*", _coalesce),
        all=("any*", lambda *values: not any(map(empty, values))),
        any=("any*", lambda *values: not all(map(empty, values))),
        ternary=("any any bool", lambda yes, no, which: yes if which else no),
    ),
    **_both("append", "list any", lambda values, value: [*values, value]),
    **_both("push", "list any", lambda values, value: [*values, value]),
    **_both("prepend", "list any", lambda values, value: [value, *values]),
    **_both("first", "list", lambda values: values[0] if values else None),
    **_both("rest", "list", _rest),
    **_both("last", "list", lambda values: values[-1] if values else None),
    **_both("initial", "list", _initial),
    **_both("reverse", "list", lambda values: list(reversed(values))),
    **_both("uniq", "list", _uniq),
    **_both("compact", "list", lambda values: [each for each in values if not empty(each)]),
    **_both("without", "list any*", lambda values, *omit: [each for each in values if not _inside(list(omit), each)]),
    **_both("has", "any any", _has),
    **_both("slice", "list any*", _slice),
    **_both("chunk", "int list", _chunks),
}
