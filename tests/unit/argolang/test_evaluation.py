"""The values of expressions: the table that the real controller is held to, and what no table can hold."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.argolang import FUNCTIONS, EvaluationProblem, SyntaxProblem, evaluate, expanded, to_json
from tests.unit.argolang.cases import FAILING, VALUES, VARIABLES
from tests.unit.argolang.generated import an_expression, spoiled

ENVIRONMENT = expanded(VARIABLES)


def alike(left: Any, right: Any) -> bool:
    """Whether two values of JSON are the same; `1` and `1.0` are, `1` and `true` aren't."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(alike, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(alike(left[key], right[key]) for key in left)
    return bool(left == right)


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_an_expression_has_its_value(text: str, value: Any) -> None:
    assert alike(json.loads(to_json(evaluate(text, ENVIRONMENT))), value)


@pytest.mark.parametrize("text", FAILING)
def test_an_expression_without_a_value_is_refused(text: str) -> None:
    with pytest.raises((EvaluationProblem, SyntaxProblem)):
        to_json(evaluate(text, ENVIRONMENT))


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("1 + nope", "there is no variable 'nope'", 4),
        ("1 + ('a' - 1)", "'-' has no meaning for a string and a int", 5),
        ("inputs.parameters.text + 1", "'+' has no meaning for a string and a int", 0),
        ("[1][5]", "the index 5 is out of range: there are 1 elements", 0),
        ("asInt('x')", "'x' is no whole number", 0),
        ("fromJSON('{}').a.b", "'b' can't be taken from a nil", 0),
        ("sprig.trim()", "sprig.trim takes 1 arguments, not 0", 0),
        ("sprig.trim(1)", "sprig.trim needs a string as argument 1, not a int", 0),
        ("let inputs = 1; inputs", "'inputs' is there already", 0),
    ],
)
def test_a_problem_says_what_and_where(text: str, message: str, offset: int) -> None:
    with pytest.raises(EvaluationProblem) as caught:
        evaluate(text, ENVIRONMENT)
    assert (caught.value.message, caught.value.offset) == (message, offset)


def test_time_is_that_of_the_clock() -> None:
    def clock() -> int:
        return 1_700_000_000_000_000_000

    assert evaluate("now().Unix()", clock=clock) == 1_700_000_000
    assert evaluate("string(now())", clock=clock) == "2023-11-14 22:13:20 +0000 UTC"
    assert evaluate("sprig.date('2006-01-02', sprig.now())", clock=clock) == "2023-11-14"
    assert evaluate("sprig.ago(1699999990)", clock=clock) == "10s"


def test_a_variable_takes_the_place_of_a_function() -> None:
    assert evaluate("len == 1", {"len": 1})
    with pytest.raises(EvaluationProblem):
        evaluate("duration('1h')", {"duration": "5"})


def test_variables_never_take_the_place_of_argos_functions() -> None:
    assert evaluate("asInt('1')", {"asInt": "x"}) == 1


@pytest.mark.parametrize("name", sorted(name for name, each in FUNCTIONS.items() if each.apply is None))
def test_a_function_that_is_only_known_says_so(name: str) -> None:
    arguments = ", ".join({"int": "1"}.get(kind, "'a'") for kind in FUNCTIONS[name].parameters)
    with pytest.raises(EvaluationProblem, match="isn't evaluated here") as caught:
        evaluate(f"{name}({arguments})")
    assert caught.value.late


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("len", 1, 1),
        ("trim", 1, 2),
        ("replace", 3, 4),
        ("filter", 2, 2),
        ("sortBy", 2, 3),
        ("count", 1, 2),
        ("max", 0, None),
        ("asInt", 1, 1),
        ("jsonpath", 2, 2),
        ("sprig.trim", 1, 1),
        ("sprig.default", 1, None),
        ("sprig.uuidv4", 0, 0),
    ],
)
def test_functions_know_how_many_arguments_they_take(name: str, least: int, most: int | None) -> None:
    assert (FUNCTIONS[name].least, FUNCTIONS[name].most) == (least, most)


@pytest.mark.parametrize(
    "text",
    [
        "1..1000000000",
        "map(1..900000, map(1..900000, #))",
        "filter(1..100000, count(1..100000, # > 1) > 1)",
        "repeat('a', 1000000000)",
        "repeat(repeat('a', 100000), 100000)",
        "reduce(1..60, #acc + #acc, 'aaaaaaaa')",
        "sprig.until(1000000000)",
        "sprig.untilStep(0, 10, 0) | map(#) | len() > 0 ? 1..9999999 : 1..9999999",
        "sprig.seq(1000000000)",
        "sprig.indent(1000000, 'a')  | repeat(100000)",
        "sprig.regexMatch('(a{1,1000}){1,1000}', 'a')",
        "repeat('a', 1000000) matches '(a+)+b(a*)*c'",
        "flatten([1..600000, 1..600000])",
        "uniq(map(1..50000, #))",
        "replace(repeat('a', 100000), 'a', repeat('b', 100000))",
        "string(1..900000) + string(1..900000)" + " + string(1..900000)" * 10,
    ],
)
def test_a_hostile_expression_ends(text: str) -> None:
    with pytest.raises(EvaluationProblem):
        evaluate(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 500 + "1" + ")" * 500,
        "[" * 5000,
        "-" * 5000 + "1",
        "not " * 5000 + "true",
        "len(" * 300 + "'a'" + ")" * 300,
        "1 ? " * 400 + "2" + " : 3" * 400,
        "x" + ".a" * 2000,
        "2 ** " * 500 + "2",
        "if true {" * 300 + "1" + "} else { 2 }" * 300,
        "a + " * 20_000 + "a",
    ],
)
def test_what_is_nested_too_deeply_is_refused(text: str) -> None:
    with pytest.raises(SyntaxProblem):
        evaluate(text)


def test_what_is_nested_too_deeply_is_refused_where_it_gets_so() -> None:
    with pytest.raises(SyntaxProblem, match="nested deeper than 100 levels") as caught:
        evaluate("(" * 3000 + "'never closed")
    assert caught.value.offset == 100


def test_a_long_chain_of_operators_is_no_problem() -> None:
    assert evaluate("1" + " + 1" * 3000) == 3001
    assert evaluate("true" + " && true" * 3000) is True


def test_steps_are_bounded() -> None:
    assert evaluate("sum(map(1..100, #))", steps=1000) == 5050
    with pytest.raises(EvaluationProblem, match="too many steps"):
        evaluate("sum(map(1..100, #))", steps=100)


@given(st.text(alphabet="abx#.,:;?|&=<>!()[]{}'\"`\\ 0123456789+-*/% \n\u00e9\U0001f600"))
def test_any_text_has_a_value_or_a_problem(text: str) -> None:
    try:
        evaluate(text, {"a": "1", "b": {"x": [1, "2"]}, "x": None})
    except (SyntaxProblem, EvaluationProblem):
        return


@given(st.integers(0, 10**9))
def test_any_expression_has_a_value_or_a_problem(seed: int) -> None:
    source = Random(seed)
    text = an_expression(source)
    for each in (text, spoiled(source, text)):
        try:
            value = evaluate(each, ENVIRONMENT)
            json.loads(to_json(value))
        except (SyntaxProblem, EvaluationProblem):
            continue
