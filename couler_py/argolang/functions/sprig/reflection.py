"""`sprig`: the types of values, as Go names them."""

from __future__ import annotations

from typing import Any

from couler_py.argolang.arithmetic import same
from couler_py.argolang.functions.gotime import Moment
from couler_py.argolang.functions.tables import table
from couler_py.argolang.values import AnyMap, Byte, Duration, Int64, Integers, StringMap, Strings

_TYPES: tuple[tuple[type, str, str], ...] = (
    (bool, "bool", "bool"),
    (Int64, "int64", "int64"),
    (Byte, "uint8", "uint8"),
    (Duration, "time.Duration", "int64"),
    (int, "int", "int"),
    (float, "float64", "float64"),
    (str, "string", "string"),
    (Strings, "[]string", "slice"),
    (Integers, "[]int", "slice"),
    (list, "[]interface {}", "slice"),
    (StringMap, "map[string]string", "map"),
    (AnyMap, "map[interface {}]interface {}", "map"),
    (dict, "map[string]interface {}", "map"),
    (Moment, "time.Time", "struct"),
)


def _type(value: Any) -> str:
    return next((name for python, name, _ in _TYPES if isinstance(value, python)), "<nil>" if value is None else "func")


def _kind(value: Any) -> str:
    return next(
        (name for python, _, name in _TYPES if isinstance(value, python)), "invalid" if value is None else "func"
    )


REFLECTION = table(
    typeOf=("any", _type),
    typeIs=("string any", lambda name, value: name == _type(value)),
    typeIsLike=("string any", lambda name, value: _type(value) in (name, "*" + name)),
    kindOf=("any", _kind),
    kindIs=("string any", lambda name, value: name == _kind(value)),
    deepEqual=("any any", same),
)
