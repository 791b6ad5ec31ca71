"""Steps that aren't Python functions: what is known now is the template, what isn't is an argument."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from couler_py.dsl.containers import argument, container, file_at, http, resource, script, stdout, suspend, value_at
from couler_py.dsl.errors import CallError, DefinitionError
from couler_py.dsl.recorder import Recorder
from couler_py.dsl.step import step
from couler_py.ir.expr import Input, Text
from couler_py.ir.model import (
    Http,
    InputArtifact,
    OutputArtifact,
    OutputParameter,
    Parameter,
    Resource,
    Script,
    Suspend,
)
from couler_py.ir.pod import Container, EnvVar, Resources, Substitution, Templated
from couler_py.ir.storage import S3, SecretRef
from couler_py.ir.types import BOOL, FLOAT, INT, STR


@step
def number() -> int:
    return 1


@step
def file() -> Path:
    return Path("x")


def test_container_has_typed_inputs_and_outputs() -> None:
    made = container(
        "registry.example.com/tools/shout:1.2",
        ["sh", "-c", "…", argument("text"), argument("times")],
        inputs={"text": Path, "times": (int, 3)},
        outputs={
            "loud": Path("/out/loud"),
            "score": float,
            "line": stdout(),
            "n": value_at("/n", int),
            "kept": file_at("/kept", storage=S3("k")),
        },
        cpu=2,
        env={"T": argument("times"), "KEY": SecretRef("s", "k")},
    )
    template = made.template()
    times = Text((Input("times"),))
    assert template.name == "shout"
    assert template.body == Container(
        "registry.example.com/tools/shout:1.2",
        ("sh", "-c", "…", "/tmp/couler/inputs/text", times),
        env=(EnvVar("T", times), EnvVar("KEY", SecretRef("s", "k"))),
        resources=Resources("2"),
    )
    assert template.inputs.parameters == (Parameter("times", INT, 3),)
    assert template.inputs.artifacts == (InputArtifact("text", "/tmp/couler/inputs/text"),)
    assert template.outputs.parameters == (
        OutputParameter("score", FLOAT, path="/tmp/couler/outputs/score"),
        OutputParameter("line", STR, stdout=True),
        OutputParameter("n", INT, path="/n"),
    )
    assert template.outputs.artifacts == (
        OutputArtifact("loud", "/out/loud"),
        OutputArtifact("kept", "/kept", storage=S3("k")),
    )


def test_placeholder_in_a_text_is_an_argument_of_the_task() -> None:
    recorder = Recorder("w")
    with recorder.recording():
        n, data = number(), file()
        container("alpine", ["seq", n, n], env={"DATA": data})()
    node = recorder.entry.nodes[-1]
    template: Any = node.call
    value = Text((Input("value-1"),))
    assert template.body.command == ("seq", value, value)
    assert template.body.env == (EnvVar("DATA", "/tmp/couler/inputs/value-2"),)
    assert template.inputs.parameters == (Parameter("value-1", INT),)
    assert (list(node.arguments), list(node.artifacts)) == (["value-1"], ["value-2"])


def test_calls_that_differ_in_arguments_share_a_template() -> None:
    recorder = Recorder("w")
    echo = container("alpine", ["echo", argument("word")], inputs={"word": str})
    with recorder.recording():
        echo("a")
        echo(word="b")
    assert list(recorder.templates.by_name) == ["alpine"]
    assert [node.name for node in recorder.entry.nodes] == ["alpine", "alpine-2"]


def test_script_gets_values_by_environment_and_its_source_stays_as_it_is() -> None:
    made = script("alpine", 'echo "$word {{x}}"', inputs={"word": str}, outputs={"out": stdout()})
    assert made.template().body == Script(
        "alpine", 'echo "$word {{x}}"', ("sh",), env=(EnvVar("word", Text((Input("word"),))),)
    )


def test_placeholders_of_a_manifest_stand_at_their_place() -> None:
    with Recorder("w").recording():
        made = resource(
            {"kind": "Job", "metadata": {"labels": {"a/b": number()}}},
            success_condition="status.succeeded > 0",
            outputs={"phase": "{.status.phase}", "n": ("{.status.succeeded}", int)},
        )
    template = made.template()
    assert template.body == Resource(
        "create",
        Templated(
            {"kind": "Job", "metadata": {"labels": {"a/b": ""}}},
            (Substitution("/metadata/labels/a~1b", Text((Input("value-1"),))),),
        ),
        success_condition="status.succeeded > 0",
    )
    assert template.outputs.parameters == (
        OutputParameter("phase", STR, json_path="{.status.phase}"),
        OutputParameter("n", INT, json_path="{.status.succeeded}"),
    )


def test_manifest_may_be_yaml_text() -> None:
    body = resource("kind: Job\nmetadata: {name: x}\n").template().body
    assert isinstance(body, Resource)
    assert body.manifest == Templated({"kind": "Job", "metadata": {"name": "x"}})


def test_suspend_waits_for_values_that_a_person_supplies() -> None:
    template = suspend(outputs={"approve": (bool, False), "note": str}).template()
    assert template.outputs.parameters == (
        OutputParameter("approve", BOOL, supplied=True, default=False),
        OutputParameter("note", STR, supplied=True),
    )
    assert suspend("10m").template().body == Suspend(600.0)


def test_request_may_hold_a_secret_by_reference() -> None:
    body = (
        http("https://example.com", headers={"Authorization": SecretRef("s", "k")}, request_timeout="5s")
        .template()
        .body
    )
    assert body == Http("https://example.com", headers=(("Authorization", SecretRef("s", "k")),), timeout=5.0)


def test_named_option_names_the_template() -> None:
    assert container("alpine", name="greet").template().name == "greet"


def test_call_outside_of_a_workflow_is_refused() -> None:
    with pytest.raises(CallError, match=r"CLR121.*outside of a workflow"):
        container("alpine")()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: container("alpine", "echo a"), r"write command=\['echo a'\]"),
        (lambda: container("alpine", [argument("x")]), "no input 'x'"),
        (lambda: container("alpine", [object()]), "can't be a object"),
        (lambda: container("alpine", inputs={"x": (int, "a")}), "the default of 'x' doesn't fit"),
        (lambda: container("alpine", inputs={"x": bytes}), "bytes"),
        (lambda: script("alpine", len), "is text"),  # type: ignore[arg-type]
        (lambda: resource({}, action="make"), "no action 'make'"),
        (lambda: resource("- a"), "not an object"),
        (lambda: suspend("soon"), "duration: 'soon' is not a length of time"),
        (lambda: http("https://example.com", request_timeout="soon"), "request_timeout: 'soon' is not a length"),
        (lambda: resource({"kind": "Job"}, outputs={"log": ("{.status}", Path)}), "output 'log' can't be a file"),
        (lambda: suspend(outputs={"x": Path}), "can't be a file"),
        (lambda: container("alpine", memory="1GB"), "not a quantity"),
    ],
)
def test_what_can_not_be_made_is_refused_at_its_line(make: Any, message: str) -> None:
    with pytest.raises(DefinitionError, match=message) as caught:
        make()
    source = caught.value.diagnostics[0].source
    assert source is not None
    assert Path(source.file).name == "test_containers.py"
