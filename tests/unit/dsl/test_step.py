"""`@step`: the plain function outside of a workflow, a typed task inside."""

from __future__ import annotations

import datetime
import inspect
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, NamedTuple

import msgspec
import pytest

from couler_py.dsl import workflow
from couler_py.dsl.durations import seconds
from couler_py.dsl.errors import CallError, DefinitionError
from couler_py.dsl.options import cache, retry
from couler_py.dsl.recorder import Recorder
from couler_py.dsl.sources import shown
from couler_py.dsl.step import step
from couler_py.dsl.verbs.secrets import Secret
from couler_py.dsl.volumes import empty_dir
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.model import (
    Backoff,
    Cache,
    Function,
    InputArtifact,
    Mutex,
    OutputArtifact,
    OutputParameter,
    Parameter,
    RetryPolicy,
    Semaphore,
)
from couler_py.ir.pod import EnvVar, Resources, Toleration, VolumeClaim, VolumeMount
from couler_py.ir.storage import LocalPath, SecretRef
from couler_py.ir.types import ANY, FLOAT, INT, STR


class Trained(NamedTuple):
    score: float
    model: Path
    log: Path | None


@step
def train(data: Path, c: Annotated[float, "regularisation"] = 1.0, seed: int = 0) -> Trained:
    """Fit a model."""
    return Trained(c + seed, data, None)


@step
def untyped(x, y=2):  # type: ignore[no-untyped-def]
    return x


def function_of(made: Any) -> Function:
    body = made.template().body
    assert isinstance(body, Function)
    return body


def test_outside_of_a_workflow_it_is_the_function() -> None:
    assert train(Path("d"), seed=2) == Trained(3.0, Path("d"), None)


def test_it_keeps_signature_name_and_documentation() -> None:
    assert (train.__name__, train.__doc__, list(inspect.signature(train).parameters)) == (
        "train",
        "Fit a model.",
        ["data", "c", "seed"],
    )


def test_inputs_are_parameters_and_artifacts() -> None:
    assert train.inputs.parameters == (
        Parameter("c", FLOAT, 1.0, description="regularisation"),
        Parameter("seed", INT, 0),
    )
    assert train.inputs.artifacts == (InputArtifact("data"),)


def test_fields_of_the_result_are_outputs() -> None:
    assert function_of(train).returns == "fields"
    assert train.outputs.parameters == (OutputParameter("score", FLOAT),)
    assert train.outputs.artifacts == (OutputArtifact("model"), OutputArtifact("log", optional=True))


def test_without_annotations_everything_fits() -> None:
    assert untyped.inputs.parameters == (Parameter("x", ANY), Parameter("y", ANY, 2))
    assert untyped.outputs.parameters == (OutputParameter("result", ANY),)


def test_function_without_a_return_has_no_output() -> None:
    @step
    def quiet():  # type: ignore[no-untyped-def]
        def inner() -> int:
            return 1

        inner()

    assert (function_of(quiet).returns, quiet.outputs.parameters) == ("none", ())


def test_default_path_is_an_artifact() -> None:
    @step
    def work(data: Path = Path("d.csv"), other: Path | None = None) -> str:
        return str(data)

    assert work.inputs.artifacts == (
        InputArtifact("data", storage=LocalPath("d.csv")),
        InputArtifact("other", optional=True),
    )


