"""`@workflow` and `couler.Workflow`: parameters, options, outputs, workflows in workflows."""

import enum
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
import pytest

import couler_py.dsl as couler
from couler_py.ir import digest
from couler_py.ir import expr as ir
from couler_py.ir.model import Argument, ArtifactArgument, Mutex, Parameter, RetryPolicy, Schedule, Ttl
from couler_py.ir.pod import PodSettings, Toleration
from couler_py.ir.storage import LocalPath
from couler_py.ir.types import FLOAT, INT, STR, Choice
from tests.unit.dsl.recorded import (
    Pair,
    Trained,
    add,
    argument,
    grow,
    increase,
    make_file,
    number,
    read_file,
    say,
    sound,
    tasks,
    template,
    train,
)


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


def test_parameters_come_from_the_signature():
    @couler.workflow
    def flow(a: int, b: float = 0.5, size: Size = Size.SMALL, mode: Literal["x", "y"] = "x"):
        """What it does."""
        increase(a)
        say(mode)

    workflow = sound(flow.build())
    assert workflow.parameters == (
        Parameter("a", INT),
        Parameter("b", FLOAT, 0.5),
        Parameter("size", Choice(("small", "large"), "Size"), "small", ("small", "large")),
        Parameter("mode", Choice(("x", "y")), "x", ("x", "y")),
    )
    assert argument(tasks(workflow)["increase"], "x") == ir.WorkflowParameter("a")
    assert workflow.description == "What it does."


def test_parameters_are_usable_in_every_graph():
    @couler.workflow
    def flow(a: int = 1):
        couler.map(lambda x: increase(add(x, a)), [1, 2])

    workflow = sound(flow.build())
    assert argument(tasks(workflow, "add-map")["add"], "b") == ir.WorkflowParameter("a")


def test_defaults_are_replaced_when_it_is_built():
    @couler.workflow
    def flow(a: int = 1):
        increase(a)

    assert flow.build(a=5).parameters == (Parameter("a", INT, 5),)
    assert flow.build().parameters == (Parameter("a", INT, 1),)
    with pytest.raises(couler.RecordingError, match="'x' is not int"):
        flow.build(a="x")
    with pytest.raises(couler.RecordingError, match="no parameter 'b'"):
        flow.build(b=1)


@pytest.mark.parametrize(
    ("give", "names"),
    [
        (lambda: increase(1), ["result"]),
        (lambda: {"one": increase(1), "two": increase(2)}, ["one", "two"]),
        (lambda: Pair(increase(1), 3), ["left", "right"]),
        (lambda: (increase(1), increase(2)), ["result-1", "result-2"]),
        (lambda: [increase(1), increase(2)], ["result"]),
        (lambda: {"run": {"a": increase(1)}, "b": 3}, ["run-a", "b"]),
        (lambda: say("a"), []),
        (lambda: increase(1) and None, []),
    ],
)
def test_what_it_returns_are_the_outputs_of_the_run(give, names):
    @couler.workflow
    def flow():
        try:
            return give()
        except couler.PlaceholderError:
            return None

    outputs = template(flow.build(), "flow").outputs
    assert [output.name for output in outputs.parameters] == names


def test_files_and_values_among_the_outputs():
    @couler.workflow
    def flow():
        return train("svm")

    outputs = template(sound(flow.build()), "flow").outputs
    assert [output.name for output in outputs.parameters] == ["score"]
    assert [output.name for output in outputs.artifacts] == ["model"]


def test_options_of_the_run():
    @couler.workflow(
        name="nightly",
        schedule=["0 3 * * *", "@weekly", "@every 1h30m"],
        timezone="Europe/Berlin",
        concurrency="Forbid",
        starting_deadline="10m",
        keep_failed=1,
        parallelism=4,
        deadline="2h",
        ttl="1d",
        priority=5,
        labels={"team": "ml"},
        annotations={"note": "x"},
        service_account="runner",
        node_selector={"disk": "ssd"},
        tolerations=[Toleration("gpu", "Exists")],
        volumes=[couler.empty_dir("scratch"), couler.VolumeClaim("data", "1Gi")],
        pod_gc="OnPodSuccess",
        mutex="one",
        engines={"airflow": {"owner": "me"}},
        fail_fast=True,
    )
    def flow():
        number()

    workflow = sound(flow.build())
    assert workflow.name == "nightly"
    assert workflow.schedule == Schedule(
        ("0 3 * * *", "@weekly", "@every 1h30m"), "Europe/Berlin", "Forbid", starting_deadline=600.0, keep_failed=1
    )
    assert (workflow.parallelism, workflow.deadline, workflow.ttl, workflow.priority) == (4, 7200.0, Ttl(86400), 5)
    assert workflow.labels == (("team", "ml"),)
    assert workflow.annotations == (("note", "x"),)
    assert workflow.pod == PodSettings(
        service_account="runner",
        node_selector=(("disk", "ssd"),),
        tolerations=(Toleration("gpu", "Exists"),),
    )
    assert [volume.name for volume in workflow.volumes] == ["scratch"]
    assert [claim.name for claim in workflow.volume_claims] == ["data"]
    assert workflow.pod_gc == "OnPodSuccess"
    assert workflow.engines == {"airflow": {"owner": "me"}}
    assert template(workflow, workflow.entrypoint).body.fail_fast


