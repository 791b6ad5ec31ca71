"""`dag` and `set_dependencies`: peers' rows of Couler's API, and its own tests."""

from typing import Any

import pytest

import couler_py.argo as couler
from couler_py.dsl.problems import RecordingError
from couler_py.ir import expr as ir
from couler_py.ir.model import DependsAll, DependsAny, DependsNot, DependsOn
from tests.unit.dsl.recorded import increase, number
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

DIAMOND = {"A": [], "B": ["A"], "C": ["A"], "D": ["B", "C"]}


def job(name: str) -> Any:
    return say(name, name=name)


# ---- dag


def test_a_diamond_of_lambdas_that_are_new_in_each_edge() -> None:
    couler.dag(
        [
            [lambda: job("A")],
            [lambda: job("A"), lambda: job("B")],
            [lambda: job("A"), lambda: job("C")],
            [lambda: job("B"), lambda: job("D")],
            [lambda: job("C"), lambda: job("D")],
        ]
    )
    assert order() == DIAMOND


def test_a_diamond_of_functions() -> None:
    a, b, c, d = ((lambda name=name: job(name)) for name in "ABCD")
    couler.dag([[a], [a, b], [a, c], [b, d], [c, d]])
    assert order() == DIAMOND


def test_a_function_runs_once_however_often_it_appears() -> None:
    calls: list[str] = []

    def a() -> None:
        calls.append("a")
        job("A")

    couler.dag([[a], [a, lambda: job("B")], [a, lambda: job("C")]])
    assert calls == ["a"]


def test_a_method_is_the_same_function_each_time() -> None:
    class Steps:
        def a(self) -> None:
            job("A")

    steps = Steps()
    couler.dag([[steps.a], [steps.a, lambda: job("B")]])
    assert order() == {"A": [], "B": ["A"]}


def test_steps_without_a_name_are_named_by_their_function() -> None:
    def first() -> None:
        couler.run_container("a")

    def second() -> None:
        couler.run_container("b")

    couler.dag([[first], [first, second]])
    assert order() == {"first": [], "second": ["first"]}


def test_a_list_of_three_is_a_chain() -> None:
    couler.dag([[lambda: job("A"), lambda: job("B"), lambda: job("C")]])
    assert order() == {"A": [], "B": ["A"], "C": ["B"]}


def test_a_function_of_several_steps_is_a_chain_between_its_edges() -> None:
    def pair() -> None:
        job("B1")
        job("B2")

    couler.dag([[lambda: job("A"), pair], [pair, lambda: job("C")]])
    assert order() == {"A": [], "B1": ["A"], "B2": ["B1"], "C": ["B2"]}


def test_one_name_with_two_contents_is_refused_with_both_lines() -> None:
    with pytest.raises(RecordingError) as error:
        couler.dag([[lambda: say("one", name="A")], [lambda: say("two", name="A"), lambda: job("B")]])
    assert "two different steps of one dag are named 'A'" in message_of(error)
    assert message_of(error).count(".py:") == 2


def test_a_cycle_is_refused() -> None:
    a, b = (lambda: job("A")), (lambda: job("B"))
    with pytest.raises(RecordingError, match=r"(A -> B -> A|B -> A -> B)"):
        couler.dag([[a, b], [b, a]])


def test_a_dag_of_python_steps() -> None:
    one, two = (lambda: number(1)), (lambda: number(2))
    couler.dag([[one], [one, two]])
    assert order() == {"number": [], "number-2": ["number"]}


def test_the_same_python_step_in_two_lambdas_is_refused() -> None:
    with pytest.raises(RecordingError, match="called alike"):
        couler.dag([[lambda: number(1)], [lambda: number(1), lambda: increase(1)]])


def test_two_dags_do_not_share_steps() -> None:
    couler.dag([[lambda: job("A"), lambda: job("B")]])
    couler.dag([[lambda: job("A"), lambda: job("B")]])
    assert order() == {"A": [], "B": ["A"], "A-2": [], "B-2": ["A-2"]}


