"""What annotations mean, and how values given at build time are written."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, NotRequired, Optional, TypedDict, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.dsl.annotations import ArtifactType, Scope, description, hint
from couler_py.dsl.conversions import ValueMismatchError, to_wire
from couler_py.dsl.errors import AnnotationError
from couler_py.ir.types import (
    ANY,
    BOOL,
    DATETIME,
    FLOAT,
    INT,
    NONE,
    STR,
    Choice,
    DictOf,
    Field,
    ListOf,
    Record,
    UnionOf,
)


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1


class Bits(enum.Flag):
    A = 1


@dataclasses.dataclass
class Inner:
    x: int
    tag: str = ""


@dataclasses.dataclass
class Outer:
    inner: Inner
    items: list[Inner]


@dataclasses.dataclass
class Tree:
    children: list[Tree]


class Row(TypedDict):
    name: str
    age: NotRequired[int]


class Point(NamedTuple):
    x: float
    y: float = 0.0


T = TypeVar("T")


class Box(Generic[T]):
    pass


Meters = NewType("Meters", float)
SCOPE = Scope(globals())
INNER = Record("Inner", (Field("x", INT), Field("tag", STR, required=False)))


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (bool, BOOL),
        (int, INT),
        (float, FLOAT),
        (str, STR),
        (None, NONE),
        (datetime.datetime, DATETIME),
        (Any, ANY),
        (object, ANY),
        (list, ListOf(ANY)),
        (dict, DictOf(ANY)),
        (list[int], ListOf(INT)),
        (Sequence[str], ListOf(STR)),
        (dict[str, list[float]], DictOf(ListOf(FLOAT))),
        (Mapping[str, int], DictOf(INT)),
        (Literal["a", 1, None], Choice(("a", 1, None))),
        (Literal[Color.RED], Choice(("red",))),
        (Color, Choice(("red", "blue"), "Color")),
        (Level, Choice((1,), "Level")),
        (int | None, UnionOf((INT, NONE))),
        (Optional[int], UnionOf((INT, NONE))),  # noqa: UP045
        (int | Any, ANY),
        (Annotated[int, "how many"], INT),
        (Meters, FLOAT),
        (Inner, INNER),
        (Outer, Record("Outer", (Field("inner", INNER), Field("items", ListOf(INNER))))),
        (Row, Record("Row", (Field("name", STR), Field("age", INT, required=False)))),
        (Point, Record("Point", (Field("x", FLOAT), Field("y", FLOAT, required=False)))),
        ("list[Inner]", ListOf(INNER)),
        (list["Color"], ListOf(Choice(("red", "blue"), "Color"))),
        (Path, ArtifactType()),
        (Path | None, ArtifactType(optional=True)),
        (list[Path], ArtifactType(many=True)),
        ("Annotated[Path, 'the data']", ArtifactType()),
    ],
    ids=str,
)
def test_annotation_has_a_type(annotation: Any, expected: Any) -> None:
    assert hint(annotation, SCOPE) == expected


@pytest.mark.parametrize(
    ("annotation", "way_out"),
    [
        (bytes, "pathlib.Path"),
        (set[int], "list[...]"),
        (tuple[int, str], "NamedTuple"),
        (dict[int, str], "dict[str, ...]"),
        (datetime.date, "date.isoformat"),
        (Bits, "annotate `int`"),
        (Box, "generic classes"),
        (Box[int], "generic classes"),
        (T, "not generic"),
        (Tree, "contains itself"),
        (Path | str, "two arguments"),
        (dict[str, Path], "of its own"),
        (Scope, "dataclass"),
    ],
    ids=str,
)
def test_refused_annotation_names_the_way_out(annotation: Any, way_out: str) -> None:
    with pytest.raises(AnnotationError) as caught:
        hint(annotation, SCOPE)
    assert caught.value.diagnostics[0].code == "CLR100"
    assert way_out in caught.value.diagnostics[0].help


def test_unknown_name_in_an_annotation_is_refused() -> None:
    with pytest.raises(AnnotationError, match=r"CLR101.*'Nowhere'"):
        hint("Nowhere", SCOPE)


def test_description_is_the_text_of_annotated() -> None:
    assert description(Annotated[int, 3, "how many"], SCOPE) == "how many"


@pytest.mark.parametrize(
    ("type_", "value", "wire"),
    [
        (FLOAT, math.nan, "NaN"),
        (FLOAT, -math.inf, "-Infinity"),
        (FLOAT, 3, 3),
        (ListOf(INT), (1, 2), [1, 2]),
        (Choice(("red", "blue"), "Color"), Color.RED, "red"),
        (INNER, Inner(1), {"x": 1, "tag": ""}),
        (Record("Point", (Field("x", FLOAT), Field("y", FLOAT))), Point(1.0), {"x": 1.0, "y": 0.0}),
        (DATETIME, datetime.datetime(2025, 1, 2, tzinfo=datetime.UTC), "2025-01-02T00:00:00+00:00"),
        (DATETIME, "2025-01-02T00:00:00Z", "2025-01-02T00:00:00Z"),
        (ANY, {"a": [Color.BLUE]}, {"a": ["blue"]}),
    ],
    ids=str,
)
def test_value_travels_as(type_: Any, value: Any, wire: Any) -> None:
    assert to_wire(type_, value) == wire


def test_numpy_scalar_travels_as_number() -> None:
    numpy = pytest.importorskip("numpy")
    wire = to_wire(INT, numpy.int64(3))
    assert (wire, type(wire)) == (3, int)


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        (INT, "3", "'3' is not int"),
        (INT, True, "True is not int"),
        (ListOf(INT), [1, "b"], r"'b' at \[1\] is not int"),
        (ANY, {"a": b""}, "bytes at .*'a'.* can't travel"),
        (ANY, {1: 2}, "the key 1 is not a string"),
        (ANY, Path("x"), "argument of its own"),
        (ANY, {3}, "sorted"),
        (DATETIME, datetime.datetime(2025, 1, 2), "has no time zone"),
        (DATETIME, "2025-01-02T00:00:00", "has no time zone"),
        (DATETIME, "soon", "is not datetime"),
        (Choice(("red",)), "green", "not one of 'red'"),
    ],
    ids=str,
)
def test_value_that_does_not_fit_is_refused(type_: Any, value: Any, message: str) -> None:
    with pytest.raises(ValueMismatchError, match=message):
        to_wire(type_, value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values)
def test_json_value_is_its_own_wire_form_but_for_non_finite_floats(value: Any) -> None:
    def expected(part: Any) -> Any:
        if isinstance(part, float) and not math.isfinite(part):
            return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(part)]
        if isinstance(part, list):
            return [expected(item) for item in part]
        if isinstance(part, dict):
            return {key: expected(item) for key, item in part.items()}
        return part

    assert to_wire(ANY, value) == expected(value)
