"""Texts with their tags filled."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.argolang import EvaluationProblem, SyntaxProblem, expanded, fill, rendered, required

LOOKUP = {"inputs.parameters.a": "x y", "inputs.parameters.n": "5", "inputs.parameters.absent": None}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{{inputs.parameters.a}}", "x y"),
        ("<{{ inputs.parameters.a }}>", "<x y>"),
        ("{{=asInt(inputs.parameters.n) + 1}}", "6"),
        ("{{=inputs.parameters.a + '!'}}", "x y!"),
        ("{{=5 / 2}} {{=true}} {{=[1, 'a']}} {{={a: 1} }}", '2.5 true [1,"a"] {"a":1}'),
        ("{{='<'}} {{=['<']}}", '< ["\\u003c"]'),
        ("{{=date('2020-01-02')}}", "2020-01-02T00:00:00Z"),
        ("{{=sprig.semver('v1.2')}}", "1.2.0"),
        ("{{tasks.{{inputs.parameters.n}}.x}}", "{{tasks.5.x}}"),
    ],
)
def test_tags_are_filled(text: str, filled: str) -> None:
    assert fill(text, LOOKUP) == filled
    assert fill(text, LOOKUP, unresolved="error") == filled or "{{" in filled


@pytest.mark.parametrize(
    "text",
    [
        "{{nope}}",
        "{{ nope }}",
        "{{=nope ?? 1}}",
        "{{=inputs.parameters.nope}}",
        "{{=asInt(inputs.parameters.a)}}",
        "{{=item}}",
        "{{=retries ?? 1}}",
        "{{=1 / 0}}",
    ],
)
def test_what_cannot_be_filled_stays_or_is_an_error(text: str) -> None:
    assert fill(text, LOOKUP) == text
    with pytest.raises(EvaluationProblem):
        fill(text, LOOKUP, unresolved="error")


def test_an_expression_waits_for_what_comes_late_even_if_it_has_a_value() -> None:
    assert fill("{{=lastRetry?.exitCode ?? 'x'}}", {"lastRetry.exitCode": "1"}) == "1"
    assert fill("{{=[item, 1][1]}}", {}) == "{{=[item, 1][1]}}"


def test_let_is_refused_where_every_name_must_be_there() -> None:
    assert fill("{{=let x = 1; x}}", {}) == "1"
    with pytest.raises(EvaluationProblem, match="x is unknown"):
        fill("{{=let x = 1; x}}", {}, unresolved="error")


def test_a_value_that_is_known_to_be_absent_is_an_error_in_a_tag_and_nil_in_an_expression() -> None:
    with pytest.raises(EvaluationProblem, match=r"inputs.parameters.absent has no value"):
        fill("{{inputs.parameters.absent}}", LOOKUP)
    assert fill("{{=inputs.parameters.absent ?? 'd'}}", LOOKUP) == "d"


def test_what_is_no_expression_is_an_error_with_its_place_in_the_text() -> None:
    with pytest.raises(SyntaxProblem) as caught:
        fill("ab {{=1 +}}", {})
    assert caught.value.offset == 9


def test_a_problem_has_its_place_in_the_text() -> None:
    with pytest.raises(EvaluationProblem) as caught:
        fill("ab {{=1 + nope}}", {}, unresolved="error")
    assert caught.value.message == "nope is unknown"
    with pytest.raises(EvaluationProblem) as caught:
        fill("ab {{=1 + asInt('x')}}", {}, unresolved="error")
    assert caught.value.offset == 10


@pytest.mark.parametrize("value", ["a\x07", "\x00", "\x7f", "\U000e0001"])
def test_a_text_that_go_quotes_otherwise_than_json_cannot_be_filled_in(value: str) -> None:
    with pytest.raises(EvaluationProblem, match="can't fill in"):
        fill("{{x}}", {"x": value})
    assert fill("{{=x}}", {"x": value}) == value


def test_values_are_not_filled_again() -> None:
    assert fill("{{x}}", {"x": "{{y}}", "y": "1"}) == "{{y}}"


def test_braces_that_are_not_closed_stay() -> None:
    assert fill("{{x}} {{x", {"x": "1"}) == "1 {{x"


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"))))
def test_any_text_that_can_be_printed_is_filled_in_as_it_is(value: str) -> None:
    assert fill("<{{x}}{{=x}}>", {"x": value}) == f"<{value}{value}>"


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("a.b.c", ("a.b.c", "a.b", "a")),
        ("a?.b.c", ("a",)),
        ("a.b ?? c", ("a", "c")),
        ("a['x-y'].z", ("a.x-y.z", "a.x-y", "a")),
        ("a[b]", ("a", "b")),
        ("filter(xs, .y > z)", ("xs", "z")),
        ("sprig.trim(a)", ("sprig.trim", "sprig", "a")),
    ],
)
def test_the_names_that_an_expression_must_have(expression: str, names: tuple[str, ...]) -> None:
    assert required(expression) == names


def test_names_with_dots_become_objects() -> None:
    assert expanded({"a.b": "1", "a.c.d": "2", "a": "3", "ab": "4"}) == {"a": {"b": "1", "c": {"d": "2"}}, "ab": "4"}


def test_nil_has_no_text() -> None:
    with pytest.raises(EvaluationProblem):
        rendered(None)
