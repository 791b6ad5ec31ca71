"""`when`, the predicates, `map`, `concurrent`, `exec_while`: peers' rows of Couler's API."""

from typing import Any

import pytest

import couler_py.argo as couler
import couler_py.dsl as steps
from couler_py.dsl.problems import PlaceholderError, RecordingError
from couler_py.ir import expr as ir
from couler_py.ir.model import Graph, Loop, OutputParameter
from couler_py.ir.types import FLOAT, STR
from tests.unit.dsl.recorded import increase, numbers, total
from tests.unit.dsl.verbs.programs import (
    arguments,
    built,
    flip_coin,
    leave,
    message_of,
    order,
    say,
    tasks,
    template_of,
    write,
)

# ---- when


def test_when_guards_a_step_by_a_typed_comparison() -> None:
    result = flip_coin()
    couler.when(couler.equal(result, "heads"), lambda: say(name="heads"))
    assert tasks()["heads"].when == ir.Compare("==", ir.TaskOutput("flip_coin", "result"), ir.Literal("heads"))


def test_when_compares_text_with_blanks_and_quotes() -> None:
    couler.when(couler.equal(flip_coin(), "a \"b' c"), lambda: say(name="go"))
    found = tasks()["go"].when
    assert isinstance(found, ir.Compare)
    assert found.right == ir.Literal("a \"b' c")


def test_steps_after_when_go_on() -> None:
    couler.when(couler.equal(flip_coin(), "heads"), lambda: say(name="heads"))
    say(name="after")
    assert order()["after"] == ["heads"]
    assert tasks()["after"].when is None


def test_when_has_an_else() -> None:
    result = flip_coin()
    couler.when(couler.equal(result, "heads"), lambda: say(name="heads"), otherwise=lambda: say(name="tails"))
    found = tasks()
    assert found["tails"].when == ir.Not(found["heads"].when)  # type: ignore[arg-type]
    assert order()["tails"] == ["flip_coin"]


def test_the_value_of_when_is_that_of_the_branch_that_ran() -> None:
    result = flip_coin()
    chosen = couler.when(
        couler.equal(result, "heads"), lambda: write(name="heads"), otherwise=lambda: write(name="tails")
    )
    say(chosen[0], name="use")
    assert arguments(tasks()["use"])["para-0"] == ir.First(
        (ir.TaskOutput("heads", "t1-txt"), ir.TaskOutput("tails", "t1-txt"))
    )


def test_a_branch_of_several_steps_is_guarded_as_a_whole() -> None:
    def both() -> None:
        say(name="one")
        say(name="two")

    couler.when(couler.equal(flip_coin(), "heads"), both)
    workflow = built()
    assert tasks(workflow)["both"].when is not None
    assert order_of(workflow, "both") == {"one": [], "two": ["one"]}


def order_of(workflow: Any, template: str) -> dict[str, list[str]]:
    return {name: [edge.task for edge in task.after] for name, task in tasks(workflow, template).items()}


def test_a_branch_that_raises_leaks_no_condition_on_later_steps() -> None:
    def broken() -> None:
        raise ValueError("no")

    result = flip_coin()
    with pytest.raises(ValueError, match="no"):
        couler.when(couler.equal(result, "heads"), broken)
    say(name="later")
    found = tasks()
    assert list(found) == ["flip_coin", "later"]
    assert found["later"].when is None


def test_conditions_are_joined_by_and_or_not() -> None:
    one, two = flip_coin(), write(name="two")
    couler.when(couler.equal(one, "heads") & ~couler.equal(two, "x"), lambda: say(name="go"))
    assert tasks()["go"].when == ir.AllOf(
        (
            ir.Compare("==", ir.TaskOutput("flip_coin", "result"), ir.Literal("heads")),
            ir.Not(ir.Compare("==", ir.TaskOutput("two", "t1-txt"), ir.Literal("x"))),
        )
    )


def test_a_predicate_calls_a_function_that_stands_on_its_left() -> None:
    couler.when(couler.equal(flip_coin, "heads"), lambda: say(name="heads"))
    assert list(tasks()) == ["flip_coin", "heads"]


def test_when_without_a_left_side_is_refused() -> None:
    with pytest.raises(RecordingError, match="nothing on its left side"):
        couler.when(couler.equal("heads"), lambda: say())


