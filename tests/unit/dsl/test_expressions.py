"""What placeholders compute is what Python computes with the values themselves."""

import operator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import couler_py.dsl as couler
from couler_py.dsl.placeholder import Placeholder
from couler_py.ir import Graph, to_builtins
from couler_py.ir.evaluate import EvaluationError, evaluate
from couler_py.ir.model import Workflow as WorkflowIR
from tests.unit.dsl.recorded import number

NUMBERS = st.one_of(st.integers(-1000, 1000), st.floats(-1e6, 1e6))
ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]


@couler.step
def take(value: Any) -> None: ...


def computed(workflow: WorkflowIR, values: dict[str, Any]) -> Any:
    """The argument of the last task, evaluated by the reference."""
    body = workflow.templates[0].body
    assert isinstance(body, Graph)
    return evaluate(to_builtins(body.tasks[-1].arguments[0].value), lambda node: values[node["name"]])


NAMES = ["i", "j", "x", "y"]
SHORT = {operator.and_: False, operator.or_: True}
LEAVES = st.sampled_from(NAMES) | NUMBERS
TREES = st.recursive(LEAVES, lambda inner: st.tuples(st.sampled_from(ARITHMETIC), inner, inner), max_leaves=6)
CONDITIONS = st.recursive(
    st.tuples(st.sampled_from(COMPARISONS), TREES, TREES),
    lambda inner: st.tuples(st.sampled_from([operator.and_, operator.or_]), inner, inner),
    max_leaves=4,
)


def apply(tree: Any, values: dict[str, Any]) -> Any:
    if isinstance(tree, tuple):
        operation, left, right = tree
        if operation in SHORT and not isinstance(values["i"], Placeholder):
            # `&` and `|` of conditions stop as Python's own `and` and `or` do.
            found = apply(left, values)
            return found if bool(found) is SHORT[operation] else apply(right, values)
        return operation(apply(left, values), apply(right, values))
    return values[tree] if isinstance(tree, str) else tree


def uses_a_name(tree: Any) -> bool:
    return any(map(uses_a_name, tree[1:])) if isinstance(tree, tuple) else isinstance(tree, str)


@given(TREES | CONDITIONS, st.integers(-50, 50), st.integers(-50, 50), NUMBERS, NUMBERS)
def test_an_expression_is_what_python_computes(tree: Any, i: int, j: int, x: float, y: float) -> None:
    values = {"i": i, "j": j, "x": float(x), "y": float(y)}
    try:
        expected = apply(tree, values)
    except (ZeroDivisionError, OverflowError):
        expected = EvaluationError
    w = couler.Workflow("test")
    placeholders = {name: w.parameter(name, int if name in "ij" else float) for name in NAMES}
    try:
        value = apply(tree, placeholders)
    except (ZeroDivisionError, OverflowError):
        return  # two numbers known now, computed by Python itself
    except TypeError:
        assert not uses_a_name(tree)
        return
    w.add(take, value)
    try:
        found = computed(w.build(), values)
    except EvaluationError:
        assert expected is EvaluationError or abs(expected) > 2**53
        return
    assert found == expected or (found != found and expected != expected)
    assert isinstance(found, bool) == isinstance(expected, bool)


@given(st.text(), st.text(), st.integers(), st.lists(st.text(), max_size=3))
def test_a_text_is_what_format_makes_of_strings(before: str, value: str, whole: int, parts: list[str]) -> None:
    template = before.replace("{", "{{").replace("}", "}}") + "{}|{n}|" + "{}" * len(parts)
    w = couler.Workflow("test")
    made = couler.format(template, w.parameter("value"), *parts, n=w.parameter("n", int))
    w.add(take, made)
    assert computed(w.build(), {"value": value, "n": whole}) == template.format(value, *parts, n=whole)


def test_a_value_that_is_a_fan_in_is_a_list() -> None:
    with couler.Workflow("test") as w:
        take([number(), 1])
    found = computed(w.build(), {"result": 7})
    assert found == [7, 1]
