"""Fan-outs, loops, conditions and other expressions."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from couler_py.ir import Template, Workflow
from couler_py.ir import expr as x
from couler_py.ir.model import (
    Carry,
    Each,
    Function,
    Inputs,
    Loop,
    OutputParameter,
    Outputs,
    Parameter,
    Sequence,
)
from couler_py.ir.types import BOOL, INT, STR, Field, ListOf, Record, UnionOf
from tests.unit.passes.check.workflows import (
    MAKE,
    USE,
    flow,
    found,
    given,
    main,
    number,
    only,
    task,
    workflow,
)

MADE = task("t1", "make")
OUTPUT = {name: x.TaskOutput("t1", name) for name in ("text", "number", "flag", "numbers")}
POINT = Record("Point", (Field("x", INT), Field("y", STR, required=False)))


def condition(expr: x.Expr) -> Workflow:
    return flow(MADE, task("t2", "wait", when=expr))


def each(items: Any, **bounds: Any) -> Workflow:
    return flow(MADE, task("t2", "wait", each=Each(items, **bounds)))


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (each(OUTPUT["number"]), "CLR250"),
        (each(x.Literal("abc")), "CLR250"),
        (each(x.TaskArtifact("t1", "file")), "CLR250"),
        (each(x.Literal([1] * 1001)), "CLR251"),
        (each(Sequence(count=x.Literal(1001))), "CLR251"),
        (each(Sequence(x.Literal(1), x.Literal(2000))), "CLR251"),
        (each(x.Literal([1]), parallel=0), "CLR252"),
        (each(x.Literal([1]), tolerate=-1), "CLR252"),
        (each(x.Literal([]), max_items=0), "CLR252"),
        (each(x.Literal([]), max_items=2, parallel=3), "CLR253"),
        (each(Sequence()), "CLR254"),
        (each(Sequence(end=x.Literal(1), count=x.Literal(1))), "CLR254"),
        (each(Sequence(count=x.Literal(-1))), "CLR254"),
        (each(Sequence(count=OUTPUT["flag"])), "CLR254"),
    ],
)
def test_fan_outs_that_make_no_sense(broken: Workflow, code: str) -> None:
    assert only(broken).code == code


def test_fan_outs_over_lists_and_ranges() -> None:
    assert found(each(OUTPUT["numbers"], parallel=2, tolerate=1)) == []
    assert found(each(Sequence(count=OUTPUT["number"]))) == []
    assert found(each(x.Literal([1] * 1001), max_items=1001)) == []


def test_a_fan_out_gives_lists() -> None:
    total = msgspec.structs.replace(USE, inputs=Inputs((Parameter("x", ListOf(INT)),)))
    fan = task("t1", "make", each=Each(x.Literal([1, 2])))
    gathered = workflow(main(fan, task("t2", "use", given("x", number("t1")))), total)
    assert found(gathered) == []
    assert found(workflow(main(fan, task("t2", "use", given("x", x.TaskItems("t1")))), total)) == []
    assert only(workflow(main(fan, task("t2", "use", given("x", number("t1")))))).code == "CLR213"


STEP = Template(
    "step",
    Function("step", (), returns="fields"),
    Inputs((Parameter("n", INT),)),
    Outputs((OutputParameter("n", INT), OutputParameter("name", STR), OutputParameter("done", BOOL))),
)


def loop(loop_: Loop, inputs: tuple[Parameter, ...] = (Parameter("n", INT),)) -> Workflow:
    template = Template("loop", loop_, Inputs(inputs), Outputs((OutputParameter("n", INT, value=x.Own("n")),)))
    arguments = tuple(given(parameter.name, 1) for parameter in inputs)
    return workflow(main(task("t1", "loop", *arguments)), template, STEP)


DONE = x.Own("done")


def test_a_sound_loop() -> None:
    assert found(loop(Loop("step", DONE, (Carry("n", "n"),)))) == []


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (loop(Loop("step", x.Own("n"))), "CLR270"),
        (loop(Loop("step", x.Own("gone"))), "CLR225"),
        (loop(Loop("step", DONE, (Carry("gone", "n"),))), "CLR261"),
        (loop(Loop("step", DONE, (Carry("n", "gone"),))), "CLR261"),
        (loop(Loop("step", DONE, (Carry("name", "n"),))), "CLR262"),
        (loop(Loop("step", DONE, (Carry("n", "n"), Carry("n", "n")))), "CLR262"),
        (loop(Loop("step", DONE, max_iterations=0)), "CLR263"),
        (loop(Loop("step", DONE), ()), "CLR264"),
        (loop(Loop("step", DONE), (Parameter("n", UnionOf((INT, STR))),)), "CLR213"),
    ],
)
def test_loops_that_make_no_sense(broken: Workflow, code: str) -> None:
    assert only(broken).code == code


NUMBER, TEXT, FLAG = OUTPUT["number"], OUTPUT["text"], OUTPUT["flag"]


@pytest.mark.parametrize(
    "expr",
    [
        FLAG,
        x.Not(FLAG),
        x.AllOf((FLAG, x.Compare("<", NUMBER, x.Literal(1.5)))),
        x.Compare("<", TEXT, x.Literal("m")),
        x.Compare("==", x.TaskStatus("t1"), x.Literal("Skipped")),
        x.Compare("==", NUMBER, x.Literal(2**53)),
        x.Raw("argo", "true"),
    ],
)
def test_sound_conditions(expr: x.Expr) -> None:
    assert found(condition(expr)) == []


@pytest.mark.parametrize(
    ("expr", "code"),
    [
        (NUMBER, "CLR270"),
        (x.Literal("true"), "CLR270"),
        (x.Compare("<", NUMBER, TEXT), "CLR271"),
        (x.Compare("<", FLAG, FLAG), "CLR271"),
        (x.Not(NUMBER), "CLR271"),
        (x.AllOf((FLAG, TEXT)), "CLR271"),
        (x.Compare("==", x.Compute("-", TEXT, TEXT), x.Literal("")), "CLR271"),
        (x.Compare("==", x.Compute("+", TEXT, NUMBER), x.Literal("")), "CLR271"),
        (x.Compare("==", x.Access(NUMBER, x.Literal(0)), x.Literal(0)), "CLR271"),
        (x.Compare("==", x.Access(OUTPUT["numbers"], x.Literal("a")), x.Literal(0)), "CLR271"),
        (x.Compare("==", x.Length(NUMBER), x.Literal(0)), "CLR271"),
        (x.Contains(NUMBER, x.Literal(0)), "CLR271"),
        (x.Compare("==", NUMBER, x.Literal(2**53 + 1)), "CLR272"),
        (x.Compare("<", x.Literal(-(2**53) - 1), NUMBER), "CLR272"),
        (x.Compare("==", NUMBER, x.Literal("1")), "CLR273"),
        (x.Compare("!=", FLAG, x.Literal(1)), "CLR273"),
        (x.Compare("==", x.TaskStatus("t1"), x.Literal("Errored")), "CLR273"),
    ],
)
def test_conditions_that_make_no_sense(expr: x.Expr, code: str) -> None:
    assert only(condition(expr)).code == code


def test_an_expression_nested_too_deep() -> None:
    expr: x.Expr = FLAG
    for _ in range(5000):
        expr = x.Not(expr)
    assert only(condition(expr)).code == "CLR276"


def test_an_unknown_field_of_a_record() -> None:
    made = msgspec.structs.replace(MAKE, outputs=Outputs((OutputParameter("point", POINT),)))
    field = x.Access(x.TaskOutput("t1", "point"), x.Literal("z"))
    one = only(workflow(main(MADE, task("t2", "use", given("x", field))), made))
    assert (one.code, one.message) == ("CLR271", "the argument x: Point has no field 'z'; it has x, y")