def test_image_and_packages_are_for_steps_that_say_nothing():
    @couler.step(image="own:1")
    def own() -> None: ...

    @couler.workflow(image="shared:1", packages=["six"])
    def flow():
        number()
        own()

    workflow = flow.build()
    assert template(workflow, "number").body.image == "shared:1"
    assert template(workflow, "number").body.packages == ("six",)
    assert template(workflow, "own").body.image == "own:1"


def test_a_called_workflow_has_its_own_image():
    @couler.workflow(image="inner:1")
    def inner() -> int:
        return increase(1)

    @couler.workflow(image="outer:1")
    def outer():
        inner()
        increase(2)

    workflow = sound(outer.build())
    images = {found.name: found.body.image for found in workflow.templates if found.name.startswith("increase")}
    assert images == {"increase": "inner:1", "increase-2": "outer:1"}
    assert tasks(workflow, "inner")["increase"].call == "increase"
    assert tasks(workflow)["increase"].call == "increase-2"


def test_what_a_called_workflow_says_of_its_graph_stands_on_the_graph():
    @couler.workflow(retries=2, deadline="1h", parallelism=3, mutex="one", volumes=[couler.empty_dir("scratch")])
    def inner() -> int:
        return increase(1)

    with couler.Workflow("test") as w:
        inner()
    workflow = sound(w.build())
    graph = template(workflow, "inner")
    assert (graph.retry, graph.deadline, graph.parallelism) == (RetryPolicy(2), 3600.0, 3)
    assert graph.locks == (Mutex("one"),)
    assert [volume.name for volume in workflow.volumes] == ["scratch"]


def test_what_a_called_workflow_says_of_a_run_of_its_own_is_refused():
    @couler.workflow(on_exit=lambda: say("over"))
    def inner() -> int:
        return increase(1)

    with couler.Workflow("test"), pytest.raises(couler.RecordingError, match="has on_exit, which is for a run"):
        inner()


def test_a_retry_may_ask_what_the_attempt_before_did():
    @couler.step(retries=couler.retry(3, when=couler.last_attempt.exit_code == 137))
    def fragile() -> None: ...

    with couler.Workflow("test") as w:
        fragile()
    retry = template(sound(w.build()), "fragile").retry
    assert retry is not None
    assert retry.when == ir.Compare("==", ir.LastRetry("exit_code"), ir.Literal(137))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"retries": -1}, "further attempts"),
        ({"schedule": "at three"}, "not a cron line"),
        ({"schedule": "0 3 * *"}, "not a cron line"),
        ({"schedule": []}, "schedule is empty"),
        ({"schedule": 3}, r"schedule is of type int, not str \| Sequence\[str\] \| Schedule"),
        ({"timezone": 3}, "timezone is of type int, not str"),
        ({"image_pull_secrets": "registry"}, r"image_pull_secrets is of type str, not Sequence\[str\]"),
        ({"pod_labels": {"team": 1}}, r"pod_labels\['team'\] is of type int, not str \| Text"),
        ({"on_exit": "notify"}, "on_exit is of type str, not Callable"),
        ({"engines": {"argo": "x"}}, r"engines\['argo'\] is of type str, not Mapping\[str, Any\]"),
        ({"schedule": "0 3 * * *", "timezone": "Mars/Olympus"}, "no time zone"),
        ({"timezone": "UTC"}, "there is no schedule"),
        ({"schedule": "0 3 * * *", "concurrency": "Maybe"}, "not one of Allow, Forbid, Replace"),
        ({"parallelism": 0}, "less than 1"),
        ({"deadline": "soon"}, "not a length of time"),
        ({"ttl": 0.5}, "whole number of seconds"),
        ({"priority": "high"}, "not an int"),
        ({"labels": {"a": 1}}, "not text"),
        ({"volumes": ["data"]}, "couler.Volume"),
        ({"paralelism": 3}, "did you mean 'parallelism'"),
        ({"pod_gc": "Sometimes"}, "not one of"),
    ],
)
def test_a_wrong_option_is_refused_where_it_stands(options, message):
    with pytest.raises(couler.DefinitionError, match=message) as caught:

        @couler.workflow(**options)
        def flow(): ...

    source = caught.value.diagnostics[0].source
    assert source is not None
    assert source.file.endswith("test_flow.py")


