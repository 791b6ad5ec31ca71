"""Values of every type, from step to step and out of the run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from enum import Enum
from typing import Any, Literal, NamedTuple, TypedDict

import couler_py as couler
from couler_py.ir.meaning import State
from tests.conformance.case import Case

BIG = 2**63 - 1
LONG = "é" * (45 * 1024)  # 90 KiB in UTF-8
DEEP: Any = "bottom"
for _ in range(40):
    DEEP = [{"next": DEEP}]
NESTED = {
    "": None,
    'key with "quotes" and {{x}} and ${y}': [True, False, None, -0.5, 1e300, 5e-324, BIG, -BIG - 1],
    "list": [[], [[]], {}, {"a": {"b": {"c": [1, "two", {"three": 3}]}}}],
    "text": 'JSON in a string: {"a": "\\n"}',
    "\u0001\u2028🎉": "\x00",
}


class Colour(Enum):
    RED = "red {{x}}"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    label: str
    weight: float = 1.5


class Span(NamedTuple):
    start: datetime
    end: datetime


class Row(TypedDict):
    name: str
    score: float


class Scalars(NamedTuple):
    whole: int
    fraction: float
    flag: bool
    text: str
    nothing: None
    either: int | str
    maybe: str | None


@couler.step
def scalars(whole: int, fraction: float, flag: bool, text: str, either: int | str, maybe: str | None) -> Scalars:
    return Scalars(whole, fraction, flag, text, None, either, maybe)


@couler.step
def kinds(
    whole: int, fraction: float, flag: bool, text: str, nothing: None, either: int | str, maybe: str | None
) -> str:
    return " ".join(type(value).__name__ for value in (whole, fraction, flag, text, nothing, either, maybe))


@couler.workflow
def plain_types():
    first = scalars(BIG, 2, True, "1", "2", None)
    second = scalars(-3, 0.1, False, "", 2, "null")
    return {
        "first": kinds(*first),
        "second": kinds(*second),
        "whole": first.whole,
        "fraction": first.fraction,
        "flag": second.flag,
        "text": first.text,
        "nothing": first.nothing,
        "either": first.either,
        "maybe": first.maybe,
    }


@couler.step
def floats() -> list[float]:
    return [float("nan"), float("inf"), float("-inf"), 0.0, 1.0]


@couler.step
def floats_seen(values: list[float], alone: float, text: str) -> str:
    return " ".join(f"{type(value).__name__}:{value}" for value in [*values, alone, text])


@couler.step
def not_a_number() -> float:
    return float("nan")


@couler.step
def text_nan() -> str:
    return "NaN"


@couler.workflow
def nan_is_not_the_text_nan():
    return floats_seen(floats(), not_a_number(), text_nan())


@couler.step
def nested() -> dict[str, Any]:
    return NESTED


@couler.step
def same(value: Any) -> Any:
    return value


@couler.workflow
def nested_objects_and_lists():
    return {"made": same(nested()), "given": same(NESTED), "deep": same(DEEP)}


@couler.step
def length_of(text: str) -> int:
    return len(text.encode())


@couler.workflow
def ninety_kib():
    return length_of(make_long())


@couler.step
def make_long() -> str:
    return "é" * (45 * 1024)


@couler.step
def too_long() -> str:
    return "é" * (49 * 1024)


@couler.workflow
def a_value_above_the_limit():
    return length_of(too_long())


@couler.step
def colour_of(colour: Colour, mode: Literal["fast", "exact"]) -> str:
    return f"{colour.name} {type(colour).__name__} {mode}"


@couler.step
def paint() -> Colour:
    return Colour.RED


@couler.workflow
def enums():
    return {"made": colour_of(paint(), "fast"), "given": colour_of(Colour.BLUE, "exact"), "value": paint()}


@couler.step
def point(x: int) -> Point:
    return Point(x, "{{p}}")


@couler.step
def moved(points: list[Point], by: Point) -> Point:
    return Point(sum(each.x for each in points) + by.x, by.label, by.weight)


@couler.workflow
def dataclasses():
    first = point(1)
    return {"moved": moved([first, point(2)], Point(10, "given")), "member": first.x}


@couler.step
def span() -> Span:
    start = datetime(2026, 3, 29, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    return Span(start, start + timedelta(hours=1))


@couler.step
def hours(start: datetime, end: datetime) -> str:
    return f"{(end - start).total_seconds() / 3600} {start.isoformat()}"


@couler.workflow
def datetimes():
    made = span()
    return {"hours": hours(*made), "start": made.start}


@couler.step
def rows() -> list[Row]:
    return [{"name": "a", "score": 0.5}, {"name": "b", "score": 2}]


@couler.step
def best(table: list[Row]) -> Row:
    return max(table, key=lambda row: row["score"])


@couler.workflow
def typed_dicts():
    return best(rows())


@couler.workflow
def expressions_over_outputs():
    table = rows()
    made = scalars(7, 0.5, True, "seven", 7, None)
    return {
        "element": table[1]["name"],
        "last": table[-1]["score"],
        "sum": made.whole + 1,
        "half": made.whole / 2,
        "floor": made.whole // 2,
        "rest": made.whole % 4,
        "longer": made.text + "!",
        "both": (made.whole > 5) & made.flag,
        "length": couler.length(table),
        "format": couler.format("{}-{}-{}", made.whole, made.text, made.flag),
        "holds": couler.contains(made.text, "eve"),
    }


@couler.step
def fails_with(text: str) -> int:
    raise ValueError(text)


@couler.step
def wrong_type() -> int:
    return "not an int"  # type: ignore[return-value]


@couler.workflow
def a_result_of_the_wrong_type():
    same(wrong_type())


@couler.workflow
def an_exception():
    same(fails_with("{{x}}\n'quoted'"))


def done(*names: str) -> dict[str, State]:
    return dict.fromkeys(names, "Succeeded")


def case(written: Any, tasks: dict[str, State], outputs: dict[str, Any], **more: Any) -> Case:
    return Case(f"value-{written.name.replace('_', '-')}", written.build, tasks, outputs=outputs, **more)


@couler.step
def add_in_words(größe: int, число: int) -> int:
    return größe + число


@couler.workflow
def inputs_in_other_alphabets():
    return add_in_words(größe=1, число=2)


CASES = [
    case(
        plain_types,
        done("scalars", "scalars-2", "kinds", "kinds-2"),
        {
            "first": "int float bool str NoneType str NoneType",
            "second": "int float bool str NoneType int str",
            "whole": BIG,
            "fraction": 2.0,
            "flag": False,
            "text": "1",
            "nothing": None,
            "either": "2",
            "maybe": None,
        },
    ),
    case(
        nan_is_not_the_text_nan,
        done("floats", "not_a_number", "text_nan", "floats_seen"),
        {"result": "float:nan float:inf float:-inf float:0.0 float:1.0 float:nan str:NaN"},
    ),
    case(
        nested_objects_and_lists,
        done("nested", "same", "same-2", "same-3"),
        {"made": NESTED, "given": NESTED, "deep": DEEP},
    ),
    case(ninety_kib, done("make_long", "length_of"), {"result": len(LONG.encode())}),
    case(a_value_above_the_limit, {"too_long": "Failed", "length_of": "Blocked"}, {}, status="Failed"),
    case(
        enums,
        done("paint", "colour_of", "colour_of-2", "paint-2"),
        {"made": "RED Colour fast", "given": "BLUE Colour exact", "value": "red {{x}}"},
    ),
    case(
        dataclasses,
        done("point", "point-2", "moved"),
        {"moved-x": 13, "moved-label": "given", "moved-weight": 1.5, "member": 1},
    ),
    case(
        datetimes,
        done("span", "hours"),
        {"hours": "1.0 2026-03-29T01:30:00+02:00", "start": "2026-03-29T01:30:00+02:00"},
    ),
    case(typed_dicts, done("rows", "best"), {"result": {"name": "b", "score": 2.0}}),
    case(
        expressions_over_outputs,
        done("rows", "scalars"),
        {
            "element": "b",
            "last": 2.0,
            "sum": 8,
            "half": 3.5,
            "floor": 3,
            "rest": 3,
            "longer": "seven!",
            "both": True,
            "length": 2,
            "format": "7-seven-true",
            "holds": True,
        },
    ),
    case(a_result_of_the_wrong_type, {"wrong_type": "Failed", "same": "Blocked"}, {}, status="Failed"),
    case(inputs_in_other_alphabets, done("add_in_words"), {"result": 3}),
    case(an_exception, {"fails_with": "Failed", "same": "Blocked"}, {}, status="Failed"),
]
