"""What goes wrong on Argo in silence, and how the emitted form keeps clear of it; each run on the real controller."""

from __future__ import annotations

import pytest
from kubernetes import client

from couler_py.backends.argo import compile_workflow
from couler_py.backends.argo.options import Options
from couler_py.ir.expr import Access, Compare, Compute, Expr, Input, Item, Literal, OrElse, Own, TaskOutput
from couler_py.ir.model import (
    Carry,
    Each,
    Graph,
    Inputs,
    Loop,
    OutputParameter,
    Outputs,
    Parameter,
    Suspend,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.types import ANY, INT, STR, ListOf
from tests.cluster.argo import Namespace
from tests.conformance.podless import ACT, NEVER, NOTHING, act
from tests.engines.argo.controller import Run, SideBySide, given, workflow

pytestmark = pytest.mark.cluster
together = SideBySide()


def passing(name: str, type_: object, value: Expr) -> Template:
    """A graph without pods that gives out an expression over its input `x`."""
    return Template(
        name,
        Graph((Task("nothing", "nothing"),)),
        Inputs((Parameter("x", type_),)),  # type: ignore[arg-type]
        Outputs((OutputParameter("out", ANY, value=value),)),
    )


@together
def test_an_output_that_cannot_be_resolved_makes_its_graph_failed(namespace: Namespace) -> list[Run]:
    third = passing("third", ListOf(INT), Access(Input("x"), Literal(2)))
    built = workflow(
        "third",
        Task("a", "third", given(x=Literal([1]))),
        Task("b", "third", given(x=Literal([1, 2, 3]))),
        templates=(third, NOTHING),
        outputs=[("r", ANY, TaskOutput("b", "out"))],
    )
    return [Run("third", built, "Failed", {"a": "Failed", "b": "Succeeded"})]


@together
def test_values_that_look_like_tags_arrive_at_every_level_as_they_were(namespace: Namespace) -> list[Run]:
    inner = passing("inner", STR, Input("x"))
    outer = Template(
        "outer",
        Graph((Task("inner", "inner", given(x=Input("x"))),)),
        Inputs((Parameter("x"),)),
        Outputs((OutputParameter("out", value=TaskOutput("inner", "out")),)),
    )
    text = "{{workflow.name}} {{=1+1}} {{nope}} {{ }} \x1b\U000e0001"
    built = workflow(
        "tags",
        Task("a", "outer", given(x=Literal(text))),
        Task("b", "outer", given(x=TaskOutput("a", "out"))),
        templates=(outer, inner, NOTHING),
        outputs=[("r", STR, TaskOutput("b", "out"))],
    )
    return [Run("tags", built, outputs={"r": text})]


@together
def test_a_fan_out_that_cannot_be_expanded_fails_and_hangs_nothing(namespace: Namespace) -> list[Run]:
    items = Each(Access(Input("x"), Literal("list")))
    fan = Template(
        "fan",
        Graph((act("m", "S", each=items),)),
        Inputs((Parameter("x", ANY),)),
    )
    built = workflow("fan", Task("a", "fan", given(x=Literal({}))), templates=(fan, ACT, NEVER, NOTHING))
    return [Run("fan", built, "Failed", {"a": "Failed", "a/m": "Failed"})]


@together
def test_a_longer_list_than_allowed_fails(namespace: Namespace) -> list[Run]:
    numbers = passing("numbers", ListOf(INT), Input("x"))
    fan = Task(
        "m", "numbers", given(x=Literal([1])), each=Each(OrElse(TaskOutput("a", "out"), Literal([])), max_items=2)
    )
    built = workflow("long", Task("a", "numbers", given(x=Literal([1, 2, 3]))), fan, templates=(numbers, NOTHING))
    return [Run("long", built, "Failed", {"a": "Succeeded", "m": "Failed"})]


@together
def test_all_items_failing_within_what_is_tolerated_gives_an_empty_list(namespace: Namespace) -> list[Run]:
    fan = act("m", Item(), each=Each(Literal(["F", "F"]), tolerate=2))
    outputs = [("r", ListOf(STR), TaskOutput("m", "out"))]
    built = workflow("bear", fan, templates=(ACT, NEVER, NOTHING), outputs=outputs)
    return [Run("bear", built, outputs={"r": []})]


@together
def test_a_loop_runs_as_deep_as_the_bound_allows(namespace: Namespace) -> list[Run]:
    body = Template(
        "body",
        Graph((Task("nothing", "nothing"),)),
        Inputs((Parameter("n", INT),)),
        Outputs((OutputParameter("n", INT, value=Compute("+", Input("n"), Literal(1))),)),
    )
    loop = Template(
        "loop",
        Loop("body", Compare(">=", Own("n"), Literal(94)), (Carry("n", "n"),), 94),
        Inputs((Parameter("n", INT),)),
        Outputs((OutputParameter("n", INT, value=Own("n")),)),
    )
    built = workflow(
        "deep",
        Task("l", "loop", given(n=Literal(0))),
        templates=(loop, body, NOTHING),
        outputs=[("n", INT, TaskOutput("l", "n"))],
    )
    return [Run("deep", built, outputs={"n": 94})]


def test_the_api_refuses_what_our_bounds_refuse(namespace: Namespace) -> None:
    nothing = Template("nothing", Suspend(0))
    many = Workflow(
        "m", "main", (Template("main", Graph(tuple(Task(f"t{i}", "nothing") for i in range(201)))), nothing)
    )
    bundle = compile_workflow(many, Options(crds="minimal"))
    with pytest.raises(client.ApiException, match="must have at most 200 items"):
        namespace.submit(bundle.text)
