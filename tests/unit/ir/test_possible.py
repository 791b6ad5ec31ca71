"""What can become of a task and of its outputs, against what does become of them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given

from couler_py.ir import Graph, Suspend, Task, Template, Workflow
from couler_py.ir.complement import one_holds
from couler_py.ir.expr import AllOf, AnyOf, Compare, Expr, First, Input, Literal, Not, OrElse, TaskOutput
from couler_py.ir.model import (
    After,
    Argument,
    Each,
    Inputs,
    OutputParameter,
    Outputs,
    Parameter,
)
from couler_py.ir.pod import Container
from couler_py.ir.possible import Possibilities, Possible, Presence
from couler_py.ir.types import BOOL
from tests.conformance.interpreter import interpret
from tests.strategies import podless_workflows

WORK = Template(
    "work", Container("alpine"), Inputs((Parameter("x", default=""),)), Outputs((OutputParameter("out", path="/o"),))
)
REST = Template("rest", Suspend(duration=0))
C, D = Input("c"), Input("d")


def made(*tasks: Task) -> Presence:
    main = Template("main", Graph(tasks), Inputs((Parameter("c", BOOL), Parameter("d", BOOL))))
    return Possibilities(Workflow("w", "main", (WORK, REST, main))).presence(main)


def out(task: str) -> TaskOutput:
    return TaskOutput(task, "out")


def work(name: str, *after: After, when: Expr | None = None, x: Expr | None = None, call: str = "work") -> Task:
    return Task(name, call, () if x is None else (Argument("x", x),), after=after, when=when)


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (work("t"), Possible(failed=True)),
        (work("t", call="rest"), Possible()),
        (work("t", call="rest", when=C), Possible(skipped=True, failed=True)),
        (work("t", After("a"), call="rest"), Possible(blocked=True)),
        (work("t", After("r"), call="rest"), Possible()),
        (work("t", After("a", "always"), call="rest"), Possible()),
        (work("t", After("a", "on_failure"), call="rest"), Possible(skipped=True, skipped_by_edge=True)),
        (work("t", x=out("a")), Possible(failed=True, blocked=True)),
        (work("t", x=out("s")), Possible(skipped=True, failed=True, blocked=True, skipped_by_edge=True)),
        (work("t", x=OrElse(out("s"), Literal(""))), Possible(failed=True, blocked=True)),
        (work("t", x=First((out("s"), out("a")))), Possible(failed=True, blocked=True)),
        (work("t", x=First((out("s"), out("n")))), Possible(failed=True, blocked=True)),
        (
            work("t", x=First((out("s"), out("s2")))),
            Possible(skipped=True, failed=True, blocked=True, skipped_by_edge=True),
        ),
        (Task("t", "rest", each=Each(Literal([1]))), Possible(failed=True)),
    ],
)
def test_what_can_become_of_a_task(task: Task, expected: Possible) -> None:
    before = (work("a"), work("r", call="rest"), work("s", when=C), work("s2", when=D), work("n", when=Not(C)))
    assert made(*before, task).possible["t"] == expected


def test_a_graph_whose_outputs_can_have_no_value_can_fail() -> None:
    shaky = Template(
        "shaky",
        Graph((Task("r", "rest"),)),
        outputs=Outputs((OutputParameter("out", BOOL, value=Compare("<", Literal(1), Literal(2))),)),
    )
    steady = Template("steady", Graph((Task("r", "rest"),)))
    known = Possibilities(Workflow("w", "shaky", (REST, shaky, steady)))
    assert known.template_can_fail("shaky")
    assert not known.template_can_fail("steady")


def test_deep_nesting_is_answered_without_deep_recursion() -> None:
    depth = 3000
    nested = [Template(f"g{i}", Graph((Task("t", f"g{i + 1}" if i < depth else "rest"),))) for i in range(depth + 1)]
    assert not Possibilities(Workflow("w", "g0", (*nested, REST))).template_can_fail("g0")


BRANCHES = (work("a", when=C), work("b", when=Not(C)))


@pytest.mark.parametrize(
    ("tasks", "value", "missing"),
    [
        ((work("a"),), out("a"), None),
        ((work("a", when=C),), out("a"), "a"),
        ((work("a", when=C),), OrElse(out("a"), Literal("")), None),
        ((work("a", when=C), work("b", when=D)), First((out("a"), out("b"))), "a"),
        (BRANCHES, First((out("a"), out("b"))), None),
        ((work("a", when=C), work("b")), First((out("a"), out("b"))), None),
        # what reads both branches runs in any case
        ((*BRANCHES, work("c", x=First((out("a"), out("b"))))), out("c"), None),
        # a failed and absolved source is absent
        ((work("a"), work("h", After("a", "on_failure"))), out("a"), "a"),
        ((work("a"), work("h", After("a", "always"))), out("a"), None),
        # a branch whose failure is absolved
        ((*BRANCHES, work("h", After("a", "on_failure"))), First((out("a"), out("b"))), "a"),
        # both branches can be skipped by what stands before them
        (
            (work("p", when=D), work("a", when=C, x=out("p")), work("b", when=Not(C))),
            First((out("a"), out("b"))),
            "a",
        ),
        # a branch that hangs on the failure of another task
        ((work("p"), work("a", After("p", "on_failure"), when=C), work("b", when=Not(C))),
         First((out("a"), out("b"))), "a"),
    ],
)  # fmt: skip
def test_what_can_be_absent_from_a_graph_that_succeeded(
    tasks: tuple[Task, ...], value: Expr, missing: str | None
) -> None:
    assert made(*tasks).absent_source(value) == missing


@given(podless_workflows())
def test_only_possible_things_happen(workflow: Workflow) -> None:
    main = next(template for template in workflow.templates if template.name == "main")
    presence = Possibilities(workflow).presence(main)
    result = interpret(workflow)
    for name, possible in presence.possible.items():
        state = result.tasks[name]
        assert state != "Skipped" or possible.skipped
        assert state != "Failed" or possible.failed
        assert state != "Blocked" or possible.blocked
        if result.state == "Succeeded" and presence.absent_source(out(name)) is None:
            assert state == "Succeeded"


def less(a: int, b: int) -> Expr:
    return Compare("<", Literal(a), Literal(b))


@pytest.mark.parametrize(
    ("conditions", "holds"),
    [
        ([C, Not(C)], True),
        ([C, D], False),
        ([C, Not(D)], False),
        ([AllOf((C, D)), Not(AllOf((C, D)))], True),
        ([AllOf((C, D)), AnyOf((Not(C), Not(D)))], True),
        ([C, AllOf((Not(C), D)), AllOf((Not(C), Not(D)))], True),
        ([C, AllOf((Not(C), D))], False),
        ([Compare("==", C, Literal(1)), Compare("!=", C, Literal(1))], True),
        ([Compare("==", C, Literal(1)), Compare("!=", C, Literal(True))], False),
        # a comparison with NaN is false both ways
        ([Compare("<", C, D), Compare(">=", C, D)], False),
        ([Literal(True)], True),
        ([Literal(False)], False),
        ([], False),
        ([AnyOf(tuple(Input(f"c{i}") for i in range(20))), Not(Input("c0"))], False),
    ],
)
def test_whether_one_of_several_conditions_holds(conditions: list[Expr], holds: bool) -> None:
    assert one_holds(conditions) is holds


@pytest.mark.parametrize("count", [1, 2, 3])
def test_all_rows_of_a_truth_table_hold_together(count: int) -> None:
    atoms = [Input(f"c{i}") for i in range(count)]
    rows = list(itertools.product((True, False), repeat=count))

    def row(values: tuple[bool, ...]) -> Expr:
        return AllOf(tuple(atom if value else Not(atom) for atom, value in zip(atoms, values, strict=True)))

    assert one_holds([row(values) for values in rows])
    assert not one_holds([row(values) for values in rows[1:]])