def test_a_plain_call_outside_a_workflow_is_refused_and_names_run():
    @couler.workflow
    def flow():
        number()

    with pytest.raises(couler.RecordingError, match=r"flow\.run\("):
        flow()


def test_a_workflow_that_calls_nothing_is_refused():
    @couler.workflow
    def flow(): ...

    with pytest.raises(couler.RecordingError, match="calls no step"):
        flow.build()


def test_a_lambda_is_no_workflow():
    with pytest.raises(couler.RecordingError, match="decorate a `def` function"):
        couler.workflow(lambda: number())


def test_a_file_of_the_run_needs_a_place():
    @couler.workflow
    def flow(data: Path = Path("data.csv")):
        read_file(data)

    workflow = sound(flow.build())
    assert workflow.artifacts == (ArtifactArgument("data", storage=LocalPath("data.csv")),)
    assert argument(tasks(workflow)["read_file"], "source") == ir.InputArtifact("data")

    @couler.workflow
    def other(data: Path):
        read_file(data)

    with pytest.raises(couler.RecordingError, match="a file without a default"):
        other.build()


# ---- workflows in workflows


@couler.workflow
def twice(x: int, by: int = 1) -> int:
    return add(add(x, by), by)


@couler.workflow
def countdown(x: int) -> int:
    less = add(x, -1)
    return couler.when(less > 0, lambda: countdown(less), otherwise=lambda: increase(less))


@couler.workflow
def grown(source: Path) -> Trained:
    return Trained(read_file(source) == "a", grow(source))


def test_a_workflow_is_called_like_a_step():
    @couler.workflow
    def flow(a: int = 1):
        return increase(twice(a, by=3)) + twice(number())

    workflow = sound(flow.build())
    found = tasks(workflow)
    assert found["twice"].call == found["twice-2"].call == "twice"
    assert found["twice"].arguments == (Argument("x", ir.WorkflowParameter("a")), Argument("by", ir.Literal(3)))
    assert found["twice-2"].arguments == (Argument("x", ir.TaskOutput("number", "result")),)
    inside = template(workflow, "twice")
    assert inside.inputs.parameters == (Parameter("x", INT), Parameter("by", INT, 1))
    assert argument(tasks(workflow, "twice")["add"], "b") == ir.Input("by")


def test_files_go_into_a_called_workflow_and_come_out():
    with couler.Workflow("test") as w:
        run = grown(make_file("a"))
        grow(run.model)
    workflow = sound(w.build())
    found = tasks(workflow)
    assert argument(found["grown"], "source") == ir.TaskArtifact("make_file", "result")
    assert argument(found["grow"], "source") == ir.TaskArtifact("grown", "model")
    assert argument(tasks(workflow, "grown")["grow"], "source") == ir.InputArtifact("source")


def test_a_workflow_that_calls_itself():
    with couler.Workflow("test") as w:
        increase(countdown(5))
    workflow = sound(w.build())
    inside = tasks(workflow, "countdown")
    assert inside["countdown"].call == "countdown"
    assert inside["countdown"].when is not None
    assert argument(inside["countdown"], "x") == ir.TaskOutput("add", "result")


def test_a_workflow_that_calls_itself_as_the_program():
    workflow = countdown.build(x=3)
    assert workflow.entrypoint == "countdown"
    assert [found.name for found in workflow.templates if "countdown" in found.name] == ["countdown", "countdown-2"]
    assert tasks(workflow, "countdown-2")["countdown"].call == "countdown-2"


def test_a_workflow_that_calls_itself_needs_its_type_for_its_value():
    @couler.workflow
    def flow(x: int):
        again = couler.when(x > 0, lambda: flow(x - 1))
        increase(again)

    with couler.Workflow("test"), pytest.raises(couler.RecordingError, match="annotate what flow returns"):
        flow(3)


def test_a_value_from_around_reaches_a_called_workflow():
    with couler.Workflow("test") as w:
        n = number()

        @couler.workflow
        def inner(x: int) -> int:
            return add(x, n)

        inner(1)
        inner(2)
    found = tasks(sound(w.build()))
    for name in ("inner", "inner-2"):
        assert argument(found[name], "number") == ir.TaskOutput("number", "result")


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: twice("a"), "'a' is not int"),
        (lambda: twice(make_file("a")), "wants a value"),
        (lambda: twice(), "missing a required argument: 'x'"),
        (lambda: twice(1, 2, 3), "too many positional"),
        (lambda: grown(3), "wants a file or folder"),
    ],
)
def test_a_called_workflow_checks_its_arguments(use, message):
    with couler.Workflow("test"), pytest.raises(couler.RecordingError, match=message):
        use()


