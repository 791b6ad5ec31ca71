"""Python steps in a row as one: which can be, what becomes of their inputs, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from couler_py.ir import expr as e
from couler_py.ir.model import (
    After,
    Argument,
    Function,
    Graph,
    Inputs,
    Link,
    LinkInput,
    LinkOutput,
    OutputParameter,
    Outputs,
    Parameter,
    Piece,
    RetryPolicy,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.types import INT
from couler_py.passes.check import check
from couler_py.passes.history import History, Observed, work_of
from couler_py.passes.parallel import ParallelOptionError, apply
from couler_py.passes.situation import Situation

ALL = Situation(options={"merge_chains": "all"})


def step(name: str, text: str = "", **more: Any) -> Template:
    body = Function(name, (Piece(text or f"def {name}(x, y=1):\n    return x + y"),), "one")
    inputs = Inputs((Parameter("x", INT), Parameter("y", INT, default=1)))
    return replace(Template(name, body, inputs, Outputs((OutputParameter("result", INT),))), **more)


def call(name: str, x: object, y: object = None, **more: Any) -> Task:
    arguments = [Argument(each, _value(value)) for each, value in (("x", x), ("y", y)) if value is not None]
    return Task(name, name, tuple(arguments), **more)


def _value(value: object) -> e.Expr:
    return e.TaskOutput(value, "result") if isinstance(value, str) else e.Literal(value)


def flow(*tasks: Task, templates: tuple[Template, ...] = (), result: str = "c") -> Workflow:
    known = {each.name: each for each in templates}
    steps = tuple(known.get(task.name) or step(task.name) for task in tasks)
    out = Outputs((OutputParameter("result", INT, value=e.TaskOutput(result, "result")),))
    return Workflow("flow", "main", (Template("main", Graph(tasks), outputs=out), *steps))


def joined(workflow: Workflow, situation: Situation = ALL) -> list[str]:
    """The tasks that are left, and in brackets what each stands for."""
    made = apply(workflow, situation).workflow
    assert not [finding for finding in check(made) if finding.severity == "error"]
    body = made.templates[0].body
    assert isinstance(body, Graph)
    templates = {each.name: each.body for each in made.templates}
    found = []
    for task in body.tasks:
        links = getattr(templates[str(task.call)], "links", ())
        found.append(task.name + (f"[{' '.join(link.task for link in links)}]" if links else ""))
    return found


CHAIN = (call("a", 1), call("b", "a"), call("c", "b", 5))


def test_a_chain_becomes_one_task_of_the_last_one_s_name() -> None:
    assert joined(flow(*CHAIN)) == ["c[a b c]"]


def test_inputs_from_outside_get_names_of_their_own() -> None:
    made = apply(flow(*CHAIN), ALL).workflow
    [main, whole] = made.templates
    assert whole.name == "a-b-c"
    assert [parameter.name for parameter in whole.inputs.parameters] == ["x", "y", "y_2", "y_3"]
    assert isinstance(main.body, Graph)
    assert main.body.tasks[0].arguments == (Argument("x", e.Literal(1)), Argument("y_3", e.Literal(5)))
    assert isinstance(whole.body, Function)
    assert whole.body.links[1] == Link(
        "b",
        "b",
        "one",
        (LinkInput("x", INT, output="result"), LinkInput("y", INT, parameter="y_2")),
        (LinkOutput("result", INT),),
    )
    assert whole.body.links[2].outputs == ()


def test_nothing_is_joined_unless_it_is_asked_for() -> None:
    assert joined(flow(*CHAIN), Situation()) == ["a", "b", "c"]


def test_what_others_read_stays_a_task() -> None:
    assert joined(flow(*CHAIN, call("d", "a"), result="d")) == ["a", "c[b c]", "d"]
    assert joined(flow(*CHAIN, result="a")) == ["a", "c[b c]"]
    assert joined(flow(*CHAIN, call("d", 2, after=(After("a"),)))) == ["a", "c[b c]", "d"]


def test_what_waits_for_more_than_one_stays_a_task() -> None:
    assert joined(flow(call("a", 1), call("b", 1), call("c", "a", "b"))) == ["a", "b", "c"]


def test_by_order_alone_or_after_a_failure_nothing_is_joined() -> None:
    for kind in ("order", "always"):
        assert joined(flow(call("a", 1), call("c", 2, after=(After("a", kind),)))) == ["a", "c"]


def test_a_task_whose_state_somebody_reads_fails_by_itself_or_not_at_all() -> None:
    told = call("d", 1, when=e.Compare("==", e.TaskStatus("c"), e.Literal("Failed")))
    assert joined(flow(*CHAIN, told)) == ["b[a b]", "c", "d"]


def test_a_step_that_says_how_it_runs_stays_a_task() -> None:
    for more in ({"retry": RetryPolicy(1)}, {"timeout": 5.0}, {"deadline": 5.0}):
        assert joined(flow(*CHAIN, templates=(step("b", **more),))) == ["a", "b", "c"]
    other = step("b")
    other = replace(other, body=replace(other.body, image="python:3.12"))
    assert joined(flow(*CHAIN, templates=(other,))) == ["a", "b", "c"]


def test_a_task_with_a_condition_stays_one() -> None:
    off = e.Compare("==", e.Literal(1), e.Literal(2))
    assert joined(flow(call("a", 1), call("b", "a", when=off), call("c", 2))) == ["a", "b", "c"]


def test_sources_in_which_a_name_means_two_things_are_not_joined() -> None:
    sources = (
        step("a", "K = 1\ndef a(x, y=1):\n    return x + K"),
        step("b", "K = 2\ndef b(x, y=1):\n    return x + K"),
        step("c", "K = 2\ndef c(x, y=1):\n    return x + K"),
    )
    assert joined(flow(*CHAIN, templates=sources)) == ["a", "c[b c]"]


def test_only_short_steps_are_joined_as_far_as_is_known() -> None:
    long = Observed("flow", "a", work_of(step("a")), seconds=(60.0,))
    known = Situation(options={"merge_chains": 5}, history=History.of(long))
    assert joined(flow(*CHAIN), known) == ["a", "c[b c]"]
    assert joined(flow(*CHAIN), replace(known, options={"merge_chains": "90s"})) == ["c[a b c]"]


def test_effects_of_all_are_those_of_the_one() -> None:
    made = apply(flow(*CHAIN, templates=(step("a", effects=("db",)), step("c", effects=("db", "mail")))), ALL).workflow
    assert made.templates[1].effects == ("db", "mail")


def test_it_says_what_it_did_and_what_that_saves() -> None:
    [note] = apply(flow(*CHAIN), replace(ALL, engine="argo")).notes
    assert (note.place, note.what, note.saves) == ("c", "3 steps in one: a, b, c", "about 8 s of starting")


def test_joining_again_changes_nothing() -> None:
    once = apply(flow(*CHAIN), ALL).workflow
    assert apply(once, ALL).workflow == once


@pytest.mark.parametrize("given", ["soon", 0, -1, "inf"])
def test_what_is_no_time_is_refused(given: object) -> None:
    with pytest.raises(ParallelOptionError, match='is neither a number of seconds nor "all"'):
        apply(flow(*CHAIN), Situation(options={"merge_chains": given or "0"}))
