"""The table of cases for which Argo's own expression language is emitted: each gives what `ir.evaluate` gives."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from couler_py.backends.argo.emit.expressions import UnprovenError, translate
from couler_py.backends.argo.emit.scope import TemplateScope
from couler_py.backends.argo.program import Program
from couler_py.ir import to_builtins, wire
from couler_py.ir.evaluate import EvaluationError, evaluate
from couler_py.ir.expr import (
    Access,
    AllOf,
    AnyOf,
    Compare,
    Compute,
    Contains,
    Expr,
    Input,
    Length,
    Literal,
    Not,
    Record,
    TaskOutput,
    Text,
    Zip,
)
from couler_py.ir.model import Graph, Inputs, OutputParameter, Outputs, Parameter, Suspend, Task, Template, Workflow
from couler_py.ir.types import ANY, BOOL, FLOAT, INT, STR, DictOf, ListOf, Type
from tests.cluster.argo import Namespace
from tests.engines.argo.controller import Run, differences, given

pytestmark = pytest.mark.cluster

VALUES: dict[Type, list[Any]] = {
    INT: [0, 1, -7, 3, 2**53, 9007199254740991],
    FLOAT: [0.0, 0.5, -1.5, 2.0, 1e300, "NaN", "Infinity"],
    STR: ["", "a", "abc", 'it\'s "q" \\ {{x}}', "🎉é", "10", "9"],
    BOOL: [True, False],
    ListOf(INT): [[], [1, 2, 3]],
    ListOf(STR): [["a", "{{b}}"]],
    DictOf(INT): [{"a": 1, "b}}": 2}],
}
TOGETHER = 60
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def table() -> list[tuple[Expr, dict[str, tuple[Type, Any]]]]:
    """Expressions over inputs `a` and `b`, with their types and values."""
    a, b = Input("a"), Input("b")
    cases: list[tuple[Expr, dict[str, tuple[Type, Any]]]] = []
    for type_ in (INT, FLOAT, STR):
        for left, right in itertools.product(VALUES[type_], repeat=2):
            inputs = {"a": (type_, left), "b": (type_, right)}
            cases += [(Compare(op, a, b), inputs) for op in COMPARISONS]
    for left, right in itertools.product(VALUES[INT], VALUES[FLOAT]):
        inputs = {"a": (INT, left), "b": (FLOAT, right)}
        cases += [(Compare(op, a, b), inputs) for op in COMPARISONS]
    for left, right in itertools.product(VALUES[BOOL], repeat=2):
        inputs = {"a": (BOOL, left), "b": (BOOL, right)}
        cases += [(AllOf((a, b)), inputs), (AnyOf((a, Not(b))), inputs), (Compare("==", a, b), inputs)]
    for op, (left, right) in itertools.product(("+", "-", "*", "/", "//", "%"), [(7, 2), (-7, 2), (7, -2), (1, 0)]):
        cases.append((Compute(op, a, b), {"a": (INT, left), "b": (INT, right)}))  # type: ignore[arg-type]
    for text in VALUES[STR]:
        inputs = {"a": (STR, text), "b": (STR, "b")}
        cases += [
            (Length(a), inputs),
            (Contains(a, b), inputs),
            (Compute("+", a, b), inputs),
            (Text(("<", a, "> {{", b)), inputs),
        ]
    numbers = {"a": (ListOf(INT), [5, 6, 7]), "b": (INT, 6)}
    cases += [(Access(a, Literal(index)), numbers) for index in (0, 2, -1, 3)]
    cases += [(Contains(a, b), numbers), (Length(a), numbers), (Record((), (a, b), "list"), numbers)]
    members = {"a": (DictOf(INT), {"a": 1, "b}}": 2}), "b": (STR, "b}}")}
    cases += [(Access(a, b), members), (Contains(a, b), members), (Record(("x", "y"), (a, b)), members)]
    pairs = {"a": (ListOf(STR), ["p", "{{q}}"]), "b": (ListOf(INT), [1, 2])}
    cases += [(Zip((a, b)), pairs), (Zip((a, b)), pairs | {"b": (ListOf(INT), [1])})]
    return cases


def runs() -> list[Run]:
    """Workflows of many expressions each, whose outputs are the values; what has no value is alone and must fail."""
    good: list[tuple[Template, dict[str, Expr], Any]] = []
    found = []
    for number, (expr, inputs) in enumerate(table()):
        parameters = tuple(Parameter(name, type_) for name, (type_, _) in inputs.items())
        values = {
            name: wire.decode(to_builtins(type_), wire.encode(to_builtins(type_), value))
            for name, (type_, value) in inputs.items()
        }
        graph, name = Graph((Task("nothing", "nothing"),)), f"e{number}"
        plain = Template(name, graph, Inputs(parameters))
        try:
            type_ = translate(expr, TemplateScope(Program(_alone(plain)), plain)).type
        except UnprovenError:
            continue
        output = OutputParameter("out", ANY if type_ == FLOAT else type_, value=expr)
        inner = Template(name, graph, Inputs(parameters), Outputs((output,)))
        arguments: dict[str, Expr] = {given_name: Literal(value) for given_name, (_, value) in inputs.items()}
        try:
            value = evaluate(to_builtins(expr), lambda node, values=values: values[node["name"]])
        except EvaluationError:
            found.append(Run(f"{expr} of {values}", _called([(inner, arguments)]), "Failed"))
        else:
            good.append((inner, arguments, wire.finite(value)))
    for start in range(0, len(good), TOGETHER):
        some = good[start : start + TOGETHER]
        expected = {inner.name: value for inner, _, value in some}
        found.append(Run(f"from {start} on", _called([each[:2] for each in some]), outputs=expected))
    return found


def _alone(template: Template) -> Workflow:
    return Workflow("w", template.name, (template, Template("nothing", Suspend(0))))


def _called(inner: list[tuple[Template, dict[str, Expr]]]) -> Workflow:
    tasks = tuple(Task(template.name, template.name, given(**values)) for template, values in inner)
    outputs = tuple(
        OutputParameter(template.name, template.outputs.parameters[0].type, value=TaskOutput(template.name, "out"))
        for template, _ in inner
    )
    main = Template("main", Graph(tasks), outputs=Outputs(outputs))
    return Workflow("table", "main", (main, *(template for template, _ in inner), Template("nothing", Suspend(0))))


def test_what_is_emitted_in_argos_language_means_the_same(namespace: Namespace) -> None:
    cases = runs()
    assert sum(len(run.outputs or "1") for run in cases) > 400
    assert differences(namespace, cases) == {}
