"""`when`: the table that the real controller is held to, and the trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.argolang import EvaluationProblem, SyntaxProblem, condition, parse_condition, stand_ins
from couler_py.argolang.govaluate import Constant, Group, Operation
from tests.unit.argolang.cases import FALSE, REFUSED, TRUE


@pytest.mark.parametrize("text", TRUE)
def test_a_condition_holds(text: str) -> None:
    assert condition(text) is True


@pytest.mark.parametrize("text", FALSE)
def test_a_condition_does_not_hold(text: str) -> None:
    assert condition(text) is False


@pytest.mark.parametrize("text", REFUSED)
def test_a_condition_that_cannot_be_told_is_refused(text: str) -> None:
    with pytest.raises((SyntaxProblem, EvaluationProblem)):
        condition(text)


def test_no_condition_holds() -> None:
    assert condition("") is True
    assert parse_condition("") is None


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("a b == c", "'b' can't follow 'a'", 2),
        ("a ==", "a value is missing", 4),
        ("x == 'a", "a quote isn't closed", 5),
        ("a==-1", "'==-' is no operator; a text with signs in it needs quotes", 1),
        ("100% == x", "'==' can't follow '%'", 5),
        ("x == foo.bar", "'foo.bar' is read as the field 'bar' of a variable; put it into quotes", 5),
        ("(a == b", "the parentheses don't match", 7),
        ("!a", "'!' can't stand before the text 'a'", 1),
        ("1.2.3 == x", "'1.2.3' is no number", 0),
        ("/a == /a", "'/' can't follow nothing", 0),
    ],
)
def test_a_text_that_is_no_condition_is_told_where(text: str, message: str, offset: int) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse_condition(text)
    assert (caught.value.message, caught.value.offset) == (message, offset)


def test_bare_words_are_texts_and_tags_are_words() -> None:
    tree = parse_condition("{{x}} == yes && ('a b' != 1)")
    assert tree == Operation(
        "&&",
        Operation("==", Constant("ttttt", 0, 5, bare=True), Constant("yes", 9, 12, bare=True), 0, 12),
        Group(Operation("!=", Constant("a b", 17, 22), Constant(1.0, 26, 27), 17, 27), 16, 28),
        0,
        28,
    )


def test_stand_ins_keep_every_place() -> None:
    text = "'{{a}}' == {{= b == 'c' }}"
    assert stand_ins(text) == "'ttttt' == ttttttttttttttt"
    assert len(stand_ins(text)) == len(text)


def test_what_a_value_has_no_meaning_for_is_told() -> None:
    with pytest.raises(EvaluationProblem, match="'<' has no meaning for a and 1"):
        condition("a < 1")
    with pytest.raises(EvaluationProblem, match="is no condition: its value is a"):
        condition("'a'")


@given(st.text(st.sampled_from("ab1.'\"[]()!=<>&|+-*/%~^?:, \\in\u00e9")) | st.text())
def test_any_text_is_a_condition_or_a_problem(text: str) -> None:
    assert 0 <= _offset(text) <= len(text)


def _offset(text: str) -> int:
    """The place of what is wrong with a text, or 0."""
    try:
        condition(text)
    except (SyntaxProblem, EvaluationProblem) as problem:
        return problem.offset or 0
    return 0


@pytest.mark.parametrize("text", ["(" * 3000, "(" * 500 + "a" + ")" * 500, "- " * 2000 + "1"])
def test_what_is_nested_too_deeply_is_refused(text: str) -> None:
    with pytest.raises(SyntaxProblem):
        condition(text)


def test_what_is_nested_too_deeply_is_refused_where_it_gets_so() -> None:
    with pytest.raises(SyntaxProblem, match="nested deeper than 60 levels") as caught:
        condition("(" * 3000 + "'never closed")
    assert caught.value.offset == 60


def test_what_is_wrong_with_a_long_text_is_said_shortly() -> None:
    with pytest.raises(SyntaxProblem) as caught:
        condition("a " + "=" * 10_000 + " b")
    assert caught.value.message == f"{chr(39)}{'=' * 298}…"


def test_a_long_chain_of_operators_is_no_problem() -> None:
    assert condition("a == a && " * 3000 + "b == b") is True
