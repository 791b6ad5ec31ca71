"""Values as they travel: what goes in comes out, whatever an engine does to the text on the way."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.ir import to_builtins, wire
from couler_py.ir.types import ANY, BOOL, DATETIME, FLOAT, INT, NONE, STR, ListOf, Type, UnionOf
from tests.strategies import hostile_text, types, values


@st.composite
def typed_values(draw: st.DrawFn) -> tuple[Type, Any]:
    type_ = draw(types(any_=False))
    return type_, draw(values(type_))


def same(left: Any, right: Any) -> bool:
    """Equal, by kind too, and NaN is itself."""
    if isinstance(left, float) and isinstance(right, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return type(left) is type(right) and left == right


@given(typed_values())
def test_a_value_comes_back_as_it_was(typed: tuple[Type, Any]) -> None:
    type_ = to_builtins(typed[0])
    value = wire.restore(type_, typed[1])
    assert same(wire.decode(type_, wire.encode(type_, value)), value)


@given(typed_values())
def test_an_encoded_value_holds_no_tag_of_an_engine(typed: tuple[Type, Any]) -> None:
    text = wire.encode(to_builtins(typed[0]), typed[1])
    assert "{{" not in text
    assert text.encode().decode() == text
    assert "\0" not in text


@given(hostile_text())
def test_encoding_is_enough_for_a_value_inside_a_value(text: str) -> None:
    """A fan-out's element is the JSON text of a value: encoded again, still no tag, and back again."""
    item, outer = to_builtins(STR), to_builtins(ListOf(STR))
    once = wire.to_json(text)
    twice = wire.encode(outer, [once])
    assert "{{" not in twice
    assert wire.restore(item, json.loads(wire.decode(outer, twice)[0])) == text


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        (STR, "plain", "plain"),
        (STR, "", ""),
        (STR, "two\nlines", "two\nlines"),
        (STR, "ends\n", 'couler:json:"ends\\n"'),
        (STR, "{{x}}", 'couler:json:"{\\u007bx}}"'),
        (STR, "couler:json:1", 'couler:json:"couler:json:1"'),
        (STR, "true", "true"),
        (UnionOf((STR, NONE)), "true", '"true"'),
        (ListOf(STR), ["{{a}}"], '["{\\u007ba}}"]'),
        (INT, 2**63 - 1, "9223372036854775807"),
        (FLOAT, 0.1, "0.1"),
        (FLOAT, math.nan, '"NaN"'),
        (FLOAT, -math.inf, '"-Infinity"'),
        (BOOL, True, "true"),
        (NONE, None, "null"),
        (ANY, "x", '"x"'),
        (DATETIME, "2024-02-29T12:00:00Z", '"2024-02-29T12:00:00Z"'),
    ],
)
def test_the_text_of_a_value(type_: Type, value: Any, text: str) -> None:
    assert wire.encode(to_builtins(type_), value) == text


def test_an_int_comes_back_as_a_float_where_one_is_asked_for() -> None:
    assert same(wire.decode(to_builtins(FLOAT), "3"), 3.0)


def test_a_value_that_isnt_json_is_refused() -> None:
    with pytest.raises(ValueError, match="set is not a JSON value"):
        wire.encode(to_builtins(ANY), {1})
    with pytest.raises(ValueError, match="1 of an object is not a string"):
        wire.encode(to_builtins(ANY), {1: 2})
    with pytest.raises(ValueError, match="3 is not a string"):
        wire.encode(to_builtins(STR), 3)
    with pytest.raises(ValueError, match="'nonsense' is not the JSON text of a value"):
        wire.decode(to_builtins(INT), "nonsense")