def test_a_step_after_a_dag_waits_for_its_ends() -> None:
    couler.dag([[lambda: job("A"), lambda: job("B")], [lambda: job("A"), lambda: job("C")]])
    say(name="after")
    assert order()["after"] == ["B", "C"]


@pytest.mark.parametrize("given", ["A", [say], [[1]], [[]], 3])
def test_what_is_no_list_of_lists_of_functions_is_refused(given: Any) -> None:
    with pytest.raises(RecordingError):
        couler.dag(given)


# ---- set_dependencies


def test_a_diamond_by_name() -> None:
    couler.set_dependencies(lambda: job("A"), dependencies=None)
    couler.set_dependencies(lambda: job("B"), dependencies=["A"])
    couler.set_dependencies(lambda: job("C"), dependencies=["A"])
    couler.set_dependencies(lambda: job("D"), dependencies=["B", "C"])
    assert order() == DIAMOND


def test_none_waits_for_nothing_whatever_came_before() -> None:
    couler.set_dependencies(lambda: job("A"), dependencies=None)
    couler.set_dependencies(lambda: job("B"), dependencies=["A"])
    couler.set_dependencies(lambda: job("C"), dependencies=None)
    assert order()["C"] == []


def test_a_step_without_a_name_goes_by_its_function() -> None:
    def first() -> None:
        couler.run_container("a")

    couler.set_dependencies(first)
    couler.set_dependencies(lambda: job("B"), dependencies=["first"])
    assert order() == {"first": [], "B": ["first"]}


def test_text_is_a_depends_expression() -> None:
    couler.set_dependencies(lambda: job("A"))
    couler.set_dependencies(lambda: job("B"), dependencies="A")
    couler.set_dependencies(lambda: job("C"), dependencies="A && (B.Succeeded || !B.Failed)")
    found = tasks()
    assert found["B"].depends == DependsOn("A")
    assert found["C"].depends == DependsAll(
        (DependsOn("A"), DependsAny((DependsOn("B", "Succeeded"), DependsNot(DependsOn("B", "Failed")))))
    )


def test_lists_and_texts_stand_beside_each_other() -> None:
    couler.set_dependencies(lambda: job("A"))
    couler.set_dependencies(lambda: job("B"), dependencies=["A"])
    couler.set_dependencies(lambda: job("C"), dependencies="A.Succeeded")
    found = tasks()
    assert (found["B"].depends, [edge.task for edge in found["B"].after]) == (None, ["A"])
    assert (found["C"].depends, found["C"].after) == (DependsOn("A", "Succeeded"), ())


def test_a_text_is_joined_with_what_the_values_need() -> None:
    produced = couler.set_dependencies(lambda: write(name="A"))
    couler.set_dependencies(lambda: job("B"))
    couler.set_dependencies(lambda: say(produced[0], name="C"), dependencies="B.Failed")
    assert tasks()["C"].depends == DependsAll((DependsOn("B", "Failed"), DependsOn("A", "Succeeded")))


def test_what_the_function_returns_is_returned() -> None:
    produced = couler.set_dependencies(lambda: write(name="A"))
    assert produced[0].value == "A.t1-txt"


def test_values_of_the_steps_before_are_handed_on_as_arguments() -> None:
    couler.set_dependencies(lambda: write(name="A"))
    couler.set_dependencies(lambda: job("B"), dependencies=["A"])
    assert arguments(tasks()["B"]) == {"para-0": ir.Literal("B"), "para-1": ir.TaskOutput("A", "t1-txt")}


def test_files_of_the_steps_before_are_handed_on_and_are_no_arguments() -> None:
    couler.set_dependencies(lambda: leave("/mnt/data.csv", name="A"))
    couler.set_dependencies(lambda: couler.run_container("a", step_name="B"), dependencies=["A"])
    workflow = built()
    assert [item.path for item in template_of(workflow, "B").inputs.artifacts] == ["/mnt/data.csv"]
    assert arguments(tasks(workflow)["B"]) == {}