def test_options_reach_the_template() -> None:
    @step(
        image="python:3.12",
        packages=["Scikit_Learn>=1.4"],
        cpu=0.5,
        memory="1Gi",
        memory_limit="",
        gpu=2,
        gpu_type="amd.com/gpu",
        retries=2,
        timeout="10m",
        deadline=datetime.timedelta(hours=1),
        cache=True,
        env={"A": "x", "N": 3, "KEY": SecretRef("s", "k")},
        volumes={"/data": VolumeClaim("scratch", "10Gi"), "/ro": "shared"},
        node_selector={"disk": "ssd"},
        tolerations=[Toleration("gpu", "Exists")],
        labels={"team": "a"},
        service_account="runner",
        priority_class="high",
        mutex="one",
        semaphore=("few", 3),
    )
    def work() -> None: ...

    template, body = work.template(), function_of(work)
    assert (body.image, body.packages) == ("python:3.12", ("scikit-learn>=1.4",))
    assert body.resources == Resources("500m", "1Gi", memory_limit="", gpu=2, gpu_type="amd.com/gpu")
    assert body.env == (EnvVar("A", "x"), EnvVar("N", "3"), EnvVar("KEY", SecretRef("s", "k")))
    assert body.mounts == (VolumeMount("scratch", "/data"), VolumeMount("shared", "/ro"))
    assert work.claims == (VolumeClaim("scratch", "10Gi"),)
    assert (template.retry, template.timeout, template.deadline) == (RetryPolicy(2), 600.0, 3600.0)
    assert template.cache == Cache()
    assert template.locks == (Mutex("one"), Semaphore("few", 3))
    assert (template.pod.node_selector, template.pod.labels) == ((("disk", "ssd"),), (("team", "a"),))
    assert (template.pod.service_account, template.pod.priority_class) == ("runner", "high")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cpuu": 1}, "did you mean 'cpu'"),
        ({"memory": "2Gb"}, "'2Gb' is not a quantity"),
        ({"cpu": -1}, "-1 is not a quantity"),
        ({"cpu": float("inf")}, "cpu=inf is not a quantity"),
        ({"cpu": float("nan")}, "cpu=nan is not a quantity"),
        ({"gpu": 1.5}, "not a number of devices"),
        ({"retries": -1}, "not a number of further attempts"),
        ({"timeout": "soon"}, "timeout: 'soon' is not a length of time"),
        ({"timeout": 0}, "not a positive length"),
        ({"cache": 3}, "neither True nor a couler.Cache"),
        ({"env": {"a=b": ""}}, "not the name of an environment variable"),
        ({"env": {"a": ["x"]}}, "can't be a list"),
        ({"volumes": {"data": "v"}}, "not absolute"),
        ({"image_pull_secrets": "registry"}, r"image_pull_secrets is of type str, not Sequence\[str\]"),
        ({"tolerations": ["gpu"]}, r"tolerations\[0\] is of type str, not Toleration"),
        ({"labels": {"rank": 1}}, r"labels\['rank'\] is of type int, not str \| Text"),
        ({"node_selector": ["disk"]}, "node_selector is of type list, not Mapping"),
        ({"command": "python"}, r"command is of type str, not Sequence\[str\]"),
        ({"image": 3}, r"image is of type int, not str \| Text"),
        ({"host_network": "yes"}, "host_network is of type str, not bool"),
        ({"image_pull_policy": "Sometimes"}, "not 'Always' or 'IfNotPresent' or 'Never'"),
        ({"mutex": 3}, r"mutex is of type int, not str \| Mutex"),
        ({"semaphore": ("few",)}, r"semaphore is of type tuple, not Semaphore \| tuple\[str, int\]"),
        ({"semaphore": ("few", "3")}, r"semaphore\[1\] is of type str, not int"),
        ({"packages": "numpy"}, r"write packages=\['numpy'\]"),
        ({"packages": ["--pre"]}, "'--pre' is an option"),
        ({"packages": ["a b"]}, "'a b' is no requirement"),
    ],
    ids=str,
)
def test_bad_option_is_refused_at_the_line_of_the_step(options: dict[str, Any], message: str) -> None:
    line = inspect.currentframe().f_lineno + 3  # type: ignore[union-attr]
    with pytest.raises(DefinitionError, match=message) as caught:

        @step(**options)
        def work() -> None: ...

    source = caught.value.diagnostics[0].source
    assert source is not None
    assert (Path(source.file).name, source.line) == ("test_step.py", line)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90s", 90.0), ("1h30m", 5400.0), ("2d", 172800.0), ("500ms", 0.5), ("1.5h", 5400.0), (7, 7.0), ("12", 12.0)],
)
def test_length_of_time(text: Any, expected: float) -> None:
    assert seconds(text) == expected


def test_retry_has_backoff_in_seconds() -> None:
    assert msgspec.to_builtins(retry(3, delay="10s", factor=2, maximum="5m")) == {
        "limit": 3,
        "backoff": {"duration": 10.0, "factor": 2.0, "maximum": 300.0},
    }


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: retry(3, factor=2), "factor and maximum are about the delay"),
        (lambda: retry(3, maximum="5m"), "factor and maximum are about the delay"),
        (lambda: retry(3, delay="soon"), "delay: 'soon' is not a length of time"),
        (lambda: retry(3, delay=1, maximum=0), "maximum: 0 is not a positive length of time"),
        (lambda: cache(max_age="old"), "max_age: 'old' is not a length of time"),
    ],
)
def test_a_policy_that_can_not_be_kept_is_refused_at_its_line(make: Any, message: str) -> None:
    with pytest.raises(DefinitionError, match=message) as raised:
        make()
    source = raised.value.diagnostics[0].source
    assert source is not None
    assert (source.file, source.line) == (shown(__file__), make.__code__.co_firstlineno)


