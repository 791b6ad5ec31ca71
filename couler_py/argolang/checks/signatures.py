"""What the language's own functions take and give."""

from __future__ import annotations

from collections.abc import Callable

from couler_py.argolang.checks.natures import (
    ANYMAP,
    BOOL,
    DURATION,
    FLOAT,
    INT,
    LIST,
    LISTS,
    MAPS,
    NUMBERS,
    STRING,
    STRINGS,
    TIME,
    UNKNOWN,
    ZONE,
    Nature,
    element_of,
)

Result = Nature | None

_NUMERIC = ("unknown", *NUMBERS, "duration")

# the ways of calling a function: the kinds of its arguments, and what it gives
OVERLOADS: dict[str, tuple[tuple[str, ...], Nature]] = {
    "type": (("any",), STRING),
    "string": (("any",), STRING),
    **dict.fromkeys(("trim", "trimPrefix", "trimSuffix"), (("string", "string string"), STRING)),
    **dict.fromkeys(("upper", "lower", "toBase64", "fromBase64"), (("string",), STRING)),
    **dict.fromkeys(("split", "splitAfter"), (("string string", "string string int"), STRINGS)),
    "replace": (("string string string int", "string string string"), STRING),
    "repeat": (("string int",), STRING),
    "join": (("strings string", "list string", "list", "strings"), STRING),
    **dict.fromkeys(("indexOf", "lastIndexOf"), (("string string",), INT)),
    **dict.fromkeys(("hasPrefix", "hasSuffix"), (("string string",), BOOL)),
    "toJSON": (("any",), STRING),
    "fromJSON": (("string",), UNKNOWN),
    "duration": (("string",), DURATION),
    "timezone": (("string",), ZONE),
    "sort": (("list string", "strings string", "list", "strings"), LIST),
    **dict.fromkeys(("bitand", "bitor", "bitxor", "bitnand", "bitshl", "bitshr", "bitushr"), (("int int",), INT)),
    "bitnot": (("int",), INT),
}


def _one(kinds: tuple[str, ...], result: Callable[[Nature], Nature]) -> Callable[[list[Nature]], Result]:
    return lambda given: result(given[0]) if len(given) == 1 and given[0].kind in kinds else None


def _extreme(given: list[Nature]) -> Result:
    if not given:
        return None
    for nature in given:
        if nature.kind in ("unknown", *LISTS):
            return UNKNOWN
        if nature.kind not in _NUMERIC:
            return None
    return given[0]


def _now(given: list[Nature]) -> Result:
    return TIME if not given or (len(given) == 1 and given[0].kind == "zone") else None


def _date(given: list[Nature]) -> Result:
    count = len(given) - (bool(given) and given[0].kind == "zone")
    return TIME if given and count <= 3 else None


def _take(given: list[Nature]) -> Result:
    fits = len(given) == 2 and given[0].kind in ("unknown", *LISTS) and given[1].kind in ("unknown", "int", "duration")
    return given[0] if fits else None


def _concat(given: list[Nature]) -> Result:
    return LIST if given and all(each.kind in ("unknown", *LISTS) for each in given) else None


# what a function gives for the natures of its arguments, or None where they don't fit
RULES: dict[str, Callable[[list[Nature]], Result]] = {
    "len": _one(("unknown", "string", *LISTS, *MAPS), lambda given: INT),
    "abs": _one(_NUMERIC, lambda given: given),
    **dict.fromkeys(("ceil", "floor", "round"), _one(_NUMERIC, lambda given: FLOAT)),
    "int": _one((*_NUMERIC, "string"), lambda given: INT),
    "float": _one((*_NUMERIC, "string"), lambda given: FLOAT),
    **dict.fromkeys(("max", "min", "mean", "median"), _extreme),
    "now": _now,
    "date": _date,
    **dict.fromkeys(("first", "last"), _one(("unknown", *LISTS), element_of)),
    "take": _take,
    **dict.fromkeys(("keys", "values", "toPairs"), _one(("unknown", *MAPS), lambda given: LIST)),
    "fromPairs": _one(("unknown", *LISTS), lambda given: ANYMAP),
    **dict.fromkeys(("reverse", "uniq", "flatten"), _one(("unknown", *LISTS), lambda given: LIST)),
    "concat": _concat,
}


def fits(given: Nature, wanted: str) -> bool:
    """Whether an argument may be given where a kind is wanted."""
    if wanted == "any" or given.kind == "unknown":
        return True
    if given.kind == "nil":
        return wanted == "any"
    return given.kind == wanted


METHODS: dict[str, dict[str, Nature]] = {
    "time": {
        **dict.fromkeys(("Year", "Day", "Hour", "Minute", "Second", "Nanosecond", "YearDay"), INT),
        **dict.fromkeys(("Month", "Weekday"), UNKNOWN),
        **dict.fromkeys(("Unix", "UnixMilli", "UnixMicro", "UnixNano"), INT),
        **dict.fromkeys(("Format", "String"), STRING),
        **dict.fromkeys(("UTC", "Add"), TIME),
        "Sub": DURATION,
        **dict.fromkeys(("Before", "After", "Equal"), BOOL),
    },
    "duration": {
        **dict.fromkeys(("Hours", "Minutes", "Seconds"), FLOAT),
        **dict.fromkeys(("Milliseconds", "Microseconds", "Nanoseconds"), INT),
        "String": STRING,
    },
}
