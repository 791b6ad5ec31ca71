"""`set_exit_handler`: peers' row of Couler's API."""

import pytest

import couler_py.argo as couler
from couler_py.dsl.problems import RecordingError
from couler_py.ir import expr as ir
from tests.unit.dsl.verbs.programs import built, order, say, write


def test_a_handler_for_each_status() -> None:
    say(name="main")
    couler.set_exit_handler(couler.WFStatus.Succeeded, lambda: say(name="good"))
    couler.set_exit_handler(couler.WFStatus.Failed, lambda: say(name="bad"))
    assert [(handler.on, handler.call) for handler in built().handlers] == [("success", "good"), ("failure", "bad")]


def test_a_handler_keeps_its_arguments_in_dag_mode() -> None:
    couler.set_dependencies(lambda: say(name="A"))
    couler.set_exit_handler(couler.WFStatus.Failed, lambda: say("it failed", name="bad"))
    (handler,) = built().handlers
    assert [(argument.name, argument.value) for argument in handler.arguments] == [("para-0", ir.Literal("it failed"))]


def test_a_handler_may_return_nothing_and_have_several_steps() -> None:
    def clean() -> None:
        say(name="one")
        say(name="two")

    say(name="main")
    couler.set_exit_handler(couler.WFStatus.Failed, clean)
    (handler,) = built().handlers
    assert handler.call == "clean"


def test_a_handler_is_no_step_of_the_workflow() -> None:
    say(name="first")
    couler.set_exit_handler(couler.WFStatus.Failed, lambda: say(name="bad"))
    say(name="second")
    assert order() == {"first": [], "second": ["first"]}


def test_a_condition_inside_a_handler() -> None:
    made = couler.run_container("a", output=couler.create_parameter_artifact("/o/x", is_global=True), step_name="make")
    couler.set_exit_handler(
        couler.WFStatus.Succeeded, lambda: couler.when(couler.equal(made, "yes"), lambda: say(name="publish"))
    )
    (handler,) = built().handlers
    assert handler.when == ir.Compare("==", ir.Published("make-x"), ir.Literal("yes"))


def test_a_handler_that_reads_an_output_of_a_step_is_refused() -> None:
    made = write(name="make")
    with pytest.raises(RecordingError, match="a handler can't read"):
        couler.set_exit_handler(couler.WFStatus.Succeeded, lambda: say(made[0]))


def test_a_handler_that_raises_leaves_nothing_behind() -> None:
    def broken() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        couler.set_exit_handler(couler.WFStatus.Failed, broken)
    say(name="main")
    workflow = built()
    assert (workflow.handlers, order(workflow)) == ((), {"main": []})


def test_an_error_is_a_failure() -> None:
    say(name="main")
    couler.set_exit_handler(couler.WFStatus.Error, lambda: say(name="bad"))
    assert built().handlers[0].on == "failure"


def test_one_function_for_failed_and_error_runs_once() -> None:
    def clean() -> None:
        say(name="bad")

    say(name="main")
    couler.set_exit_handler(couler.WFStatus.Failed, clean)
    couler.set_exit_handler(couler.WFStatus.Error, clean)
    assert len(built().handlers) == 1


def test_two_functions_for_failed_and_error_are_refused() -> None:
    couler.set_exit_handler(couler.WFStatus.Failed, lambda: say(name="bad"))
    with pytest.raises(RecordingError, match="can't be told apart"):
        couler.set_exit_handler(couler.WFStatus.Error, lambda: say(name="worse"))


def test_a_text_is_no_status() -> None:
    with pytest.raises(RecordingError, match="no status of a run"):
        couler.set_exit_handler("Failed", lambda: say())  # type: ignore[arg-type]