def test_when_with_a_call_instead_of_a_function_is_refused() -> None:
    result = flip_coin()
    with pytest.raises(RecordingError, match="lambda"):
        couler.when(couler.equal(result, "heads"), say())  # type: ignore[arg-type]


# ---- predicates


@pytest.mark.parametrize(
    ("predicate", "sign"),
    [
        (couler.bigger, ">"),
        (couler.smaller, "<"),
        (couler.bigger_equal, ">="),
        (couler.smaller_equal, "<="),
        (couler.equal, "=="),
        (couler.not_equal, "!="),
    ],
)
def test_what_a_step_prints_is_compared_with_a_number_as_a_number(predicate: Any, sign: Any) -> None:
    couler.when(predicate(flip_coin(), 3), lambda: say(name="go"))
    workflow = built()
    assert tasks(workflow)["go"].when == ir.Compare(sign, ir.TaskOutput("flip_coin", "result-number"), ir.Literal(3))
    assert template_of(workflow, "flip_coin").outputs.parameters == (
        OutputParameter("result", STR, stdout=True),
        OutputParameter("result-number", FLOAT, stdout=True),
    )


def test_text_that_is_a_number_is_ordered_as_a_number() -> None:
    couler.when(couler.bigger(write(name="make"), "3.5"), lambda: say(name="go"))
    assert tasks()["go"].when == ir.Compare(">", ir.TaskOutput("make", "t1-txt-number"), ir.Literal(3.5))


def test_two_outputs_are_ordered_as_numbers_and_equal_as_text() -> None:
    one, two = write(name="one"), write("/mnt/t2.txt", name="two")
    couler.when(couler.smaller(one, two), lambda: say(name="go"))
    couler.when(couler.equal(one, two), lambda: say(name="same"))
    found = tasks()
    assert found["go"].when == ir.Compare(
        "<", ir.TaskOutput("one", "t1-txt-number"), ir.TaskOutput("two", "t2-txt-number")
    )
    assert found["same"].when == ir.Compare("==", ir.TaskOutput("one", "t1-txt"), ir.TaskOutput("two", "t2-txt"))


def test_the_steps_that_share_a_template_share_its_number() -> None:
    first, second = flip_coin(), flip_coin()
    couler.when(couler.bigger(first, 1), lambda: say(name="go"))
    couler.when(couler.equal(second, "heads"), lambda: say(name="text"))
    found = tasks()
    assert found["flip_coin"].call == found["flip_coin-2"].call == "flip_coin"


def test_text_is_compared_with_a_boolean_as_python_and_json_write_it() -> None:
    couler.when(couler.equal(flip_coin(), True), lambda: say(name="go"))
    output = ir.TaskOutput("flip_coin", "result")
    assert tasks()["go"].when == ir.AnyOf(
        (ir.Compare("==", output, ir.Literal("True")), ir.Compare("==", output, ir.Literal("true")))
    )


def test_an_output_compared_with_nothing_is_refused() -> None:
    with pytest.raises(RecordingError, match="nothing to compare with"):
        couler.equal(flip_coin())


def test_a_predicate_in_if_is_refused() -> None:
    with pytest.raises(PlaceholderError, match=r"&, \| and ~"):
        bool(couler.equal("tails"))


# ---- map


def test_map_is_one_task_over_items() -> None:
    couler.map(lambda message: say(message, name="consume"), ["t1", "t2"])
    task = tasks()["consume"]
    assert task.each is not None
    assert task.each.items == ir.Literal(["t1", "t2"])
    assert arguments(task) == {"para-0": ir.Item()}


def test_map_of_several_lists_takes_them_together() -> None:
    couler.map(lambda a, b: couler.run_container("i", args=[a, b], step_name="pair"), ["x", "y"], [1, 2])
    task = tasks()["pair"]
    assert task.each is not None
    assert task.each.items == ir.Literal([["x", 1], ["y", 2]])
    assert arguments(task) == {
        "para-0": ir.Access(ir.Item(), ir.Literal(0)),
        "para-1": ir.Access(ir.Item(), ir.Literal(1)),
    }


def test_map_over_nothing_runs_nothing() -> None:
    couler.map(lambda message: say(message, name="consume"), [])
    task = tasks()["consume"]
    assert task.each is not None
    assert task.each.items == ir.Literal([])


def test_map_of_unequal_lists_is_refused() -> None:
    with pytest.raises(RecordingError, match="different lengths"):
        couler.map(lambda a, b: say(a), [1, 2], [1])


