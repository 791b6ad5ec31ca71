"""Values of a running workflow: what builds expressions, and what raises at its line."""

import copy
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import couler_py.dsl as couler
from couler_py.dsl.placeholder import Placeholder
from couler_py.ir import expr as ir
from couler_py.ir.types import BOOL, FLOAT, INT, STR, ListOf
from tests.unit.dsl.recorded import make_file, nothing, number, numbers, pair, text_of, train


class StatusFields(NamedTuple):
    status: str
    after: int


@couler.step
def status_step() -> StatusFields:
    return StatusFields("a", 1)


A = ir.TaskOutput("number", "result")


def expression(value: Any) -> Any:
    """The expression that a value is in the graph that it was made in."""
    from couler_py.dsl.lower import Lowering

    recorder = couler_recorder()
    return Lowering().expr(value._couler_expr, recorder.entry)


def couler_recorder() -> Any:
    from couler_py.dsl.recorder import current

    return current()


@pytest.fixture
def workflow():
    with couler.Workflow("test") as found:
        yield found


UNKNOWN: list[tuple[str, Callable[[Any], Any], str]] = [
    ("if", lambda x: 1 if x else 2, "couler.when"),
    ("not", lambda x: not x, "couler.when"),
    ("and", lambda x: x and 1, "couler.when"),
    ("in a list of placeholders", lambda x: x in [x + 1], "couler.when"),
    ("in", lambda x: 1 in x, "couler.contains"),
    ("len", len, "couler.length"),
    ("int", int, "a step"),
    ("float", float, "a step"),
    ("complex", complex, "a step"),
    ("index", lambda x: [1, 2][x], "couler.map"),
    ("range", lambda x: range(x), "couler.map"),
    ("iteration", lambda x: list(x), "couler.map"),
    ("unpacking", lambda x: (lambda a, b: a)(*x), "couler.map"),
    ("str", str, "couler.format"),
    ("f-string", lambda x: f"{x}", "couler.format"),
    ("format", lambda x: format(x, ".2f"), "couler.format"),
    ("percent", lambda x: "%s" % x, "couler.format"),  # noqa: UP031  the form under test
    ("hash", hash, "a list"),
    ("set", lambda x: {x}, "a list"),
    ("dict key", lambda x: {x: 1}, "a list"),
    ("abs", abs, "a step"),
    ("round", round, "a step"),
    ("power", lambda x: x**2, "a step"),
    ("open", lambda x: Path(x), "a step"),
    ("bytes", bytes, "a step"),
    ("setting an attribute", lambda x: setattr(x, "a", 1), "a step"),
]


@pytest.mark.parametrize(("what", "use", "way_out"), UNKNOWN, ids=[what for what, _, _ in UNKNOWN])
def test_what_needs_the_value_raises_and_names_the_verb(workflow, what, use, way_out):
    value = number()
    with pytest.raises(couler.PlaceholderError) as caught:
        use(value)
    (found,) = caught.value.diagnostics
    assert found.code in ("CLR142", "CLR147")
    assert way_out in found.render()


def test_the_error_names_the_line_of_the_if(workflow):
    value = number()
    with pytest.raises(couler.PlaceholderError) as caught:  # noqa: PT012  the `if` is what raises
        if value > 3:
            pass
    source = caught.value.diagnostics[0].source
    assert source is not None
    assert source.file.endswith("test_placeholder.py")
    lines = Path(__file__).read_text().splitlines()
    assert lines[source.line - 1].strip() == "if value > 3:"


