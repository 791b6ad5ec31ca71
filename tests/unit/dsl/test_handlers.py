"""What runs at a run's end, and values published for it."""

import datetime

import pytest

import couler_py.dsl as couler
from couler_py.dsl.runinfo import NoRunError
from couler_py.ir import expr as ir
from couler_py.ir.model import Argument
from tests.unit.dsl.recorded import increase, make_file, number, say, scale, sound, tasks, template, train


def test_a_handler_of_one_call_is_that_step():
    with couler.Workflow("test") as w:
        number()
        couler.on_exit(lambda: say(couler.format("{} after {}", couler.run_info.status, couler.run_info.duration)))
    (handler,) = sound(w.build()).handlers
    assert (handler.name, handler.call, handler.on) == ("on-exit", "say", "exit")
    assert handler.arguments == (Argument("text", ir.Text((ir.Run("status"), " after ", ir.Run("duration")))),)


def test_a_handler_of_several_calls_is_a_graph():
    with couler.Workflow("test") as w:
        number()
        couler.on_failure(lambda: (say("one"), say("two")), name="alarm")
    workflow = sound(w.build())
    (handler,) = workflow.handlers
    assert (handler.name, handler.on) == ("alarm", "failure")
    assert list(tasks(workflow, handler.call)) == ["say", "say-2"]


def test_a_handler_may_have_a_condition():
    with couler.Workflow("test") as w:
        number()
        couler.on_exit(lambda: couler.when(couler.run_info.duration > 60, lambda: say("slow")))
    (handler,) = sound(w.build()).handlers
    assert handler.when == ir.Compare(">", ir.Run("duration"), ir.Literal(60))


def test_handlers_by_decorator_and_several_of_one_kind():
    @couler.workflow(on_exit=lambda: say("over"), on_success=lambda: say("good"))
    def flow(who: str = "you"):
        number()
        couler.on_success(lambda: say(who))

    handlers = sound(flow.build()).handlers
    assert [(handler.name, handler.on) for handler in handlers] == [
        ("on-success", "success"),
        ("on-success-2", "success"),
        ("on-exit", "exit"),
    ]
    assert handlers[0].arguments == (Argument("text", ir.WorkflowParameter("who")),)


def test_a_published_output_is_one_of_its_step():
    with couler.Workflow("test") as w:
        run = train("svm")
        couler.publish("score", run.score)
        couler.on_exit(lambda: scale(couler.published("score").or_else(0.0)))
    workflow = sound(w.build())
    outputs = {output.name: output.global_name for output in template(workflow, "train").outputs.parameters}
    assert outputs == {"score": "score"}
    (handler,) = workflow.handlers
    assert handler.arguments == (Argument("x", ir.OrElse(ir.Published("score"), ir.Literal(0.0))),)


def test_only_the_published_call_publishes():
    with couler.Workflow("test") as w:
        couler.publish("one", increase(1))
        increase(2)
    workflow = sound(w.build())
    found = tasks(workflow)
    assert found["increase"].call == "increase-2"
    assert template(workflow, "increase-2").outputs.parameters[0].global_name == "one"
    assert template(workflow, "increase").outputs.parameters[0].global_name == ""


def test_a_computed_value_is_published_by_its_graph():
    with couler.Workflow("test") as w:
        couler.publish("more", increase(1) + 1)
    (output,) = template(sound(w.build()), "test").outputs.parameters
    assert (output.name, output.global_name) == ("more", "more")


def test_an_output_of_a_task_in_a_handler_is_refused_and_names_publish():
    with couler.Workflow("test"):
        score = train("svm").score
        with pytest.raises(couler.RecordingError, match=r'couler\.publish\("name", value\)') as caught:
            couler.on_exit(lambda: scale(score))
    source = caught.value.diagnostics[0].source
    assert source is not None
    assert source.file.endswith("test_handlers.py")


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: couler.on_exit(say("now")), "put `lambda: ` before the call"),
        (lambda: couler.on_exit(lambda: None), "calls no step"),
        (lambda: say(couler.run_info.status), "known when the run has ended"),
        (lambda: scale(couler.run_info.attempt), "inside a step only"),
        (lambda: couler.published("x"), "is for handlers"),
        (lambda: couler.map(lambda x: couler.publish("x", increase(x)), [1]), "many times"),
        (lambda: couler.on_exit(lambda: couler.publish("x", number())), "a handler publishes nothing"),
        (lambda: couler.publish("a b", number()), "can't name a published value"),
        (lambda: (couler.publish("a", number()), couler.publish("a", number())), "published twice"),
        (
            lambda: (couler.publish("f", make_file("x")), couler.on_exit(lambda: say(couler.published("f")))),
            "is a file",
        ),
        (lambda: couler.log_metric("loss", 1.0), "in the body of a step"),
    ],
)
def test_what_belongs_elsewhere_is_refused(use, message):
    with couler.Workflow("test"), pytest.raises(couler.RecordingError, match=message):
        use()


def test_facts_of_the_run_are_values_in_a_workflow():
    with couler.Workflow("test") as w:
        say(couler.format("{}", couler.run_info.scheduled_time))
    (task,) = tasks(sound(w.build())).values()
    assert task.arguments == (Argument("text", ir.Text((ir.Run("scheduled_time"),))),)


def test_facts_of_the_run_are_real_in_a_step(monkeypatch):
    monkeypatch.setenv("COULER_RUN_SCHEDULED_TIME", "2025-01-31T03:00:00+00:00")
    monkeypatch.setenv("COULER_RUN_ATTEMPT", "2")
    monkeypatch.setenv("COULER_RUN_ID", "r1")
    assert couler.run_info.scheduled_time == datetime.datetime(2025, 1, 31, 3, tzinfo=datetime.UTC)
    assert couler.run_info.attempt == 2
    assert couler.run_info.id == "r1"


def test_facts_of_no_run_are_an_error(monkeypatch):
    monkeypatch.delenv("COULER_RUN_ID", raising=False)
    with pytest.raises(NoRunError, match="only in a workflow or in a running step"):
        couler.run_info.id  # noqa: B018  the access is the test


def test_metrics_are_lines_beside_the_outputs_of_a_step(tmp_path, monkeypatch):
    monkeypatch.setenv("COULER_OUTPUTS", str(tmp_path / "out"))
    couler.log_metric("loss", 0.5, step=1)
    couler.log_metric("loss", float("nan"))
    assert (tmp_path / "out" / "metrics.jsonl").read_text() == (
        '{"name": "loss", "value": 0.5, "step": 1}\n{"name": "loss", "value": "NaN", "step": null}\n'
    )


def test_metrics_of_a_plain_call_are_written_nowhere(monkeypatch):
    monkeypatch.delenv("COULER_OUTPUTS", raising=False)
    assert couler.log_metric("loss", 0.5) is None


def test_a_handler_of_the_run_does_not_stand_in_a_branch():
    with couler.Workflow("test"), pytest.raises(couler.RecordingError, match="can't be written here"):
        couler.when(number() > 0, lambda: couler.on_exit(lambda: say("over")))