def test_map_of_a_function_whose_step_has_no_arguments() -> None:
    couler.map(lambda _: couler.run_container("a", step_name="tick"), [1, 2])
    assert arguments(tasks()["tick"]) == {}


def test_the_results_of_map_are_lists_that_later_steps_read() -> None:
    results = couler.map(lambda _: write(name="make"), [1, 2, 3])
    couler.run_container("a", args=results, step_name="use")
    assert arguments(tasks()["use"]) == {"para-0": ir.TaskOutput("make", "t1-txt")}


def test_the_files_of_map_are_a_folder_at_their_path() -> None:
    results = couler.map(lambda _: leave("/mnt/part.csv", name="make"), [1, 2])
    couler.run_container("a", input=results, step_name="use")
    workflow = built()
    assert results[0].path == "/mnt/part.csv"
    assert [item.path for item in template_of(workflow, "use").inputs.artifacts] == ["/mnt/part.csv"]


def test_map_over_the_output_of_a_step() -> None:
    couler.set_dependencies(lambda: say(name="A"))
    values = couler.map(increase, couler.map(increase, [1, 2]))
    assert tasks()["increase-2"].each.items == ir.TaskOutput("increase", "result")  # type: ignore[union-attr]
    assert values._couler_type is not None


def test_map_of_a_function_of_several_steps() -> None:
    def both(x: Any) -> Any:
        value = write(name="one")
        return couler.run_container("a", args=[x, value], step_name="two")

    couler.map(both, [1, 2])
    workflow = built()
    assert order_of(workflow, "both")["two"] == ["one"]


def test_map_in_dag_mode_keeps_its_items_and_its_edges() -> None:
    couler.set_dependencies(lambda: say(name="A"), dependencies=None)
    couler.set_dependencies(lambda: couler.map(lambda x: say(x, name="B"), [1, 2]), dependencies=["A"])
    couler.set_dependencies(lambda: say(name="C"), dependencies=["B"])
    found = tasks()
    assert found["B"].each.items == ir.Literal([1, 2])  # type: ignore[union-attr]
    assert order() == {"A": [], "B": ["A"], "C": ["B"]}


def test_map_of_no_function_is_refused() -> None:
    with pytest.raises(RecordingError, match="map needs a function"):
        couler.map(say(), [1])  # type: ignore[arg-type]


# ---- concurrent


def test_concurrent_steps_wait_for_the_step_before_and_not_for_each_other() -> None:
    say(name="before")
    couler.concurrent([lambda: say(name="a"), lambda: say(name="b")])
    say(name="after")
    assert order() == {"before": [], "a": ["before"], "b": ["before"], "after": ["a", "b"]}


def test_concurrent_functions_of_several_steps_are_chains() -> None:
    def chain(name: str) -> Any:
        say(name=f"{name}1")
        return write(name=f"{name}2")

    results = couler.concurrent([lambda: chain("a"), lambda: chain("b")])
    assert order() == {"a1": [], "a2": ["a1"], "b1": [], "b2": ["b1"]}
    assert [result[0].value for result in results] == ["a2.t1-txt", "b2.t1-txt"]


def test_concurrent_subtasks_are_graphs() -> None:
    def chain() -> Any:
        say(name="one")
        return write(name="two")

    results = couler.concurrent([chain, lambda: say(name="other")], subtasks=True)
    say(results[0][0], name="use")
    workflow = built()
    assert isinstance(template_of(workflow, "chain").body, Graph)
    assert arguments(tasks(workflow)["use"]) == {"para-0": ir.TaskOutput("chain", "two-t1-txt")}


def test_concurrent_in_dag_mode_is_concurrent() -> None:
    couler.set_dependencies(lambda: say(name="A"), dependencies=None)
    couler.set_dependencies(
        lambda: couler.concurrent([lambda: say(name="B"), lambda: say(name="C")]), dependencies=["A"]
    )
    assert order() == {"A": [], "B": ["A"], "C": ["A"]}


def test_the_same_function_may_be_concurrent_with_itself() -> None:
    couler.concurrent([flip_coin, flip_coin])
    assert order() == {"flip_coin": [], "flip_coin-2": []}


@pytest.mark.parametrize("given", ["ab", [1], None])
def test_concurrent_needs_functions(given: Any) -> None:
    with pytest.raises(RecordingError, match="concurrent needs"):
        couler.concurrent(given)


# ---- exec_while