def test_secrets_are_variables_by_reference() -> None:
    @step(secrets=[SecretRef("db", "password"), Secret("s3", ["id", "key"])])
    def work() -> None: ...

    assert function_of(work).env == (
        EnvVar("password", SecretRef("db", "password")),
        EnvVar("id", SecretRef("s3", "id")),
        EnvVar("key", SecretRef("s3", "key")),
    )


def test_durations_inside_policies_may_be_texts() -> None:
    @step(cache=Cache(max_age="1h"), retries=RetryPolicy(2, Backoff("10s", 2)))  # type: ignore[arg-type]
    def work() -> None: ...

    template = work.template()
    assert template.cache == Cache(3600.0)
    assert template.retry == RetryPolicy(2, Backoff(10.0, 2.0))


# ---- in a workflow


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: train(), "train needs the argument 'data'"),  # type: ignore[call-arg]
        (lambda: train(Path("d"), 1.0, 2, 3), "takes 3 arguments, and 4 were given"),  # type: ignore[call-arg]
        (lambda: train(Path("d"), sed=1), "no parameter 'sed'"),  # type: ignore[call-arg]
        (lambda: train(Path("d"), data=Path("e")), "given 'data' twice"),  # type: ignore[misc]
    ],
)
def test_call_that_does_not_fit_the_signature_is_a_type_error(call: Any, message: str) -> None:
    with Recorder("w").recording(), pytest.raises(TypeError, match=message) as caught:
        call()
    assert isinstance(caught.value, CallError)
    (found,) = caught.value.diagnostics
    assert found.source is not None
    assert Path(found.source.file).name == "test_step.py"
    assert [what for what, _ in found.related] == ["train is defined here"]


def test_value_of_another_type_names_both_steps_and_both_lines() -> None:
    @step
    def greet(name: str) -> str:
        return name

    with Recorder("w").recording(), pytest.raises(TypeError) as caught:
        greet(train(Path("d")).score)  # type: ignore[arg-type]
    assert isinstance(caught.value, DiagnosticError)
    text = str(caught.value)
    assert "greet" in text
    assert "train" in text
    assert len(caught.value.diagnostics[0].related) == 2


def test_literal_of_another_type_is_refused() -> None:
    with Recorder("w").recording(), pytest.raises(TypeError, match="'a' is not int"):
        train(Path("d"), seed="a")  # type: ignore[arg-type]


def test_calls_share_one_template() -> None:
    recorder = Recorder("w")
    with recorder.recording():
        train(Path("a"))
        train(Path("b"), c=2.0)
    assert [node.name for node in recorder.entry.nodes] == ["train", "train-2"]
    assert list(recorder.templates.by_name) == ["train"]


def test_variant_is_a_template_of_its_own() -> None:
    recorder = Recorder("w")
    with recorder.recording():
        train(Path("a"))
        train.with_options(gpu=1)(Path("a"))
    assert list(recorder.templates.by_name) == ["train", "train-2"]


def test_named_call_names_the_task() -> None:
    recorder = Recorder("w")
    with recorder.recording():
        train.named("first")(Path("a"))
    assert [node.name for node in recorder.entry.nodes] == ["first"]


def test_claims_and_archives_reach_the_workflow(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("x = 1\n")
    path = tmp_path / "flow.py"
    path.write_text(
        "from couler_py.dsl.step import step\nfrom couler_py.ir.pod import VolumeClaim\n"
        '@step(include=["own.py"], volumes={"/d": VolumeClaim("c", "1Gi")})\ndef work():\n    import own\n'
    )
    module = ModuleType("flow")
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    recorder = Recorder("w")
    with recorder.recording():
        module.work()
    assert list(recorder.claims) == ["c"]
    assert [archive.paths for archive in recorder.includes.values()] == [("own.py",)]
    assert [template.body.include for template in recorder.templates.by_name.values()] == [tuple(recorder.includes)]  # type: ignore[union-attr]


def test_string_output_is_typed() -> None:
    @step
    def work() -> str:
        return ""

    assert work.outputs.parameters == (OutputParameter("result", STR),)


def test_a_volume_mounted_twice_is_one_volume() -> None:
    cache = empty_dir("cache")

    @step(volumes={"/a": cache, "/b": cache, "/c": empty_dir("other")})
    def work() -> None: ...

    assert [volume.name for volume in work.template().pod.volumes] == ["cache", "other"]


def test_a_workflow_is_no_step() -> None:
    with pytest.raises(DefinitionError, match=r"test_step.py:\d+: .*the workflow 'inner' can't be a step") as raised:

        @step
        @workflow
        def inner(n: int = 1) -> int:
            return n

    assert "called like a step" in str(raised.value)
