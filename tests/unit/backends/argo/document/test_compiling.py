"""`couler.compile` and `couler.build` of documents, and of workflows in Argo's own words."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import couler_py as couler
from couler_py import ir
from couler_py.backends import argo, yaml
from couler_py.backends.argo.document import load, read
from couler_py.backends.base import OptionError
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.expr import Compare, Input, Literal
from couler_py.ir.model import (
    After,
    Cache,
    Document,
    Each,
    Function,
    Handler,
    IncludeArchive,
    Inline,
    InputArtifact,
    Inputs,
    Loop,
    Native,
    Semaphore,
)
from couler_py.ir.pod import Container, PodSettings
from couler_py.ir.storage import LocalPath

JSON = dict[str, Any]
TEMPLATES = [{"name": "main", "suspend": {"duration": "60"}}]
SPEC = {"entrypoint": "main", "templates": TEMPLATES}


def document(kind: str = "Workflow", spec: JSON = SPEC, **metadata: Any) -> Document:
    return read({"apiVersion": "argoproj.io/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec})


def main(given: Any, **options: Any) -> JSON:
    found: JSON = couler.compile(given, **options).documents[-1]
    return found


CRON = document("CronWorkflow", {"schedules": ["* * * * *"], "workflowSpec": SPEC}, name="nightly", namespace="team")


def test_a_document_compiles_as_it_stands() -> None:
    assert main(CRON) == {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "CronWorkflow",
        "metadata": {"name": "nightly", "namespace": "team"},
        "spec": {"schedules": ["* * * * *"], "workflowSpec": SPEC},
    }


def test_the_file_is_called_after_the_workflow() -> None:
    assert list(couler.compile(CRON).files) == ["nightly.yaml"]
    assert list(couler.compile(document(generateName="hello-")).files) == ["hello.yaml"]
    assert list(couler.compile(document()).files) == ["workflow.yaml"]


@pytest.mark.parametrize("to", ["argo", "ir", "local"])
def test_no_name_leads_a_file_out_of_its_folder(to: str) -> None:
    [file] = couler.compile(document(name="../../flow"), to=to).files
    assert file in ("flow.yaml", "flow.json")


def test_documents_that_stand_around_it_come_first() -> None:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
    run = argo.dump(document(name="w"))
    assert [each["kind"] for each in couler.compile(load(f"{run}---\n{text}")).documents] == ["ConfigMap", "Workflow"]


@pytest.mark.parametrize(
    ("given", "options", "kind", "metadata"),
    [
        (CRON, {"namespace": "other"}, "CronWorkflow", {"name": "nightly", "namespace": "other"}),
        (CRON, {"name": "x"}, "CronWorkflow", {"name": "x", "namespace": "team"}),
        (CRON, {"kind": "Workflow"}, "Workflow", {"name": "nightly", "namespace": "team"}),
        (CRON, {"kind": "ClusterWorkflowTemplate"}, "ClusterWorkflowTemplate", {"name": "nightly"}),
        (document(generateName="a-"), {}, "Workflow", {"generateName": "a-"}),
        (document(generateName="a-"), {"name": "b"}, "Workflow", {"name": "b"}),
        (document(generateName="a-"), {"generate_name": False}, "Workflow", {"name": "a"}),
        (document(generateName="a-"), {"kind": "WorkflowTemplate"}, "WorkflowTemplate", {"name": "a"}),
        (document(), {"namespace": "n"}, "Workflow", {"namespace": "n"}),
        (document("WorkflowTemplate", generateName="a-"), {}, "WorkflowTemplate", {"generateName": "a-"}),
        (document("WorkflowTemplate", generateName="a-"), {"kind": "Workflow"}, "Workflow", {"generateName": "a-"}),
    ],
)
def test_kind_name_and_namespace_may_be_chosen(given: Document, options: JSON, kind: str, metadata: JSON) -> None:
    found = main(given, **options)
    assert (found["kind"], found["metadata"]) == (kind, metadata)
    spec = found["spec"].get("workflowSpec", found["spec"])
    assert spec == SPEC  # the duration in its own spelling too


@pytest.mark.parametrize("given", [{}, {"metadata": None}])
def test_a_document_without_metadata_compiles_as_it_stands(given: JSON) -> None:
    data = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", **given, "spec": SPEC}
    assert main(read(data)) == data
    assert main(read(data), kind="WorkflowTemplate")["metadata"] == {"name": "workflow"}


def test_a_schedule_is_not_made_up() -> None:
    with pytest.raises(OptionError, match="needs a schedule, and this document has none"):
        couler.compile(document(), kind="CronWorkflow")


def test_older_versions_get_their_own_words() -> None:
    assert main(CRON, to="argo@3.5")["spec"]["schedule"] == "* * * * *"


def test_what_no_longer_fits_is_a_warning_of_the_bundle() -> None:
    given = document(name="w")
    stale = msgspec.structs.replace(given, natives=(Native("argo", "/spec/entrypoint", "other", "x"),))
    bundle = couler.compile(stale)
    assert [(each.code, each.severity) for each in bundle.diagnostics] == [("CLR494", "warning")]
    assert bundle.documents[0]["spec"]["entrypoint"] == "main"


def test_a_document_travels_as_ir() -> None:
    assert ir.from_json(couler.compile(CRON, to="ir").text) == CRON


def test_the_workflow_of_a_document_compiles_as_it_stands_too() -> None:
    workflow = couler.build(CRON)
    found = main(workflow)
    assert (found["kind"], found["metadata"]) == ("CronWorkflow", {"name": "nightly"})
    assert found["spec"]["workflowSpec"]["templates"] == [{"name": "main", "suspend": {"duration": "1m"}}]


def test_what_is_no_workflow_of_ours_is_not_held_against_our_rules() -> None:
    wrong = document(spec={"templates": [{"name": "a", "dag": {"tasks": [{"name": "b", "depends": "zzz"}]}}]})
    assert couler.check(wrong) == ()


def test_an_expression_of_ours_has_no_tag() -> None:
    given = document(spec={"templates": [{"name": "a", "dag": {"tasks": [{"name": "b", "when": "true"}]}}]})
    [template] = given.workflow.templates
    [task] = template.body.tasks  # type: ignore[union-attr]
    task = msgspec.structs.replace(task, when=Compare("==", Input("x"), Literal(1)))
    template = msgspec.structs.replace(template, body=msgspec.structs.replace(template.body, tasks=(task,)))
    workflow = msgspec.structs.replace(given.workflow, templates=(template,))
    with pytest.raises(DiagnosticError, match=r"CLR495.*Argo has no tag for this expression: Compare"):
        couler.compile(workflow)


def test_a_document_around_a_workflow_of_ours_keeps_its_kind_metadata_and_natives() -> None:
    ours = ir.Workflow("w", "wait", (ir.Template("wait", ir.Suspend()),), labels=(("a", "b"),))
    given = Document(
        "WorkflowTemplate",
        ours,
        metadata={"name": "other", "labels": {"c": "d"}, "finalizers": ["x"]},
        natives=(Native("argo", "/spec/priority", value=5),),
        before=({"kind": "ConfigMap"},),
    )
    first, found = couler.compile(given).documents
    assert first == {"kind": "ConfigMap"}
    assert found["kind"] == "WorkflowTemplate"
    assert found["metadata"] == {"name": "other", "labels": {"a": "b", "c": "d"}, "finalizers": ["x"]}
    assert (found["spec"]["entrypoint"], found["spec"]["priority"]) == ("wait", 5)
    assert yaml.load_all(couler.compile(given).text) == [first, found]


OF_ONE_TEMPLATE = "dns, the host's network and pull secrets of one template (`patch` has)"
GRAPH = {"templates": [{"name": "a", "dag": {"tasks": [{"name": "b", "template": "a"}]}}]}


@pytest.mark.parametrize(
    ("task", "what"),
    [
        ({"after": (After("c", "always"),)}, "the always edge from 'c' to 'b' (`depends` has)"),
        (
            {"each": Each(Literal([]), parallel=2)},
            "a bound of the fan-out 'b' or failures that it tolerates",
        ),
        ({"call": Inline(ir.Template("x", Function("f", ())))}, "a Python function"),
    ],
)
def test_what_argo_has_no_field_for_is_refused_and_never_left_out(task: JSON, what: str) -> None:
    given = document(spec=GRAPH)
    [template] = given.workflow.templates
    assert isinstance(template.body, ir.Graph)
    changed = tuple(msgspec.structs.replace(each, **task) for each in template.body.tasks)
    template = msgspec.structs.replace(template, body=msgspec.structs.replace(template.body, tasks=changed))
    assert refused(msgspec.structs.replace(given.workflow, templates=(template,))) == [what]


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"body": Loop("main", Literal(True))}, "a loop"),
        (
            {"pod": PodSettings(host_network=True)},
            "dns, the host's network and pull secrets of one template (`patch` has)",
        ),
        ({"cache": Cache()}, "a cache without a key and the name of its ConfigMap, or with a version"),
        (
            {"inputs": Inputs(artifacts=(InputArtifact("a", storage=LocalPath("/a")),))},
            "an artifact at a path of this machine",
        ),
        ({"locks": (Semaphore("s", 2),)}, "a semaphore without a ConfigMap or a database that holds its limit"),
    ],
)
def test_nor_are_settings_of_templates(settings: JSON, what: str) -> None:
    workflow = document().workflow
    [template] = workflow.templates
    templates = (msgspec.structs.replace(template, **settings),)
    assert refused(msgspec.structs.replace(workflow, templates=templates)) == [what]


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"handlers": (Handler("h", "main", "failure"),)}, "a handler on failure"),
        ({"includes": (IncludeArchive("x"),)}, "included files"),
        (
            {"pod": PodSettings(sidecars=(Container("a"),))},
            "volumes, sidecars and init containers of all pods (volumes of the workflow are others)",
        ),
    ],
)
def test_nor_are_settings_of_runs(settings: JSON, what: str) -> None:
    assert refused(msgspec.structs.replace(document().workflow, **settings)) == [what]


def refused(workflow: ir.Workflow) -> list[str]:
    """What a workflow can't be written for."""
    with pytest.raises(DiagnosticError) as caught:
        couler.compile(workflow)
    assert {each.code for each in caught.value.diagnostics} == {"CLR497"}
    return [each.message.removeprefix("Argo's own words have nothing for ") for each in caught.value.diagnostics]