def test_exec_while_repeats_a_step_while_its_output_is_the_value() -> None:
    couler.exec_while(couler.equal("tails"), lambda: flip_coin())
    body = template_of(built(), "flip_coin-loop").body
    assert body == Loop("flip_coin", ir.Not(ir.Compare("==", ir.Own("result"), ir.Literal("tails"))))


def test_the_result_of_exec_while_is_read_by_later_steps() -> None:
    last = couler.exec_while(couler.equal("tails"), lambda: flip_coin())
    say(last[0], name="use")
    assert arguments(tasks()["use"]) == {"para-0": ir.TaskOutput("flip_coin-loop", "result-1")}


def test_exec_while_twice_on_one_function_is_two_loops() -> None:
    couler.exec_while(couler.equal("tails"), lambda: flip_coin())
    couler.exec_while(couler.equal("tails"), lambda: flip_coin())
    assert order() == {"flip_coin-loop": [], "flip_coin-loop-2": ["flip_coin-loop"]}


def test_exec_while_of_several_steps() -> None:
    def both() -> Any:
        say(name="one")
        return flip_coin()

    couler.exec_while(couler.not_equal("heads"), both)
    workflow = built()
    loop = template_of(workflow, "both").body
    assert isinstance(loop, Loop)
    assert order_of(workflow, loop.body) == {"one": [], "flip_coin": ["one"]}


def test_exec_while_compares_numbers() -> None:
    last = couler.exec_while(couler.smaller(5), lambda: flip_coin())
    say(last[0], name="use")
    body = template_of(built(), "flip_coin-loop").body
    assert isinstance(body, Loop)
    assert body.until == ir.Not(ir.Compare("<", ir.Own("result-number"), ir.Literal(5)))


def test_exec_while_with_joined_predicates() -> None:
    couler.exec_while(couler.equal("a") | couler.equal("b"), lambda: flip_coin(), max_iterations=7)
    body = template_of(built(), "flip_coin-loop").body
    assert isinstance(body, Loop)
    assert body.max_iterations == 7
    assert isinstance(body.until, ir.Not)
    assert isinstance(body.until.operand, ir.AnyOf)


def test_exec_while_of_a_step_without_a_value_is_refused() -> None:
    with pytest.raises(RecordingError) as error:
        couler.exec_while(couler.equal("x"), lambda: say(name="quiet"))
    assert "quiet has no output" in message_of(error)


def test_exec_while_of_a_function_that_returns_nothing_is_refused() -> None:
    def silent() -> None:
        flip_coin()

    with pytest.raises(RecordingError, match="returns no output"):
        couler.exec_while(couler.equal("x"), silent)


# ---- steps of the new style


def test_verbs_and_steps_mix_in_one_workflow() -> None:
    @steps.workflow
    def mixed() -> Any:
        produced = couler.run_script("python:3.11", source="print(3)", step_name="make")
        many = numbers(3)
        grown = couler.map(lambda x: increase(x), many)
        summed = total(grown)
        couler.when(couler.equal(produced, "3"), lambda: say(summed, name="report"))
        return produced[0]

    found = tasks(mixed.build())
    assert arguments(found["report"]) == {"para-0": ir.TaskOutput("total", "result")}
    assert found["increase"].each is not None


def test_verbs_in_a_workflow_function_are_ordered_by_values_alone() -> None:
    @steps.workflow
    def free() -> None:
        say(name="a")
        say(name="b")

    assert order(free.build()) == {"a": [], "b": []}


def test_steps_are_recorded_inside_the_functions_that_verbs_are_given() -> None:
    say(name="first")
    couler.concurrent([lambda: increase(1), lambda: say(name="b")])
    assert order() == {"first": [], "increase": ["first"], "b": ["first"]}


def test_the_outputs_of_verbs_are_several_values_for_the_verbs_of_steps() -> None:
    @steps.workflow
    def mixed() -> None:
        runs = steps.map(lambda _: write(name="make"), [1, 2])
        say(runs[0], name="use")
        chosen = steps.when(steps.equal(flip_coin(), "x"), lambda: write(name="a"), otherwise=lambda: write(name="b"))
        say(chosen[0], name="chosen")

    found = tasks(mixed.build())
    assert arguments(found["use"]) == {"para-0": ir.TaskOutput("make", "t1-txt")}
    assert arguments(found["chosen"]) == {
        "para-0": ir.First((ir.TaskOutput("a", "t1-txt"), ir.TaskOutput("b", "t1-txt")))
    }
