"""What can't be honoured is an error at the line where it is written, and says the way out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from couler_py import argo_native as argo
from couler_py.ir.diagnostics import Diagnostic, DiagnosticError


def finding(write: Callable[[], Any]) -> Diagnostic:
    with pytest.raises(DiagnosticError) as raised:
        write()
    [found] = raised.value.diagnostics
    assert found.source is not None
    assert found.source.file.endswith(Path(__file__).name)
    return found


def in_workflow(write: Callable[[], Any]) -> Diagnostic:
    with argo.Workflow("w"):
        return finding(write)


def in_dag(write: Callable[[Callable[..., argo.Task]], Any]) -> Diagnostic:
    with argo.Workflow("w"):
        one = argo.container("one", image="x", inputs=["x"])
        with argo.dag("main"):
            return finding(lambda: write(one))


@pytest.mark.parametrize(
    ("write", "message", "way_out"),
    [
        (
            lambda: argo.container("c", imag="x"),  # type: ignore[call-arg]
            "a template of kind container has no field 'imag'",
            "did you mean 'image'?",
        ),
        (
            lambda: argo.container("c", image="x", env=[{"name": "A", "valeu": "b"}]),  # type: ignore[list-item]
            "container.env[0] has no field 'valeu'",
            "did you mean 'value'?",
        ),
        (
            lambda: argo.template("t", inputs={"paramters": []}),  # type: ignore[typeddict-item]
            "inputs has no field 'paramters'",
            "did you mean 'parameters'?",
        ),
        (
            lambda: argo.dag("d", templateDefault={}),  # type: ignore[call-arg]
            "a template of kind dag has no field 'templateDefault'",
            "the fields are activeDeadlineSeconds, affinity",
        ),
    ],
)
def test_an_unknown_field(write: Callable[[], Any], message: str, way_out: str) -> None:
    found = in_workflow(write)
    assert (found.code, found.message) == ("CLR190", message)
    assert found.help.startswith(way_out)


@pytest.mark.parametrize(
    ("write", "message", "way_out"),
    [
        (lambda: argo.container("c", image=3), "container.image is 3, and takes text", 'write it in quotes: "3"'),  # type: ignore[arg-type]
        (
            lambda: argo.resource("r", action="creat"),  # type: ignore[arg-type]
            "resource.action is 'creat', and takes one of 'get', 'create', 'apply', 'delete', 'replace', 'patch'",
            "did you mean 'create'?",
        ),
        (lambda: argo.container("c", args="a"), "container.args is 'a', and takes a list", "put it into a list"),
        (
            lambda: argo.container("c", parallelism="{{x}}"),  # type: ignore[arg-type]
            "parallelism is '{{x}}', and takes a whole number",
            "Argo fills nothing in here: the API server takes a number only",
        ),
        (lambda: argo.container("c", daemon=1), "daemon is 1, and takes True or False", ""),  # type: ignore[arg-type]
        (
            lambda: argo.container("c", volumes=[{"name": Path("x")}]),  # type: ignore[typeddict-item]
            "volumes[0].name is a PosixPath, which Argo's documents can't hold",
            "give text, numbers, lists and dicts; write a path or a date as text",
        ),
        (
            lambda: argo.container("c", inputs=[{"name": "a"}]),  # type: ignore[list-item]
            "inputs holds {'name': 'a'}",
            "list names, argo.parameter(...) and argo.artifact(...)",
        ),
    ],
)
def test_a_value_that_the_field_does_not_take(write: Callable[[], Any], message: str, way_out: str) -> None:
    found = in_workflow(write)
    assert (found.code, found.message) == ("CLR191", message)
    assert found.help.startswith(way_out)


def test_a_mistake_in_the_spec() -> None:
    found = finding(lambda: argo.Workflow("w", entrypont="a"))  # type: ignore[call-arg]
    assert (found.code, found.help) == ("CLR190", "did you mean 'entrypoint'?")


def test_a_template_outside_of_a_document() -> None:
    found = finding(lambda: argo.container("c", image="x"))
    assert (found.code, found.message) == ("CLR192", "the template 'c' stands outside of a document")


def test_a_call_outside_of_a_graph() -> None:
    with argo.Workflow("w"):
        one = argo.container("one", image="x")
        found = finding(lambda: one("a"))
    assert (found.code, found.message) == ("CLR192", "the task 'a' is called outside of a graph")


def test_a_document_in_another() -> None:
    with argo.Workflow("w"):
        found = finding(argo.Workflow("v").__enter__)
    assert found.code == "CLR192"


def test_a_group_in_a_dag_and_in_a_group() -> None:
    assert in_dag(lambda one: argo.parallel()).code == "CLR192"
    with argo.Workflow("w"), argo.steps("main"), argo.parallel():
        assert finding(argo.parallel).code == "CLR192"


def test_two_templates_of_one_name_are_both_named() -> None:
    def write() -> None:
        argo.suspend("a")
        argo.suspend("a")

    found = in_workflow(write)
    assert (found.code, found.message) == ("CLR193", "there is a template 'a' already")
    assert found.source is not None
    [(_, other)] = found.related
    assert other.line == found.source.line - 1


def test_two_tasks_of_one_name() -> None:
    found = in_dag(lambda one: (one("a"), one("a")))
    assert (found.code, found.message, found.step) == ("CLR193", "there is a task 'a' already", "main")


@pytest.mark.parametrize(
    "write",
    [
        lambda one: one("a", parameters={"x": 1}, x=2),
        lambda one: one("a", arguments=[argo.parameter("x", 1)], x=2),
        lambda one: one("a", artifacts={"x": {}}, x=argo.input_artifact("y")),
    ],
)
def test_an_argument_that_is_given_twice(write: Callable[[Any], Any]) -> None:
    found = in_dag(write)
    assert (found.code, found.message) == ("CLR193", "the argument 'x' is given twice")


def test_arguments_by_name_are_members_of_a_list() -> None:
    found = in_dag(lambda one: one("a", arguments={"last": "D"}))
    assert (found.code, found.message) == ("CLR190", "arguments has no field 'last'")
    assert found.help == "write arguments=[argo.parameter(\"last\", 'D')]"
    listed = in_dag(lambda one: one("a", arguments=[{"last": "D"}]))
    assert (listed.code, listed.message) == ("CLR191", "arguments holds {'last': 'D'}")
    assert listed.help.startswith("list argo.parameter(\"last\", 'D'); or write Argo's own form: ")


@pytest.mark.parametrize(
    ("name", "way_out"),
    [
        ("y", "its inputs are x; parameters={...} gives it others"),
        ("dependss", "did you mean 'depends'?"),
    ],
)
def test_an_input_that_the_template_does_not_have(name: str, way_out: str) -> None:
    found = in_dag(lambda one: one("a", **{name: "1"}))
    assert (found.code, found.message, found.help) == ("CLR190", f"the template 'one' has no input {name!r}", way_out)


def test_a_step_has_no_depends() -> None:
    with argo.Workflow("w"):
        one = argo.container("one", image="x")
        with argo.steps("main"):
            found = finding(lambda: one("a", depends="b"))
    assert (found.code, found.message, found.step) == ("CLR190", "a step has no field 'depends'", "main.a")


def test_a_task_is_no_condition_of_python() -> None:
    found = in_dag(lambda one: one("b", depends=one("a") or "c"))
    assert (found.code, found.help) == ("CLR191", "write `a & b`, `a | b` and `~a`")


def test_a_task_joined_with_text() -> None:
    found = in_dag(lambda one: one("a") & "b")
    assert (found.code, found.help) == ("CLR191", "write all of `depends` as text")


def test_a_template_to_arrange_that_is_not_there() -> None:
    with argo.Workflow("w") as w:
        assert finding(lambda: w.arrange("a")).message == "there is no template 'a' to arrange"


def test_unchecked_documents_take_what_another_argo_reads() -> None:
    with argo.CronWorkflow("w", schedule="0 3 * * *", check=False) as w:  # type: ignore[call-arg]
        argo.container("c", image="x", container={"fresh": 1})  # type: ignore[typeddict-unknown-key]
    assert w.data["spec"]["schedule"] == "0 3 * * *"
    assert w.data["spec"]["workflowSpec"]["templates"][0]["container"] == {"fresh": 1, "image": "x"}
