"""What engines take apart, found along the values."""

from __future__ import annotations

import pytest

from couler_py.ir import expr as x
from couler_py.ir import types
from couler_py.ir.model import (
    Argument,
    Each,
    Function,
    Graph,
    Inputs,
    OutputParameter,
    Outputs,
    Parameter,
    Task,
    Template,
)
from couler_py.passes.exact import exact_outputs

IDS = x.TaskOutput("ids", "result")
NUMBER = x.TaskOutput("number", "result")
RECORD = x.TaskOutput("record", "result")
ITEM = (Argument("n", x.Item()),)


def step(name: str, type_: types.Type) -> Template:
    inputs = Inputs((Parameter("n", types.ANY),))
    return Template(name, Function(name, ()), inputs, Outputs((OutputParameter("result", type_),)))


STEPS = (
    step("ids", types.ListOf(types.INT)),
    step("number", types.INT),
    step("record", types.DictOf(types.INT)),
    step("use", types.NONE),
)


def exact(*tasks: Task, inner: tuple[Task, ...] = (), given: tuple[OutputParameter, ...] = ()) -> dict[str, list[str]]:
    graphs = (
        Template("main", Graph(tasks)),
        Template("inner", Graph(inner), Inputs((Parameter("n", types.ANY),)), Outputs(given)),
    )
    return exact_outputs({template.name: template for template in (*STEPS, *graphs)})


def reading(value: x.Expr, call: str = "use") -> Task:
    return Task("reader", call, (Argument("n", value),))


def test_a_list_that_is_fanned_out_over_is_taken_apart() -> None:
    assert exact(Task("ids", "ids"), Task("each", "use", ITEM, each=Each(IDS))) == {"ids": ["result"]}


def test_what_is_handed_on_keeps_every_digit() -> None:
    assert exact(Task("ids", "ids"), reading(IDS), Task("more", "use", (Argument("n", x.OrElse(IDS, IDS)),))) == {}


def test_what_a_fan_out_returned_is_taken_apart_by_the_next() -> None:
    mapped = Task("number", "number", ITEM, each=Each(x.Literal([1, 2])))
    assert exact(mapped, Task("each", "use", ITEM, each=Each(NUMBER))) == {"number": ["result"]}


def test_a_list_is_followed_into_the_graph_that_fans_out_over_it() -> None:
    inner = (Task("each", "use", ITEM, each=Each(x.Input("n"))),)
    assert exact(Task("ids", "ids"), reading(IDS, "inner"), inner=inner) == {"ids": ["result"]}


def test_a_list_is_followed_back_out_of_the_graph_that_returns_it() -> None:
    given = (OutputParameter("result", types.ANY, value=IDS),)
    each = Task("each", "use", ITEM, each=Each(x.TaskOutput("graph", "result")))
    assert exact(Task("graph", "inner"), each, inner=(Task("ids", "ids"),), given=given) == {"ids": ["result"]}


def test_a_list_of_numbers_made_for_a_fan_out_takes_them_apart() -> None:
    each = Task("each", "use", ITEM, each=Each(x.Record((), (NUMBER, x.Literal(1)), "list")))
    assert exact(Task("number", "number"), each) == {"number": ["result"]}


@pytest.mark.parametrize("value", [x.Access(RECORD, x.Literal("id")), x.Length(RECORD)])
def test_what_a_step_computes_of_its_own_output_is_not_taken_apart(value: x.Expr) -> None:
    assert exact(Task("record", "record"), reading(value)) == {}


def test_what_is_computed_of_two_steps_is_taken_apart_where_it_holds_others() -> None:
    value = x.Access(RECORD, x.Text(("id-", NUMBER)))
    assert exact(Task("record", "record"), Task("number", "number"), reading(value)) == {"record": ["result"]}