def test_what_a_step_reads_already_is_not_handed_on_twice() -> None:
    produced = couler.set_dependencies(lambda: write(name="A"))
    couler.set_dependencies(lambda: say(produced[0], name="B"), dependencies=["A"])
    assert list(arguments(tasks()["B"])) == ["para-0"]


def test_what_a_script_prints_is_not_handed_on() -> None:
    couler.set_dependencies(lambda: flip_coin())
    couler.set_dependencies(lambda: job("B"), dependencies=["flip_coin"])
    assert list(arguments(tasks()["B"])) == ["para-0"]


def test_a_condition_keeps_its_edges_in_dag_mode() -> None:
    couler.set_dependencies(lambda: job("A"))
    couler.set_dependencies(
        lambda: couler.when(couler.equal(flip_coin(), "heads"), lambda: job("heads")), dependencies=["A"]
    )
    workflow = built()
    assert order(workflow) == {"A": [], "flip_coin": ["A"], "heads": ["flip_coin"]}
    assert tasks(workflow)["heads"].when is not None


def test_an_unknown_name_is_refused_with_the_one_that_was_meant() -> None:
    couler.set_dependencies(lambda: job("prepare"))
    with pytest.raises(RecordingError) as error:
        couler.set_dependencies(lambda: job("B"), dependencies=["prepair"])
    assert "there is no step 'prepair' to wait for" in message_of(error)
    assert "did you mean 'prepare'?" in message_of(error)


def test_a_name_that_two_steps_have_is_refused() -> None:
    couler.set_dependencies(lambda: job("A"))
    couler.set_dependencies(lambda: job("A"))
    with pytest.raises(RecordingError, match="2 steps are named 'A'"):
        couler.set_dependencies(lambda: job("B"), dependencies=["A"])


def test_a_name_that_engines_would_change_is_found_as_it_was_given() -> None:
    couler.set_dependencies(lambda: job("Hello World!"))
    couler.set_dependencies(lambda: job("B"), dependencies=["Hello World!"])
    assert len(order()["B"]) == 1


@pytest.mark.parametrize("text", ["A and B", "A &&", "(A", "A.Done", "", "A || || B", "A)"])
def test_a_text_that_is_not_of_the_language_is_refused(text: str) -> None:
    couler.set_dependencies(lambda: job("A"))
    couler.set_dependencies(lambda: job("B"))
    with pytest.raises(RecordingError, match="CLR184"):
        couler.set_dependencies(lambda: job("C"), dependencies=text)


@pytest.mark.parametrize("given", [3, {"A": 1}])
def test_dependencies_of_another_kind_are_refused(given: Any) -> None:
    with pytest.raises(RecordingError, match="a list of names or a text"):
        couler.set_dependencies(lambda: job("A"), dependencies=given)


def test_a_function_is_needed() -> None:
    with pytest.raises(RecordingError, match="needs a function"):
        couler.set_dependencies(job("A"), dependencies=None)


def test_a_function_that_raises_leaves_nothing_behind() -> None:
    def broken() -> None:
        raise ValueError("no")

    couler.set_dependencies(lambda: write(name="A"))
    with pytest.raises(ValueError, match="no"):
        couler.set_dependencies(broken, dependencies=["A"])
    say(name="later")
    assert order() == {"A": [], "later": ["A"]}
    assert list(arguments(tasks()["later"])) == ["para-0"]


def test_a_step_in_program_order_waits_for_all_loose_ends() -> None:
    say(name="first")
    couler.set_dependencies(lambda: job("A"))
    couler.set_dependencies(lambda: job("B"), dependencies=["A"])
    say(name="last")
    assert order() == {"first": [], "A": [], "B": ["A"], "last": ["first", "B"]}
