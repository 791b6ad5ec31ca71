"""`couler.when`, `first`, `or_else`, and what runs on failure or always."""

import pytest

import couler_py.dsl as couler
from couler_py.ir import expr as ir
from couler_py.ir.model import After, ArtifactArgument
from couler_py.ir.types import INT
from tests.unit.dsl.recorded import (
    argument,
    grow,
    increase,
    make_file,
    nothing,
    number,
    pair,
    read_file,
    say,
    scale,
    sound,
    tasks,
    template,
    text_of,
    train,
)

N = ir.TaskOutput("number", "result")
POSITIVE = ir.Compare(">", N, ir.Literal(0))


def test_a_branch_of_one_call_is_that_task_guarded():
    with couler.Workflow("test") as w:
        n = number()
        value = couler.when(n > 0, lambda: increase(n))
        increase(value.or_else(7))
    found = tasks(sound(w.build()))
    assert found["increase"].when == POSITIVE
    assert argument(found["increase-2"], "x") == ir.OrElse(ir.TaskOutput("increase", "result"), ir.Literal(7))


def test_otherwise_is_the_exact_opposite_and_the_value_is_the_first_present():
    with couler.Workflow("test") as w:
        n = number()
        value = couler.when(n > 0, lambda: increase(n), otherwise=lambda: increase(0))
        w.output("value", value)
    workflow = sound(w.build())
    found = tasks(workflow)
    assert found["increase"].when == POSITIVE
    assert found["increase-2"].when == ir.Not(POSITIVE)
    (output,) = template(workflow, "test").outputs.parameters
    assert output.value == ir.First((ir.TaskOutput("increase", "result"), ir.TaskOutput("increase-2", "result")))
    assert output.type == INT


def test_a_branch_of_several_calls_is_a_graph_guarded_as_a_whole():
    with couler.Workflow("test") as w:
        n = number()
        value = couler.when(n > 0, lambda: increase(increase(n)), otherwise=lambda: increase(0))
        w.output("value", value)
    workflow = sound(w.build())
    found = tasks(workflow)
    assert list(found) == ["number", "increase-branch", "increase"]
    assert found["increase-branch"].when == POSITIVE
    assert argument(found["increase-branch"], "number") == N
    inner = tasks(workflow, "increase-branch")
    assert argument(inner["increase"], "x") == ir.Input("number")
    assert inner["increase"].when is None
    (output,) = template(workflow, "test").outputs.parameters
    assert output.value == ir.First(
        (ir.TaskOutput("increase-branch", "increase-2"), ir.TaskOutput("increase", "result"))
    )


def test_values_with_members_are_joined_member_by_member():
    with couler.Workflow("test") as w:
        n = number()
        run = couler.when(n > 0, lambda: train("svm"), otherwise=lambda: train("forest"))
        w.output("score", run.score)
        w.output("model", run.model)
    workflow = sound(w.build())
    outputs = template(workflow, "test").outputs
    assert outputs.parameters[0].value == ir.First((ir.TaskOutput("train", "score"), ir.TaskOutput("train-2", "score")))
    assert outputs.artifacts[0].value == ir.First(
        (ir.TaskArtifact("train", "model"), ir.TaskArtifact("train-2", "model"))
    )


def test_branches_of_different_shapes_have_an_order_but_no_value():
    with couler.Workflow("test") as w:
        n = number()
        done = couler.when(n > 0, lambda: increase(n), otherwise=lambda: say("no"))
        couler.after(say("done"), done)
        with pytest.raises(couler.RecordingError):
            increase(done)
    found = tasks(sound(w.build()))
    assert found["say-2"].after == (After("increase"), After("say"))


def test_conditions_one_inside_the_other_are_both_asked():
    with couler.Workflow("test") as w:
        n = number()
        couler.when(n > 0, lambda: couler.when(n < 9, lambda: increase(n)))
    found = tasks(sound(w.build()))
    assert found["increase"].when == ir.AllOf((POSITIVE, ir.Compare("<", N, ir.Literal(9))))


def test_choices_one_inside_the_other():
    with couler.Workflow("test") as w:
        n = number()
        value = couler.when(
            n > 0,
            lambda: couler.when(n > 5, lambda: increase(1), otherwise=lambda: increase(2)),
            otherwise=lambda: increase(3),
        )
        w.output("value", value)
    workflow = sound(w.build())
    branch = template(workflow, "increase-branch")
    (inner,) = branch.outputs.parameters
    assert inner.value == ir.First((ir.TaskOutput("increase", "result"), ir.TaskOutput("increase-2", "result")))
    (output,) = template(workflow, "test").outputs.parameters
    assert output.value == ir.First((ir.TaskOutput("increase-branch", inner.name), ir.TaskOutput("increase", "result")))


def test_a_default_written_inside_a_branch_stays_inside():
    with couler.Workflow("test") as w:
        n = number()
        value = couler.when(
            n > 0,
            lambda: couler.when(n > 5, lambda: increase(1)).or_else(2),
            otherwise=lambda: increase(3),
        )
        w.output("value", value)
    workflow = sound(w.build())
    (inner,) = template(workflow, "increase-branch").outputs.parameters
    assert inner.value == ir.OrElse(ir.TaskOutput("increase", "result"), ir.Literal(2))


