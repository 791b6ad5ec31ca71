"""`couler.loop` and `couler.exec_while`."""

from pathlib import Path
from typing import NamedTuple

import pytest

import couler_py.dsl as couler
from couler_py.ir import expr as ir
from couler_py.ir.model import Argument, ArtifactArgument, Carry, Loop, OutputParameter
from couler_py.ir.storage import LocalPath
from couler_py.ir.types import FLOAT
from tests.unit.dsl.recorded import (
    add,
    argument,
    grow,
    increase,
    make_file,
    number,
    say,
    scale,
    sound,
    tasks,
    template,
    text_of,
)


class State(NamedTuple):
    weights: float
    rate: float
    loss: float


@couler.step
def improve(weights: float, rate: float, data: int) -> State:
    return State(weights, rate, 0.0)


def loop_of(workflow, task):
    body = template(workflow, tasks(workflow)[task].call).body
    assert isinstance(body, Loop)
    return body


def test_one_step_is_called_by_the_loop_itself():
    with couler.Workflow("test") as w:
        last = couler.loop(lambda x: increase(x), until=lambda x: x > 5, initial=0, max_iterations=9)
        increase(last)
    workflow = sound(w.build())
    loop = loop_of(workflow, "increase-loop")
    assert loop == Loop(
        "increase", ir.Compare(">", ir.Own("result"), ir.Literal(5)), (Carry("result", "x"),), max_iterations=9
    )
    found = tasks(workflow)
    assert found["increase-loop"].arguments == (Argument("x", ir.Literal(0)),)
    assert argument(found["increase"], "x") == ir.TaskOutput("increase-loop", "result")


def test_several_carried_values_go_by_the_names_of_the_results():
    with couler.Workflow("test") as w:
        data = number()
        last = couler.loop(
            lambda weights, rate: improve(weights, rate, data),
            until=lambda state: state.loss < 0.1,
            initial={"weights": 0.5, "rate": 0.1},
        )
        scale(last.weights)
    workflow = sound(w.build())
    loop = loop_of(workflow, "improve-loop")
    assert loop.body == "improve"
    assert loop.until == ir.Compare("<", ir.Own("loss"), ir.Literal(0.1))
    assert loop.carry == (Carry("weights", "weights"), Carry("rate", "rate"))
    task = tasks(workflow)["improve-loop"]
    assert task.arguments == (
        Argument("weights", ir.Literal(0.5)),
        Argument("rate", ir.Literal(0.1)),
        Argument("data", ir.TaskOutput("number", "result")),
    )
    outputs = template(workflow, task.call).outputs.parameters
    assert outputs[0] == OutputParameter("weights", FLOAT, value=ir.Own("weights"))


def test_a_tuple_is_given_by_position_and_carry_names_results():
    with couler.Workflow("test") as w:
        couler.loop(
            lambda w, r: improve(w, r, 1),
            until=lambda state: state.loss < 0.1,
            initial=(0.5, 0.1),
            carry={"w": "weights", "r": "rate"},
        )
    assert loop_of(sound(w.build()), "improve-loop").carry == (Carry("weights", "weights"), Carry("rate", "rate"))


def test_a_body_of_several_steps_is_a_graph():
    with couler.Workflow("test") as w:
        n = number()
        last = couler.loop(lambda x: add(increase(x), n), until=lambda x: x > 5, initial=n)
        increase(last)
    workflow = sound(w.build())
    loop = loop_of(workflow, "increase-loop")
    assert loop.body == "increase-loop-body"
    inner = tasks(workflow, "increase-loop-body")
    assert argument(inner["increase"], "x") == ir.Input("x")
    assert argument(inner["add"], "b") == ir.Input("number")
    outer = tasks(workflow)["increase-loop"]
    assert argument(outer, "x") == argument(outer, "number") == ir.TaskOutput("number", "result")


def test_a_value_that_is_used_twice_or_computed_with_needs_a_graph():
    with couler.Workflow("test") as w:
        couler.loop(lambda x: increase(x + 1), until=lambda x: x > 5, initial=0)
    assert loop_of(sound(w.build()), "increase-loop").body == "increase-loop-body"