# ---- the builder


def test_a_workflow_written_with_calls():
    w = couler.Workflow("test", parallelism=2)
    seed = w.parameter("seed", int, 0, description="where to begin")
    one = w.add(increase, seed)
    two = w.add(add, one, b=seed)
    w.output("sum", two)
    w.on_exit(lambda: say("over"))
    workflow = sound(w.build())
    assert workflow.parameters == (Parameter("seed", INT, 0, description="where to begin"),)
    assert list(tasks(workflow)) == ["increase", "add"]
    (output,) = template(workflow, "test").outputs.parameters
    assert (output.name, output.value) == ("sum", ir.TaskOutput("add", "result"))
    assert workflow.parallelism == 2
    assert [handler.call for handler in workflow.handlers] == ["say"]


def test_both_styles_mix_and_it_can_be_built_again():
    with couler.Workflow("test") as w:
        one = number()
    w.add(increase, one)
    assert list(tasks(w.build())) == ["number", "increase"]
    w.add(increase, one)
    assert list(tasks(sound(w.build()))) == ["number", "increase", "increase-2"]


def test_an_exception_leaves_nothing_behind():
    w = couler.Workflow("test")
    with pytest.raises(ZeroDivisionError), w:  # noqa: PT012  the block is what raises
        number()
        _ = 1 / 0
    assert number(3) == 3
    with pytest.raises(couler.RecordingError, match="never finished"):
        w.build()


def test_a_value_of_another_workflow_is_refused():
    with couler.Workflow("one"):
        value = number()
    with couler.Workflow("two"), pytest.raises(couler.RecordingError, match="belongs to another workflow"):
        increase(value)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda w: w.parameter("a b"), "can't name a parameter"),
        (lambda w: (w.parameter("a"), w.parameter("a")), "there already"),
        (lambda w: w.parameter("a", int, "x"), "'x' is not int"),
        (lambda w: w.parameter("a", Path), "is a file"),
        (lambda w: (w.output("a", 1), w.output("a", 2)), "there already"),
        (lambda w: w.output("", 1), "can't name an output"),
    ],
)
def test_a_wrong_parameter_or_output_is_refused(use, message):
    with pytest.raises(couler.RecordingError, match=message):
        use(couler.Workflow("test"))


def test_parameters_are_text_unless_said_otherwise():
    w = couler.Workflow("test")
    w.add(say, w.parameter("text"))
    assert sound(w.build()).parameters == (Parameter("text", STR),)


class Named(NamedTuple):
    name: str


def test_ir_and_unknown_things_are_taken_or_refused():
    w = couler.Workflow("test")
    w.add(number)
    built = w.build()
    assert couler.build(built) is built
    assert couler.build(w) == built
    with pytest.raises(couler.RecordingError, match="is not a workflow"):
        couler.build(Named("x"))


def test_an_option_that_is_none_is_not_given():
    @couler.step(cpu=2, command=["python", "-O"], retries=3)
    def work() -> int: ...

    @couler.step
    def plain() -> int: ...

    @couler.workflow(**dict.fromkeys(couler.WorkflowOptions.__annotations__))
    def flow():
        return plain()

    with couler.Workflow("flow", schedule=None, packages=None) as w:
        w.output("result", plain())

    options = dict.fromkeys(("cpu", "command", "retries", "tolerations", "description", "image", "include"))
    reset = work.with_options(**options).template()
    assert msgspec.structs.replace(reset.body, name="", pieces=()) == msgspec.structs.replace(
        plain.template().body, name="", pieces=()
    )
    assert (reset.retry, reset.description) == (None, "")
    assert digest(flow.build().templates[0]) == digest(w.build().templates[0])
    assert couler.suspend(1, description=None).template().description == ""


def test_modules_to_preload_are_for_the_local_engine_alone() -> None:
    @couler.workflow(preload=["numpy", "os.path"], engines={"local": {"x": 1}})
    def flow():
        return number()

    @couler.workflow
    def without():
        return number()

    assert flow.build().engines == {"local": {"x": 1, "preload": ["numpy", "os.path"]}}
    assert flow.build().templates[-1].body == without.build().templates[-1].body


@pytest.mark.parametrize("wrong", ["numpy", ["os; print()"], [""], [1]])
def test_what_is_no_module_cant_be_preloaded(wrong: object) -> None:
    def flow():
        return number()

    with pytest.raises(couler.DefinitionError, match="preload is a list of modules"):
        couler.workflow(preload=wrong)(flow)
