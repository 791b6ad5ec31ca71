"""Files: which documents are read, what is said about them, and how what can't be read is refused."""

from __future__ import annotations

import pytest

from couler_py.backends import argo, yaml
from couler_py.backends.argo.document import load, load_all, loaded
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.model import Source

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n"


def named(kind: str, name: str) -> str:
    return f"apiVersion: argoproj.io/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\nspec: {{}}\n"


def stream(*documents: str) -> str:
    return "---\n".join(documents)


# ---- several documents


@pytest.mark.parametrize(
    ("kinds", "main"),
    [
        (("Workflow", "WorkflowTemplate"), "Workflow"),
        (("Workflow", "CronWorkflow", "ClusterWorkflowTemplate"), "CronWorkflow"),
        (("WorkflowTemplate", "ClusterWorkflowTemplate"), "ClusterWorkflowTemplate"),
    ],
)
def test_the_main_document_is_the_last_that_makes_runs_else_the_last(kinds: tuple[str, ...], main: str) -> None:
    text = stream(*(named(kind, kind.lower()) for kind in kinds), CONFIG.format("c"))
    found = load(text)
    assert found.kind == main
    around = [each["kind"] for each in found.before + found.after]
    assert sorted(around) == sorted([*(kind for kind in kinds if kind != main), "ConfigMap"])
    assert argo.dump(found) == text


def test_documents_of_other_kinds_travel_with_the_next_one_and_the_last_with_the_last() -> None:
    text = stream(
        CONFIG.format("a"),
        named("WorkflowTemplate", "b"),
        CONFIG.format("c"),
        named("Workflow", "d"),
        CONFIG.format("e"),
    )
    first, second = load_all(text)
    assert [each["metadata"]["name"] for each in first.before] == ["a"]
    assert first.after == ()
    assert [each["metadata"]["name"] for each in (*second.before, *second.after)] == ["c", "e"]
    assert argo.dump((first, second)) == text


# ---- what is said


def test_a_field_that_argo_does_not_know_is_named_with_its_place_and_kept() -> None:
    text = named("Workflow", "w").replace("{}", "\n  entrypoint: main\n  templates:\n  - name: main\n    contaner: {}")
    documents, diagnostics = loaded(text, file="w.yaml")
    assert [(each.code, each.severity, str(each.source), each.message) for each in diagnostics] == [
        ("CLR492", "warning", "w.yaml:9:5", "spec.templates[0].contaner: Argo knows no such field")
    ]
    assert yaml.load(argo.dump(documents)) == yaml.load(text)
    assert load(text) == documents[0]


EXPORTED = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  name: w
  uid: a
  resourceVersion: "5"
  creationTimestamp: "2024-01-01T00:00:00Z"
  generation: 1
  selfLink: /x
  managedFields: []
  finalizers: [x]
spec: {}
status:
  phase: Succeeded