def test_a_default_from_around_a_branch_travels_as_one_value():
    with couler.Workflow("test") as w:
        n = number()
        maybe = couler.when(n > 0, lambda: increase(n)).or_else(0)
        couler.when(n > 5, lambda: increase(increase(maybe)))
    workflow = sound(w.build())
    branch = next(task for task in tasks(workflow).values() if task.call == "increase-branch")
    values = [given.value for given in branch.arguments]
    assert values == [ir.OrElse(ir.TaskOutput("increase", "result"), ir.Literal(0))]


def test_first_of_values_from_around_and_within_is_refused():
    with couler.Workflow("test"):
        n = number()
        outer = couler.when(n > 0, lambda: increase(n))
        with pytest.raises(couler.RecordingError, match="mixes values"):
            couler.when(n > 5, lambda: increase(couler.first(increase(1), outer)))


def test_a_condition_known_now_is_decided_now():
    with couler.Workflow("test") as w:
        couler.when(True, lambda: number(), otherwise=lambda: say("no"))
        couler.when(False, lambda: number(), otherwise=lambda: say("yes"))
    found = tasks(sound(w.build()))
    assert list(found) == ["number", "say"]
    assert found["number"].when is None


def test_a_branch_that_raises_leaves_nothing_behind():
    def broken():
        increase(1)
        raise ValueError("no")

    with couler.Workflow("test") as w:
        n = number()
        with pytest.raises(ValueError, match="no"):
            couler.when(n > 0, broken)
        increase(n)
    found = tasks(sound(w.build()))
    assert list(found) == ["number", "increase"]
    assert found["increase"].when is None


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda n: couler.when(n > 0, increase(1)), "put `lambda: ` before it"),
        (lambda n: couler.when(n > 0, lambda: increase(1), otherwise=3), "put `lambda: ` before it"),
        (lambda n: couler.when(n, lambda: increase(1)), "not a condition"),
        (lambda n: couler.when("yes", lambda: increase(1)), "not a condition"),
        (lambda n: couler.when(n > 0, lambda: 5), "calls no step"),
        (lambda n: couler.first(n, 5), "couler.first takes outputs"),
        (lambda n: couler.first(train("a"), n), "different members"),
        (lambda n: train("a").or_else(5), "needs the members score, model"),
        (lambda n: n.or_else(__import__("pathlib").Path("x")), "can't"),
    ],
)
def test_what_is_no_choice_is_refused(use, message):
    with couler.Workflow("test"):
        n = number()
        with pytest.raises(couler.RecordingError, match=message):
            use(n)


def test_a_default_for_members_has_the_same_members():
    with couler.Workflow("test") as w:
        n = number()
        both = couler.when(n > 0, lambda: pair(n)).or_else({"left": 1, "right": 2})
        increase(both.left)
    found = tasks(sound(w.build()))
    assert argument(found["increase"], "x") == ir.OrElse(ir.TaskOutput("pair", "left"), ir.Literal(1))


def test_a_file_that_may_be_absent_is_none_or_another_file():
    with couler.Workflow("test") as w:
        n = number()
        file = couler.when(n > 0, lambda: make_file("a"))
        read_file(file.or_else(None))
        grow(file.or_else(make_file("b")))
    found = tasks(sound(w.build()))
    one, two = ir.TaskArtifact("make_file", "result"), ir.TaskArtifact("make_file-2", "result")
    assert found["read_file"].artifacts == (
        ArtifactArgument("source", ir.OrElse(one, ir.Literal(None)), optional=True),
    )
    assert found["grow"].artifacts == (ArtifactArgument("source", ir.OrElse(one, two)),)


def test_what_runs_on_failure_and_always():
    with couler.Workflow("test") as w:
        n = number()
        couler.on_failure(n, lambda: say("failed"))
        couler.always([n], lambda: say("over"))
        couler.always(n, lambda: (say("one"), say("two")))
    found = tasks(sound(w.build()))
    assert found["say"].after == (After("number", "on_failure"),)
    assert found["say-2"].after == (After("number", "always"),)
    assert found["say-branch"].after == (After("number", "always"),)


def test_the_status_of_a_task():
    with couler.Workflow("test") as w:
        n = number()
        say(n.status)
    found = tasks(sound(w.build()))
    assert argument(found["say"], "text") == ir.TaskStatus("number")


def test_an_int_and_a_float_join_as_a_float():
    with couler.Workflow("test") as w:
        n = number()
        scale(couler.when(n > 0, lambda: increase(n), otherwise=lambda: scale(0.5)))
        with pytest.raises(couler.RecordingError, match="wants int"):
            increase(couler.when(n > 0, lambda: increase(n), otherwise=lambda: scale(0.5)))
    assert w.name == "test"


def test_a_branch_without_calls_is_nothing():
    with couler.Workflow("test") as w:
        n = number()
        couler.when(n > 0, lambda: nothing(), otherwise=lambda: None)
        text_of(n)
    assert list(tasks(sound(w.build()))) == ["number", "nothing", "text_of"]
