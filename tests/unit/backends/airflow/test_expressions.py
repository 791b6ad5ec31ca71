"""Expressions as Python mean what the reference evaluator says: the same value, or an error in both."""

from __future__ import annotations

import ast
import functools
import itertools
import json
import math
from typing import Any

import pytest

from couler_py.backends.airflow import helpers
from couler_py.backends.airflow.expressions import condition, value
from couler_py.backends.airflow.scope import Scope
from couler_py.ir import expr as x
from couler_py.ir import to_builtins, wire
from couler_py.ir.evaluate import evaluate
from couler_py.ir.types import ANY, BOOL, FLOAT, INT, STR, DictOf, ListOf, Type
from couler_py.printer.layout import flat

VALUES: dict[str, tuple[Type, Any]] = {
    "i": (INT, 7),
    "j": (INT, -2),
    "zero": (INT, 0),
    "big": (INT, 2**53 + 1),
    "most": (INT, 2**63 - 1),
    "f": (FLOAT, 0.5),
    "g": (FLOAT, 2.0),
    "nan": (FLOAT, "NaN"),
    "inf": (FLOAT, "Infinity"),
    "s": (STR, "it's {{x}}"),
    "t": (STR, ""),
    "yes": (BOOL, True),
    "no": (BOOL, False),
    "list": (ListOf(INT), [1, 2, 1]),
    "texts": (ListOf(STR), ["a", "NaN"]),
    "object": (DictOf(INT), {"a": 1, "b": 2}),
    "any_text": (ANY, "7"),
    "any_one": (ANY, 1),
    "none": (ANY, None),
}
INPUTS = {name: x.Input(name) for name in VALUES}
OPERATIONS = [
    *(x.Compare(op, a, b) for op in ("==", "!=", "<", ">=") for a, b in itertools.product(INPUTS.values(), repeat=2)),
    *(
        x.Compute(op, a, b)
        for op in ("+", "-", "*", "/", "//", "%")
        for a, b in itertools.product(INPUTS.values(), repeat=2)
    ),
    *(x.Contains(a, b) for a, b in itertools.product(INPUTS.values(), repeat=2)),
    *(x.Access(a, b) for a in INPUTS.values() for b in (x.Literal(0), x.Literal(-1), x.Literal(5), x.Literal("a"))),
    *(x.Length(a) for a in INPUTS.values()),
    *(x.Not(a) for a in INPUTS.values()),
    *(kind((a, b)) for kind in (x.AllOf, x.AnyOf) for a, b in itertools.product(INPUTS.values(), repeat=2)),
    *(x.Text(("<", a, "> {{ ", b)) for a, b in itertools.product(INPUTS.values(), repeat=2)),
    x.Zip((INPUTS["list"], INPUTS["list"])),
    x.Zip((INPUTS["list"], INPUTS["texts"])),
    x.Record(("k", "l"), (INPUTS["i"], INPUTS["s"])),
    x.Record((), (INPUTS["i"], INPUTS["nan"]), form="list"),
    x.FromJson(INPUTS["any_text"]),
    x.FromJson(INPUTS["s"]),
    x.NonFinite("NaN"),
]


@functools.cache
def definitions() -> dict[str, Any]:
    """The definitions for expressions, which need no Airflow."""
    found: dict[str, Any] = {"json": json, "math": math}
    names = "or_else first_of equal less at_most is_true is_false every some as_number as_float as_fraction as_json"
    wanted = helpers.wanted("local", (names + " compute member_of contains joined zipped").split())
    for each in wanted.helpers:
        exec(each.text, found)
    return found


def outcome(read: Any) -> Any:
    """The value as JSON has it, or that there is none."""
    try:
        found = read()
    except Exception:
        return "no value"
    return json.dumps(wire.finite(found))


def run(source: str) -> Any:
    return eval(source, definitions() | {"given": {name: held for name, (_, held) in VALUES.items()}})


@pytest.mark.parametrize("kind", sorted({type(each).__name__ for each in OPERATIONS}))
def test_python_says_what_the_reference_says(kind: str) -> None:
    scope = Scope(
        inputs={name: f'given["{name}"]' for name in VALUES},
        input_types={name: type_ for name, (type_, _) in VALUES.items()},
    )
    floats = {"NaN": math.nan, "Infinity": math.inf}

    def held(node: dict[str, Any]) -> Any:
        type_, found = VALUES[node["name"]]
        return floats.get(found, found) if type_ == FLOAT else found

    for expr in OPERATIONS:
        if type(expr).__name__ != kind:
            continue
        source = flat(value(expr, scope))
        expected = outcome(lambda expr=expr: evaluate(to_builtins(expr), held))
        found = outcome(lambda source=source: run(source))
        assert found == expected, source


def test_a_condition_must_be_true_or_false() -> None:
    scope = Scope(inputs={"i": "7", "yes": "True"}, input_types={"i": INT, "yes": BOOL})
    assert flat(condition(x.Input("yes"), scope)) == "True"
    assert flat(condition(x.Input("i"), scope)) == "is_true(7)"


def test_operators_stand_only_where_types_make_them_mean_the_same() -> None:
    scope = Scope(inputs={"s": "s", "t": "t", "any": "any_"}, input_types={"s": STR, "t": STR, "any": ANY})
    assert flat(value(x.Compare("==", x.Input("s"), x.Literal("a")), scope)) == 's == "a"'
    assert flat(value(x.Compare("==", x.Input("any"), x.Literal("a")), scope)) == 'equal(any_, "a")'
    assert flat(value(x.Contains(x.Input("s"), x.Input("t")), scope)) == "t in s"


def test_a_text_of_a_person_is_a_literal() -> None:
    hostile = "'''\"\"\"\\{{x}}\n{% raw %}\x00\u202e"
    source = flat(value(x.Literal({hostile: [hostile]}), Scope()))
    assert ast.literal_eval(source) == {hostile: [hostile]}