"""


def test_what_a_cluster_added_is_set_aside_and_said() -> None:
    [document], diagnostics = loaded(EXPORTED)
    assert yaml.load(argo.dump(document)) == {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "w", "finalizers": ["x"]},
        "spec": {},
    }
    assert [(each.code, each.severity, each.message) for each in diagnostics] == [
        ("CLR493", "note", f"{field} is set aside")
        for field in (
            "status",
            "metadata.managedFields",
            "metadata.uid",
            "metadata.resourceVersion",
            "metadata.creationTimestamp",
            "metadata.generation",
            "metadata.selfLink",
        )
    ]
    assert [each.source for each in diagnostics][:2] == [Source("", 13, 1), Source("", 10, 3)]


def test_the_deepest_document_that_is_read_is_written() -> None:
    text = named("Workflow", "w").replace("{}", "{x: " + "{a: " * 126 + "}" * 126 + "}")
    assert yaml.load(argo.dump(load(text))) == yaml.load(text)


# ---- what is refused


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (
            named("Workflow", "w").replace("{}", "{templates: 5}"),
            [("CLR491", "5:8", "spec.templates: expected a list")],
        ),
        (named("Workflow", "w").replace("{}", "5"), [("CLR491", "5:1", "spec: expected an object")]),
        (
            named("Workflow", "w").replace("{}", "\n  entrypoint: [a]\n  templates:\n  - name: {}\n  - 5"),
            [
                ("CLR491", "6:3", "spec.entrypoint: expected a single value"),
                ("CLR491", "8:5", "spec.templates[0].name: expected a single value"),
                ("CLR491", "9:5", "spec.templates[1]: expected an object"),
            ],
        ),
        (
            named("Workflow", "w").replace("{}", "{x: " + "[" * 127 + "]" * 127 + "}"),
            [("CLR491", "5:1", "spec: expected at most 128 collections in each other")],
        ),
        (
            named("Workflow", "w") + "---\n" + named("WorkflowTemplate", "v").replace("{}", "{templates: {}}"),
            [("CLR491", "11:8", "spec.templates: expected a list")],
        ),
        (CONFIG.format("c"), [("CLR490", "1:1", "the kind 'ConfigMap' is none that is read")]),
        ("", [("CLR490", "1:1", "this is nothing, and no document of Argo Workflows")]),
        ("[1]", [("CLR490", "1:1", "this is a list, and no document of Argo Workflows")]),
        ("a: b\n", [("CLR490", "1:1", "the kind None is none that is read")]),
        (
            named("Workflow", "w") + "---\nhello\n",
            [("CLR490", "7:1", "this is a str, and no document of Argo Workflows")],
        ),
        (
            "apiVersion: tekton.dev/v1\nkind: Workflow\n",
            [("CLR490", "1:1", "the API version 'tekton.dev/v1' is none of Argo Workflows'")],
        ),
    ],
)
def test_what_can_not_be_read_is_refused_with_every_place(text: str, places: list[tuple[str, str, str]]) -> None:
    with pytest.raises(DiagnosticError) as caught:
        load(text, file="f.yaml")
    found = [(each.code, str(each.source), each.message) for each in caught.value.diagnostics]
    assert found == [(code, f"f.yaml:{place}", message) for code, place, message in places]


def test_text_that_is_not_yaml_is_refused_with_its_place() -> None:
    with pytest.raises(yaml.YamlError, match=r"line 5, column 1: the key 'kind' stands twice.*first on line 2"):
        load(named("Workflow", "w").replace("spec", "kind"))


def test_dates_and_sexagesimals_stay_text() -> None:
    text = named("Workflow", "w").replace(
        "{}", "\n  arguments:\n    parameters:\n    - {name: a, value: 2024-01-01}\n    - {name: b, value: 1:30}"
    )
    assert [each.default for each in load(text).workflow.parameters] == ["2024-01-01", "1:30"]


# ---- how it is written


def test_fields_are_written_in_one_order() -> None:
    text = """\
spec:
  templates:
  - container:
      args: [x]
      image: a
    volumes: []
    inputs:
      parameters: [{value: "1", name: p}]
    name: main
    unknown: 1
  entrypoint: main
  arguments: {}
metadata: {labels: {z: "1", a: "2"}, name: w}
kind: Workflow
apiVersion: argoproj.io/v1alpha1
"""
    assert (
        argo.dump(load(text))
        == """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  name: w
  labels:
    z: "1"
    a: "2"
spec:
  entrypoint: main
  arguments: {}
  templates:
  - name: main
    volumes: []
    inputs:
      parameters:
      - name: p
        value: "1"
    container:
      image: a
      args:
      - x
    unknown: 1
"""
    )


def test_a_workflow_of_the_dialect_argo_is_written_as_a_run_of_its_own() -> None:
    workflow = load(named("WorkflowTemplate", "w")).workflow
    assert argo.dump(workflow) == (
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata:\n  generateName: w-\nspec: {}\n"
    )
