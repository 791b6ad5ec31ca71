"""The reference meaning of expressions: every operator, every error."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given

from couler_py.ir import expr as x
from couler_py.ir import to_builtins
from couler_py.ir.evaluate import AbsentError, EvaluationError, evaluate, evaluate_condition
from couler_py.ir.types import BOOL, FLOAT, INT, STR, mismatch
from tests.strategies import expressions


def value_of(expr: x.Expr, **known: Any) -> Any:
    def resolve(node: dict[str, Any]) -> Any:
        name = node["name"]
        if name not in known:
            raise AbsentError(f"{name} is absent")
        return known[name]

    return evaluate(to_builtins(expr), resolve)


def lit(value: Any) -> x.Literal:
    return x.Literal(value)


def compare(left: Any, op: Any, right: Any) -> x.Expr:
    return x.Compare(op, lit(left), lit(right))


def compute(left: Any, op: Any, right: Any) -> x.Expr:
    return x.Compute(op, lit(left), lit(right))


NAN, INFINITY = x.NonFinite("NaN"), x.NonFinite("Infinity")


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (compare(1, "==", 1), True),
        (compare(1, "==", 1.0), True),
        (compare(1, "==", "1"), False),
        (compare(1, "!=", "1"), True),
        (compare(True, "==", 1), False),
        (compare(None, "==", None), True),
        (compare(None, "==", 0), False),
        (compare([1, "a"], "==", [1.0, "a"]), True),
        (compare([True], "==", [1]), False),
        (compare({"a": 1, "b": 2}, "==", {"b": 2, "a": 1}), True),
        (compare({"a": 1}, "==", {"a": 1, "b": 2}), False),
        (compare(2, "<", 10), True),
        (compare("2", "<", "10"), False),
        (compare("Z", "<", "a"), True),
        (compare("a", "<=", "a"), True),
        # by code point, not by UTF-16 unit: U+FF5E comes before U+1F600
        (compare("\uff5e", "<", "\U0001f600"), True),
        (compare(2, ">=", 2.5), False),
        (compare(3, ">", 2.5), True),
        (x.Compare("==", NAN, NAN), False),
        (x.Compare("!=", NAN, NAN), True),
        (x.Compare("<", NAN, lit(1)), False),
        (x.Compare(">", INFINITY, lit(2**53)), True),
        (x.AllOf((lit(True), lit(True))), True),
        (x.AllOf((lit(False), compare(1, "<", "a"))), False),
        (x.AllOf(()), True),
        (x.AnyOf((lit(True), compare(1, "<", "a"))), True),
        (x.AnyOf((lit(False), lit(False))), False),
        (x.AnyOf(()), False),
        (x.Not(lit(False)), True),
        (compute(7, "/", 2), 3.5),
        (compute(8, "/", 2), 4.0),
        (compute(7, "//", 2), 3),
        (compute(-7, "//", 2), -4),
        (compute(-7, "%", 3), 2),
        (compute(7.5, "//", 2), 3.0),
        (compute("a", "+", "b"), "ab"),
        (compute([1], "+", ["a"]), [1, "a"]),
        (compute(2, "*", 3), 6),
        (compute(2, "-", 3.5), -1.5),
        (x.Access(lit({"a": {"b": 1}}), lit("a")), {"b": 1}),
        (x.Access(lit([1, 2, 3]), lit(-1)), 3),
        (x.Length(lit("\U0001f600é")), 2),
        (x.Length(lit([1, 2])), 2),
        (x.Length(lit({"a": 1})), 1),
        (x.Contains(lit([1, "a"]), lit("a")), True),
        (x.Contains(lit([1]), lit(True)), False),
        (x.Contains(lit({"a": 1}), lit("a")), True),
        (x.Contains(lit("abc"), lit("bc")), True),
        (x.Record(("a", "b"), (lit(1), lit([2]))), {"a": 1, "b": [2]}),
        (x.Record((), (lit(1), lit("b")), "list"), [1, "b"]),
        (x.Zip((lit([1, 2]), lit(["a", "b"]))), [[1, "a"], [2, "b"]]),
        (x.Text(("a=", lit(1), " ", lit(None), " ", lit(True), " ", lit("x y"), " ", lit([1, "é"]))),
         'a=1 null true x y [1,"é"]'),
        (x.Text((lit(1.0), "|", lit(0.1))), "1.0|0.1"),
        (x.Text((INFINITY,)), '"Infinity"'),
    ],
)  # fmt: skip
def test_value_of_an_operator(expr: x.Expr, expected: Any) -> None:
    found = value_of(expr)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        (compare(1, "<", "a"), "number can't be ordered with string by <"),
        (compare(True, "<", False), "boolean can't be ordered with boolean by <"),
        (compare(None, ">", 1), "null can't be ordered with number by >"),
        (compare(2**53 + 1, "==", 1), r"9007199254740993 is beyond plus or minus 2\^53"),
        (compare(-(2**53) - 1, "<", 1), r"is beyond plus or minus 2\^53"),
        (x.AllOf((lit(1),)), "and needs true or false, not the number 1"),
        (x.AnyOf((lit("true"),)), "or needs true or false, not the string 'true'"),
        (x.Not(lit(None)), "not needs true or false, not the null None"),
        (compute(1, "/", 0), "division by zero"),
        (compute(1.5, "%", 0), "division by zero"),
        (compute(1, "//", 0), "division by zero"),
        (compute("a", "+", 1), r"\+ needs a number, not the string 'a'"),
        (compute("a", "*", 2), r"\* needs a number"),
        (compute(True, "+", 1), r"\+ needs a number, not the boolean True"),
        (compute(2**62, "*", 2), "doesn't fit in 64 bits"),
        (compute(-(2**63), "-", 1), "doesn't fit in 64 bits"),
        (compute(10**18, "*", 10), "doesn't fit in 64 bits"),
        (x.Access(lit({"a": 1}), lit("b")), "there is no member 'b' among 'a'"),
        (x.Access(lit([1]), lit(1)), "there is no element 1 in a list of 1"),
        (x.Access(lit([1]), lit(-2)), "there is no element -2 in a list of 1"),
        (x.Access(lit([1]), lit(True)), "a list has no member True"),
        (x.Access(lit("abc"), lit(0)), "a string has no member 0"),
        (x.Length(lit(3)), "a number has no length"),
        (x.Contains(lit(3), lit(3)), "a number can't hold a number"),
        (x.Contains(lit("abc"), lit(1)), "a string can't hold a number"),
        (x.Zip((lit([1]), lit([1, 2]))), "zip needs lists of equal length, not of 1, 2"),
        (x.Zip((lit("ab"),)), "zip needs lists, not a string"),
        (x.Input("gone"), "gone is absent"),
        (x.First((x.Input("gone"), x.Input("gone too"))), "none of the values of first"),
    ],
)
def test_what_has_no_value_is_an_error(expr: x.Expr, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        value_of(expr)


def test_the_greatest_and_the_least_integer_are_kept_exactly() -> None:
    assert value_of(compute(2**62, "+", 2**62 - 1)) == 2**63 - 1
    assert value_of(compute(-(2**62), "-", 2**62)) == -(2**63)


def test_infinity_computes_as_ieee_says() -> None:
    assert value_of(x.Compute("+", INFINITY, lit(1))) == math.inf
    assert math.isnan(value_of(x.Compute("-", INFINITY, INFINITY)))
    assert math.isnan(value_of(x.Compute("//", INFINITY, lit(2))))


def test_or_else_catches_absence_only() -> None:
    assert value_of(x.OrElse(x.Input("gone"), lit("v"))) == "v"
    assert value_of(x.OrElse(x.Input("a"), lit("v")), a=None) is None
    with pytest.raises(EvaluationError, match="division by zero"):
        value_of(x.OrElse(compute(1, "/", 0), lit("v")))


def test_or_else_doesnt_read_its_default_in_vain() -> None:
    assert value_of(x.OrElse(x.Input("a"), compute(1, "/", 0)), a=1) == 1


def test_first_takes_the_first_that_is_present() -> None:
    assert value_of(x.First((x.Input("gone"), x.Input("b"), x.Input("c"))), b=2, c=3) == 2


def test_a_condition_must_be_true_or_false() -> None:
    with pytest.raises(EvaluationError, match="a condition needs true or false, not the number 1"):
        evaluate_condition({"type": "literal", "value": 1}, lambda node: None)


@pytest.mark.parametrize("type_", [BOOL, INT, FLOAT, STR], ids=["bool", "int", "float", "str"])
def test_an_expression_has_a_value_of_its_type_or_none(type_: Any) -> None:
    @given(expressions(type_))
    def law(expr: x.Expr) -> None:
        try:
            value = value_of(expr)
        except EvaluationError:
            return
        if isinstance(value, float) and not math.isfinite(value):
            value = {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        assert mismatch(type_, value) is None

    law()