def test_an_int_to_begin_with_and_floats_after_it():
    with couler.Workflow("test") as w:
        couler.loop(lambda x: scale(x), until=lambda x: x > 5, initial=1)
    workflow = sound(w.build())
    (parameter,) = template(workflow, "scale-loop").inputs.parameters
    assert parameter.type == FLOAT


def test_files_are_carried_too():
    with couler.Workflow("test") as w:
        couler.loop(lambda source: grow(source), until=lambda _: always_true(), initial=make_file("a"))
        couler.loop(lambda source: grow(source), until=lambda _: always_true(), initial=Path("seed.txt"))
    found = tasks(sound(w.build()))
    assert found["grow-loop"].artifacts == (ArtifactArgument("source", ir.TaskArtifact("make_file", "result")),)
    assert found["grow-loop-2"].artifacts == (ArtifactArgument("source", storage=LocalPath("seed.txt")),)


def always_true():
    return couler.all_of(True, True)


def test_exec_while_runs_once_and_then_while_the_condition_is_true():
    with couler.Workflow("test") as w:
        face = couler.exec_while(lambda face: face == "tails", lambda: text_of(1))
        say(face)
    loop = loop_of(sound(w.build()), "text_of-loop")
    assert loop.until == ir.Not(ir.Compare("==", ir.Own("result"), ir.Literal("tails")))
    assert loop.max_iterations == 50


def test_the_same_loop_twice():
    with couler.Workflow("test") as w:
        couler.exec_while(lambda face: face == "tails", lambda: text_of(1))
        couler.exec_while(lambda face: face == "tails", lambda: text_of(1), name="again")
    assert list(tasks(sound(w.build()))) == ["text_of-loop", "again"]


def test_a_loop_in_a_fan_out():
    with couler.Workflow("test") as w:
        couler.map(lambda x: couler.loop(lambda y: increase(y), until=lambda y: y > 5, initial=x), [1, 2])
    found = tasks(sound(w.build()))
    assert found["increase-loop"].each is not None
    assert argument(found["increase-loop"], "x") == ir.Item()


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: couler.loop(increase(1), until=lambda x: x > 1), "the body of a loop is a function"),
        (lambda: couler.loop(lambda x: increase(x), until=5, initial=0), "until of a loop is a function"),
        (lambda: couler.loop(lambda x: increase(x), until=lambda x: x > 1), "initial gives nothing"),
        (lambda: couler.loop(lambda: number(), until=lambda x: x > 1, initial=0), "takes no argument"),
        (lambda: couler.loop(lambda x: increase(x), until=lambda x: x, initial=0), "not a condition"),
        (lambda: couler.loop(lambda x: text_of(x), until=lambda x: x == "a", initial=0), "begins as int"),
        (lambda: couler.loop(lambda x: improve(x, x, 1), until=lambda s: s.loss < 1, initial=0.5), "no result becomes"),
        (lambda: couler.loop(lambda x: x, until=lambda x: x > 1, initial=0), "calls no step"),
        (lambda: couler.loop(lambda x: increase(x), until=lambda x: increase(x) > 1, initial=0), "until calls a step"),
        (lambda: couler.loop(lambda x: increase(x), until=lambda x: x > 1, initial=0, max_iterations=0), "at least 1"),
        (lambda: couler.exec_while(True, lambda: number()), "a function, not True"),
    ],
)
def test_what_is_no_loop_is_refused(use, message):
    with couler.Workflow("test"), pytest.raises(couler.RecordingError, match=message):
        use()


def test_a_value_of_the_body_does_not_leave_it_by_itself():
    kept = []
    with couler.Workflow("test"):
        couler.loop(lambda x: kept.append(increase(x)) or add(kept[-1], x), until=lambda x: x > 5, initial=0)
        with pytest.raises(couler.RecordingError, match="only the last result leaves the loop"):
            increase(kept[0])
