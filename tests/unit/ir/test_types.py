"""Which types fit where."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

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
    Type,
    UnionOf,
    accepts,
    describe,
    join,
    mismatch,
    type_of,
)
from tests.strategies import types, values

POINT = Record("Point", (Field("x", INT), Field("y", INT, required=False)))


@pytest.mark.parametrize(
    ("target", "source", "fits"),
    [
        (FLOAT, INT, True),
        (INT, FLOAT, False),
        (INT, BOOL, False),
        (STR, DATETIME, False),
        (ANY, ListOf(STR), True),
        (ListOf(STR), ANY, True),
        (ListOf(FLOAT), ListOf(INT), True),
        (UnionOf((STR, NONE)), NONE, True),
        (STR, UnionOf((STR, NONE)), False),
        (UnionOf((STR, FLOAT)), UnionOf((INT, STR)), True),
        (STR, Choice(("a", "b")), True),
        (Choice(("a", "b")), Choice(("a",)), True),
        (Choice(("a",)), STR, False),
        (Choice((1,)), Choice((True,)), False),
        (UnionOf((Choice(("a", "b")), INT)), Choice(("a", 3)), True),
        (DictOf(INT), POINT, True),
        (POINT, DictOf(INT), False),
        (Record("P", (Field("x", INT),)), POINT, False),
        (POINT, Record("P", (Field("x", INT),)), True),
        (POINT, Record("P", (Field("y", INT),)), False),
        (POINT, Record("P", (Field("x", INT), Field("z", INT))), False),
    ],
)
def test_what_fits(target: Type, source: Type, fits: bool) -> None:
    assert accepts(target, source) is fits


@given(types())
def test_every_type_takes_its_own_values(type_: Type) -> None:
    assert accepts(type_, type_)


@given(types(any_=False), types(any_=False), types(any_=False))
def test_what_fits_into_what_fits_fits(a: Type, b: Type, c: Type) -> None:
    b, c = join((a, b)), join((a, b, c))
    assume(accepts(b, a) and accepts(c, b))
    assert accepts(c, a)


@given(st.data(), types(any_=False), types(any_=False))
def test_a_type_that_fits_has_only_values_that_fit(data: st.DataObject, target: Type, source: Type) -> None:
    if not accepts(target, source):
        target = join((target, source))
    value = data.draw(values(source))
    assert mismatch(source, value) is None
    assert mismatch(target, value) is None


@given(st.lists(types(any_=False), max_size=4))
def test_the_join_takes_the_values_of_all(several: list[Type]) -> None:
    assert all(accepts(join(several), one) for one in several)


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        (INT, "3", "'3' is not int"),
        (INT, True, "True is not int"),
        (ListOf(INT), [1, "a"], "'a' at [1] is not int"),
        (DictOf(ListOf(INT)), {"a": [None]}, "None at ['a'][0] is not int"),
        (POINT, {"x": 1, "z": 2}, "Point has no field 'z'"),
        (POINT, {"y": 1}, "Point lacks the field 'x'"),
        (Choice(("a", 1)), True, "True is not one of 'a', 1"),
        (UnionOf((INT, NONE)), "a", "'a' is not int | None"),
        (DATETIME, "yesterday", "'yesterday' is not datetime"),
        (FLOAT, "nan", "'nan' is not float"),
        (DictOf(INT), {1: 1}, "the key 1 is not a string"),
    ],
)
def test_why_a_value_doesnt_fit(type_: Type, value: Any, message: str) -> None:
    assert mismatch(type_, value) == message


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([], "list[Any]"),
        ([1, 2.5], "list[float]"),
        ([1, None], "list[int | None]"),
        ({"a": [True]}, "dict[str, list[bool]]"),
        (None, "None"),
    ],
)
def test_the_narrowest_type_of_a_value(value: Any, text: str) -> None:
    assert describe(type_of(value)) == text


def test_what_isnt_json_has_no_type() -> None:
    with pytest.raises(TypeError, match="set is not a JSON value"):
        type_of([{1}])