@pytest.mark.parametrize(
    ("build", "expected", "type_"),
    [
        (lambda x: x == 1, ir.Compare("==", A, ir.Literal(1)), BOOL),
        (lambda x: x != 1, ir.Compare("!=", A, ir.Literal(1)), BOOL),
        (lambda x: x < 1, ir.Compare("<", A, ir.Literal(1)), BOOL),
        (lambda x: x <= 1, ir.Compare("<=", A, ir.Literal(1)), BOOL),
        (lambda x: x > 1, ir.Compare(">", A, ir.Literal(1)), BOOL),
        (lambda x: x >= 1, ir.Compare(">=", A, ir.Literal(1)), BOOL),
        (lambda x: x < x, ir.Compare("<", A, A), BOOL),
        (lambda x: x + 1, ir.Compute("+", A, ir.Literal(1)), INT),
        (lambda x: 1 + x, ir.Compute("+", ir.Literal(1), A), INT),
        (lambda x: x - 1, ir.Compute("-", A, ir.Literal(1)), INT),
        (lambda x: 1 - x, ir.Compute("-", ir.Literal(1), A), INT),
        (lambda x: x * 0.5, ir.Compute("*", A, ir.Literal(0.5)), FLOAT),
        (lambda x: 2 * x, ir.Compute("*", ir.Literal(2), A), INT),
        (lambda x: x / 2, ir.Compute("/", A, ir.Literal(2)), FLOAT),
        (lambda x: 1 / x, ir.Compute("/", ir.Literal(1), A), FLOAT),
        (lambda x: x // 2, ir.Compute("//", A, ir.Literal(2)), INT),
        (lambda x: x % 2, ir.Compute("%", A, ir.Literal(2)), INT),
        (lambda x: -x, ir.Compute("*", ir.Literal(-1), A), INT),
        (lambda x: ~(x > 1), ir.Not(ir.Compare(">", A, ir.Literal(1))), BOOL),
        (
            lambda x: (x > 1) & (x < 3),
            ir.AllOf((ir.Compare(">", A, ir.Literal(1)), ir.Compare("<", A, ir.Literal(3)))),
            BOOL,
        ),
        (
            lambda x: (x > 1) | (x < 3),
            ir.AnyOf((ir.Compare(">", A, ir.Literal(1)), ir.Compare("<", A, ir.Literal(3)))),
            BOOL,
        ),
        (lambda x: x > math.inf, ir.Compare(">", A, ir.NonFinite("Infinity")), BOOL),
        (lambda x: couler.all_of(x > 1, True), ir.AllOf((ir.Compare(">", A, ir.Literal(1)), ir.Literal(True))), BOOL),
    ],
)
def test_operators_build_expressions(workflow, build, expected, type_):
    made = build(number())
    assert isinstance(made, Placeholder)
    assert expression(made) == expected
    assert made._couler_type == type_


def test_elements_members_length_and_containment(workflow):
    values = numbers(3)
    listed = ir.TaskOutput("numbers", "result")
    assert expression(values[0]) == ir.Access(listed, ir.Literal(0))
    assert values[0]._couler_type == INT
    assert expression(values[-1]) == ir.Access(listed, ir.Literal(-1))
    assert expression(values[number()]) == ir.Access(listed, A)
    assert expression(couler.length(values)) == ir.Length(listed)
    assert expression(couler.contains(values, 3)) == ir.Contains(listed, ir.Literal(3))
    assert values._couler_type == ListOf(INT)


def test_each_output_of_a_named_tuple_is_an_attribute(workflow):
    run = train("svm")
    assert expression(run.score) == ir.TaskOutput("train", "score")
    assert expression(run["score"]) == ir.TaskOutput("train", "score")
    assert expression(run.model) == ir.TaskArtifact("train", "model")
    left, right = pair(1)
    assert expression(left) == ir.TaskOutput("pair", "left")
    assert expression(right) == ir.TaskOutput("pair", "right")


def test_an_unknown_member_names_those_that_exist(workflow):
    with pytest.raises(AttributeError, match="it has score, model"):
        train("svm").scores  # noqa: B018  the access is the test


def test_a_text_with_values_keeps_them_apart(workflow):
    made = couler.format("{}: {x} {{}} {2:.1f} {1}", number(), "b", 0.25, x=text_of(1))
    assert expression(made) == ir.Text((A, ": ", ir.TaskOutput("text_of", "result"), " {} 0.2 b"))
    assert made._couler_type == STR


def test_a_format_of_an_unknown_value_is_refused(workflow):
    with pytest.raises(couler.PlaceholderError, match="format it in a step"):
        couler.format("{:.2f}", number())


def test_a_format_that_asks_for_too_much_is_refused(workflow):
    with pytest.raises(couler.PlaceholderError, match="isn't given"):
        couler.format("{} {}", number())


@pytest.mark.parametrize(
    "use",
    [
        lambda: number() == "1",
        lambda: text_of(1) < 2,
        lambda: numbers(1) < numbers(2),
        lambda: number() + "a",
        lambda: text_of(1) + 1,
        lambda: text_of(1) - text_of(2),
        lambda: number() & (number() > 1),
        lambda: ~number(),
        lambda: numbers(1)["a"],
        lambda: number()[0],
        lambda: numbers(1)[0:1],
        lambda: text_of(1).upper(),
        lambda: number().real,
        lambda: couler.length(number()),
        lambda: couler.contains(number(), 1),
        lambda: make_file("a") == "a",
        lambda: make_file("a").name,
        lambda: number() == {1, 2},
        lambda: nothing() == 1,
        lambda: train("svm") == 1,
    ],
)
def test_kinds_that_never_go_together_are_refused_at_their_line(workflow, use):
    with pytest.raises(couler.RecordingError) as caught:
        use()
    source = caught.value.diagnostics[0].source
    assert source is not None
    assert source.file.endswith("test_placeholder.py")


def test_repr_is_safe_and_tells_what_it_is(workflow):
    assert repr(number()) == "<number: int, known when the workflow runs>"
    assert repr(make_file("a")) == "<make_file: Path, known when the workflow runs>"
    assert repr(train("svm")) == "<output of train: score, model>"
    assert repr(nothing()) == "<output of nothing: nothing>"


def test_tools_that_probe_for_private_names_find_none(workflow):
    value = number()
    assert not hasattr(value, "_repr_html_")
    assert not hasattr(value, "__array__")
    assert copy.copy(value) is value
    assert copy.deepcopy([value])[0] is value


def test_equality_builds_and_never_compares(workflow):
    assert isinstance(number() == number(), Placeholder)


def test_a_field_named_like_a_method_stands_before_it(workflow):
    found = status_step()
    assert expression(found.status) == ir.TaskOutput("status_step", "status")
    assert expression(found.after) == ir.TaskOutput("status_step", "after")
    assert expression(couler.status(found)) == ir.TaskStatus("status_step")


def test_an_expression_is_shown_as_it_was_written(workflow):
    assert repr(number() > 3) == "<number > 3: bool, known when the workflow runs>"
    assert repr(train("svm").score * 2 + 1) == "<train.score * 2 + 1: float, known when the workflow runs>"
