"""`couler.map`: what a fan-out becomes, and what its caller gets."""

import pytest

import couler_py.dsl as couler
from couler_py.ir import expr as ir
from couler_py.ir.model import Argument, Each, Graph, Sequence
from couler_py.ir.types import INT, STR, ListOf
from tests.unit.dsl.recorded import (
    add,
    argument,
    increase,
    make_file,
    nothing,
    number,
    numbers,
    pick,
    say,
    sound,
    tasks,
    template,
    text_of,
    total,
    train,
)


def test_one_step_over_a_list_is_that_step_with_items():
    with couler.Workflow("test") as w:
        runs = couler.map(lambda m: train(m, 0.5), ["svm", "forest"], parallel=2, tolerate=1)
        w.output("best", pick(runs.score, runs.model).score)
    found = tasks(sound(w.build()))
    assert found["train"].each == Each(ir.Literal(["svm", "forest"]), parallel=2, tolerate=1)
    assert argument(found["train"], "model") == ir.Item()
    assert argument(found["train"], "c") == ir.Literal(0.5)
    assert argument(found["pick"], "scores") == ir.TaskOutput("train", "score")
    assert argument(found["pick"], "models") == ir.TaskArtifact("train", "model")


def test_a_step_itself_can_be_mapped():
    with couler.Workflow("test") as w:
        total(couler.map(increase, range(3)))
    found = tasks(sound(w.build()))
    assert found["increase"].each == Each(ir.Literal([0, 1, 2]))


def test_a_list_that_a_step_returns_is_mapped_at_run_time():
    with couler.Workflow("test") as w:
        results = couler.map(lambda x: increase(x), numbers(3), max_items=10)
        total(results)
    found = tasks(sound(w.build()))
    assert found["increase"].each == Each(ir.TaskOutput("numbers", "result"), max_items=10)


def test_items_that_succeeded_stay_aligned_with_the_results():
    with couler.Workflow("test") as w:
        results = couler.map(lambda x: increase(x), numbers(3))
        total(results.inputs)
        total(couler.inputs(results))
    found = tasks(sound(w.build()))
    assert argument(found["total"], "values") == ir.TaskItems("increase")
    assert argument(found["total-2"], "values") == ir.TaskItems("increase")


def test_several_calls_are_a_graph_of_their_own():
    with couler.Workflow("test") as w:
        results = couler.map(lambda x: increase(increase(x)), [1, 2])
        total(results)
    workflow = sound(w.build())
    outer = tasks(workflow)["increase-map"]
    inner = tasks(workflow, "increase-map")
    assert outer.each == Each(ir.Literal([1, 2]))
    assert outer.arguments == (Argument("x", ir.Item()),)
    assert argument(inner["increase"], "x") == ir.Input("x")
    assert argument(inner["increase-2"], "x") == ir.TaskOutput("increase", "result")
    (output,) = template(workflow, "increase-map").outputs.parameters
    assert (output.name, output.type, output.value) == ("result", INT, ir.TaskOutput("increase-2", "result"))


def test_what_is_computed_from_an_items_result_needs_a_graph():
    with couler.Workflow("test") as w:
        total(couler.map(lambda x: increase(x) + 1, [1, 2]))
    workflow = sound(w.build())
    (output,) = template(workflow, "increase-map").outputs.parameters
    assert output.value == ir.Compute("+", ir.TaskOutput("increase", "result"), ir.Literal(1))


def test_a_condition_on_the_item_lives_in_the_mapped_graph():
    with couler.Workflow("test") as w:
        total(couler.map(lambda x: couler.when(x > 1, lambda: increase(x)), [1, 2, 3]))
    workflow = sound(w.build())
    (outer,) = (task for task in tasks(workflow).values() if task.each)
    assert outer.when is None
    inner = tasks(workflow, outer.call)
    assert inner["increase"].when == ir.Compare(">", ir.Input("x"), ir.Literal(1))


def test_a_condition_around_a_fan_out_is_on_the_fan_out():
    with couler.Workflow("test") as w:
        n = number()
        results = couler.when(n > 1, lambda: couler.map(lambda x: increase(x), [1, 2]))
        total(results.or_else([]))
    found = tasks(sound(w.build()))
    assert found["increase"].when == ir.Compare(">", ir.TaskOutput("number", "result"), ir.Literal(1))
    assert found["increase"].each is not None


def test_several_lists_are_taken_together():
    with couler.Workflow("test") as w:
        couler.map(lambda a, b: add(a, b), [1, 2], [10, 20])
        couler.map(lambda a, b: add(a, b), numbers(2), [10, 20])
    found = tasks(sound(w.build()))
    assert found["add"].each == Each(ir.Literal([[1, 10], [2, 20]]))
    assert argument(found["add"], "b") == ir.Access(ir.Item(), ir.Literal(1))
    assert found["add-2"].each == Each(ir.Zip((ir.TaskOutput("numbers", "result"), ir.Literal([10, 20]))))


def test_tuples_are_taken_apart_by_a_function_of_as_many_parameters():
    with couler.Workflow("test") as w:
        couler.map(lambda name, c: train(name, c), [("svm", 0.1), ("forest", 1.0)])
        couler.map(lambda item: train(item[0], item[1]), [("svm", 0.1)])
    found = tasks(sound(w.build()))
    assert argument(found["train"], "model") == ir.Access(ir.Item(), ir.Literal(0))
    assert argument(found["train-2"], "c") == ir.Access(ir.Item(), ir.Literal(1))


def test_members_of_dict_items():
    with couler.Workflow("test") as w:
        couler.map(lambda item: train(item["name"], item.c), [{"name": "svm", "c": 0.1}])
    found = tasks(sound(w.build()))
    assert argument(found["train"], "model") == ir.Access(ir.Item(), ir.Literal("name"))
    assert argument(found["train"], "c") == ir.Access(ir.Item(), ir.Literal("c"))


def test_items_have_the_type_of_the_list():
    with couler.Workflow("test"), pytest.raises(couler.RecordingError, match="wants int, but x is str"):
        couler.map(lambda x: increase(x), ["a"])


def test_no_items():
    with couler.Workflow("test") as w:
        total(couler.map(lambda x: increase(x), []))
    assert tasks(sound(w.build()))["increase"].each == Each(ir.Literal([]))


def test_results_keep_the_shape_that_the_function_returns():
    with couler.Workflow("test") as w:
        found = couler.map(lambda x: {"one": increase(x), "two": text_of(x)}, [1, 2])
        total(found["one"])
        assert found["two"]._couler_type == ListOf(STR)
    sound(w.build())


def test_nested_fan_outs():
    with couler.Workflow("test") as w:
        rows = couler.map(lambda n: couler.map(lambda x: add(x, n), numbers(n)), [1, 2])
        assert rows._couler_type == ListOf(ListOf(INT))
    workflow = sound(w.build())
    outer = tasks(workflow)["numbers-map"]
    inner = tasks(workflow, "numbers-map")
    assert outer.each == Each(ir.Literal([1, 2]))
    assert inner["add"].each == Each(ir.TaskOutput("numbers", "result"))
    assert argument(inner["add"], "a") == ir.Item()
    assert argument(inner["add"], "b") == ir.Input("n")


def test_a_value_from_around_reaches_a_mapped_graph():
    with couler.Workflow("test") as w:
        base = number()
        couler.map(lambda x: increase(add(x, base)), [1, 2])
    workflow = sound(w.build())
    outer = tasks(workflow)["add-map"]
    assert argument(outer, "number") == ir.TaskOutput("number", "result")
    assert argument(tasks(workflow, "add-map")["add"], "b") == ir.Input("number")


def test_numbers_counted_at_run_time():
    with couler.Workflow("test") as w:
        n = number()
        couler.map(lambda x: increase(x), couler.sequence(count=n))
        couler.map(lambda x: say(x), couler.sequence(start=1, end=3, form="shard-%02d"))
    found = tasks(sound(w.build()))
    assert found["increase"].each == Each(Sequence(count=ir.TaskOutput("number", "result")))
    assert found["say"].each == Each(Sequence(start=ir.Literal(1), end=ir.Literal(3), form="shard-%02d"))


def test_a_fan_out_can_have_a_name():
    with couler.Workflow("test") as w:
        couler.map(lambda x: increase(x), [1], name="bump")
        couler.map(lambda x: increase(increase(x)), [1], name="twice")
    assert list(tasks(sound(w.build()))) == ["bump", "twice"]


def test_a_mapped_step_without_result():
    with couler.Workflow("test") as w:
        done = couler.map(lambda x: nothing(), [1, 2])
        couler.after(say("done"), done)
    found = tasks(sound(w.build()))
    assert [edge.task for edge in found["say"].after] == ["nothing"]


def test_one_graph_for_equal_bodies():
    with couler.Workflow("test") as w:
        couler.map(lambda x: increase(increase(x)), [1])
        couler.map(lambda x: increase(increase(x)), [2])
    workflow = sound(w.build())
    assert [found.name for found in workflow.templates if isinstance(found.body, Graph)] == ["test", "increase-map"]


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: couler.map(increase), "needs a list"),
        (lambda: couler.map(increase, "abc"), "needs a list, not 'abc'"),
        (lambda: couler.map(increase, {"a": 1}), r"list\(d.items\(\)\)"),
        (lambda: couler.map(increase, {1, 2}), r"sorted\(...\)"),
        (lambda: couler.map(add, [1, 2], [1]), "different lengths: 2, 1"),
        (lambda: couler.map(increase, range(1001)), "max_items is 1000"),
        (lambda: couler.map(increase, number()), "needs a list"),
        (lambda: couler.map(increase, make_file("a")), "a file or folder"),
        (lambda: couler.map(increase, couler.map(train, ["a"])), "map over one of its members: score, model"),
        (lambda: couler.map(increase(1), [1]), "needs a function"),
        (lambda: couler.map(lambda x: x, [1]), "calls no step"),
        (lambda: couler.map(increase, [1], parallel=0), "parallel"),
        (lambda: couler.map(increase, [1], tolerate=-1), "tolerate"),
        (lambda: couler.sequence(), "count or end"),
        (lambda: number().inputs, "not a fan-out"),
    ],
)
def test_what_cannot_be_mapped_is_refused(use, message):
    with couler.Workflow("test"), pytest.raises(couler.RecordingError, match=message):
        use()


def test_an_item_does_not_leave_its_function():
    kept = []
    with couler.Workflow("test"):
        couler.map(lambda x: kept.append(x) or increase(x), [1, 2])
        with pytest.raises(couler.RecordingError, match="only inside the function that it maps"):
            increase(kept[0])


def test_a_result_inside_does_not_leave_the_function_by_itself():
    kept = []
    with couler.Workflow("test"):
        couler.map(lambda x: kept.append(increase(x)) or increase(kept[-1]), [1, 2])
        with pytest.raises(couler.RecordingError, match="it runs once for each item"):
            increase(kept[0])
