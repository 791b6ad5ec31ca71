"""Documents of Argo 4 in the words of 3.5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given

from couler_py.backends import yaml as argo_yaml
from couler_py.backends.argo.backend import compile_workflow
from couler_py.backends.argo.lint.fix import fix
from couler_py.backends.argo.options import Options
from couler_py.backends.argo.verify import verify
from couler_py.backends.argo.versions import lowered
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.model import Workflow
from tests.strategies import workflows

HELLO = {"name": "hello", "container": {"image": "busybox"}}


def workflow(*templates: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "w"},
        "spec": {"entrypoint": "hello", **spec, "templates": [HELLO, *templates]},
    }


def cron(*schedules: str, name: str = "nightly", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "CronWorkflow",
        "metadata": {"name": name},
        "spec": {"schedules": [*schedules], **spec, "workflowSpec": workflow()["spec"]},
    }


def older(document: dict[str, Any]) -> tuple[list[dict[str, Any]], list[tuple[str, str, str]]]:
    """The lowered documents, and severity, step and message of what was found."""
    made, found = lowered([document], "3.5")
    return made, [(each.severity, each.step, each.message) for each in found]


def mended(documents: list[dict[str, Any]]) -> list[Any]:
    """The way back to Argo 4: what `couler lint --fix` makes of the documents' file."""
    return argo_yaml.load_all(fix(argo_yaml.dump_all(documents)))


def test_version_4_and_documents_of_other_kinds_stay_as_they_are() -> None:
    config = {"kind": "ConfigMap", "data": {"cap": "1"}}
    assert lowered([cron("@daily")], "4") == ([cron("@daily")], [])
    assert lowered([config], "3.5") == ([config], [])


@pytest.mark.parametrize("spec", [None, {}, {"schedules": None}, {"schedules": []}, {"workflowSpec": None}])
def test_a_schedule_that_says_nothing_stays_so(spec: dict[str, Any] | None) -> None:
    document = {"apiVersion": "argoproj.io/v1alpha1", "kind": "CronWorkflow", "metadata": None, "spec": spec}
    [made], found = lowered([document], "3.5")
    assert "schedule" not in (made["spec"] or {})
    assert found == []


def test_a_schedule_is_said_in_the_singular() -> None:
    made, found = older(cron("0 3 * * *", concurrencyPolicy="Forbid"))
    assert found == []
    assert list(made[0]["spec"]) == ["schedule", "concurrencyPolicy", "workflowSpec"]
    assert made[0]["spec"]["schedule"] == "0 3 * * *"
    assert made[0]["metadata"] == {"name": "nightly"}


def test_several_schedules_are_several_cron_workflows() -> None:
    made, found = older(cron("0 3 * * *", "0 15 * * *", timezone="Europe/Berlin"))
    assert found == []
    assert [(each["metadata"]["name"], each["spec"]["schedule"]) for each in made] == [
        ("nightly-1", "0 3 * * *"),
        ("nightly-2", "0 15 * * *"),
    ]
    assert verify(made, version="3.5") == []


def test_the_names_of_several_cron_workflows_leave_room_for_the_time_of_a_run() -> None:
    made, _ = older(cron(*(f"{minute} * * * *" for minute in range(12)), name="n" * 52))
    names = [each["metadata"]["name"] for each in made]
    assert (names[0], names[11]) == ("n" * 49 + "-01", "n" * 49 + "-12")


def test_several_schedules_whose_runs_look_at_each_other_are_refused() -> None:
    made, found = older(cron("0 3 * * *", "0 15 * * *", concurrencyPolicy="Replace"))
    assert found == [("error", "", "Argo 3.5 takes one cron expression, and spec.schedules has 2")]
    assert [each["spec"]["schedule"] for each in made] == ["0 3 * * *"]


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ({"mutexes": [{"name": "m"}]}, {"mutex": {"name": "m"}}),
        ({"mutexes": [{"name": "m", "namespace": "n"}]}, {"mutex": {"name": "m", "namespace": "n"}}),
        (
            {"semaphores": [{"configMapKeyRef": {"name": "c", "key": "k"}}]},
            {"semaphore": {"configMapKeyRef": {"name": "c", "key": "k"}}},
        ),
    ],
)
def test_one_lock_is_said_in_the_singular_and_back(new: dict[str, Any], old: dict[str, Any]) -> None:
    document = workflow({"name": "locked", "suspend": {}, "synchronization": new}, synchronization=new)
    [made], found = lowered([document], "3.5")
    assert found == []
    assert made["spec"]["synchronization"] == made["spec"]["templates"][1]["synchronization"] == old
    assert verify([made], version="3.5") == []
    assert mended([made]) == [document]


def test_two_locks_at_once_are_refused_with_their_template() -> None:
    both = {"mutexes": [{"name": "m"}], "semaphores": [{"configMapKeyRef": {"name": "c", "key": "k"}}]}
    _, found = older(workflow({"name": "locked", "suspend": {}, "synchronization": both}))
    assert found == [
        ("error", "locked", "Argo 3.5 takes one lock, and spec.templates[1].synchronization has 2"),
    ]


@pytest.mark.parametrize(
    ("template", "place"),
    [
        ({"synchronization": {"mutexes": [{"name": "m", "database": True}]}}, "synchronization.mutexes[0].database"),
        ({"retryStrategy": {"backoff": {"duration": "1", "cap": "9"}}}, "retryStrategy.backoff.cap"),
        ({"pendingTimeout": "5m"}, "pendingTimeout"),
        ({"sidecars": [{"name": "s", "image": "i", "restartPolicy": "Always"}]}, "sidecars[0].restartPolicy"),
        ({"outputs": {"artifacts": [{"name": "a", "plugin": {"name": "p"}}]}}, "outputs.artifacts[0].plugin"),
        ({"inputs": {"artifacts": [{"name": "a", "git": {"insecureSkipTLS": True}}]}},
         "inputs.artifacts[0].git.insecureSkipTLS"),
        ({"volumes": [{"name": "v", "image": {"reference": "i"}}]}, "volumes[0].image"),
    ],
)  # fmt: skip
def test_a_field_that_3_5_would_drop_is_refused_and_left_out(template: dict[str, Any], place: str) -> None:
    [made], found = lowered([workflow({"name": "t", "suspend": {}, **template})], "3.5")
    assert [(each.code, each.severity, each.step, each.message) for each in found] == [
        ("CLR414", "error", "t", f"Argo 3.5 has no spec.templates[1].{place}")
    ]
    assert "or later" in found[0].help
    name = place.rpartition(".")[2]
    assert f"'{name}'" not in str(made["spec"]["templates"][1])


def test_a_cron_workflows_condition_and_stop_strategy_are_refused() -> None:
    document = cron("@daily", when="{{= cronworkflow.failed < 3 }}", stopStrategy={"expression": "true"})
    made, found = older(document)
    assert [message for _, _, message in found] == ["Argo 3.5 has no spec.when", "Argo 3.5 has no spec.stopStrategy"]
    assert verify(made, version="3.5") == []


def test_the_text_that_only_people_see_is_left_out_with_a_warning() -> None:
    annotated = {"name": "t", "annotations": {"workflows.argoproj.io/title": "T"}, "suspend": {}}
    [made], found = older(workflow(annotated))
    assert found == [("warning", "t", "spec.templates[1].annotations is left out: Argo has it since 3.7")]
    assert made["spec"]["templates"][1] == {"name": "t", "suspend": {}}


def test_names_of_the_users_own_are_no_fields() -> None:
    template = {
        "name": "t",
        "metadata": {"labels": {"resizePolicy": "x"}, "annotations": {"podResources": "y"}},
        "plugin": {"mine": {"backoff": {"cap": 1}}},
    }
    task = {"name": "a", "template": "t", "withItems": [{"restartPolicy": "never"}]}
    document = workflow(template, {"name": "d", "dag": {"tasks": [task]}})
    assert older(document) == ([document], [])


def test_the_given_documents_stay_as_they_are() -> None:
    document = cron("@daily", when="true")
    lowered([document], "3.5")
    assert document == cron("@daily", when="true")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("flatten([[1], [2]])[0]", "Argo 3.5 has no function flatten, which stands in {}"),
        ("join(uniq(['a']), ',')", "Argo 3.5 has no function uniq, which stands in {}"),
        ("if true {1} else {2}", "Argo 3.5 knows no if {{}} else {{}} in an expression, and one stands in {}"),
        ("filter([1], # > 0)", "the expression in {} gives a list or an object, which Argo 3.5 writes in Go's words"),
        ("[1, 2]", "the expression in {} gives a list or an object, which Argo 3.5 writes in Go's words"),
    ],
)
def test_an_expression_that_3_5_reads_otherwise_is_a_finding(expression: str, message: str) -> None:
    given = {"name": "p", "value": "{{=" + expression + "}}"}
    document = workflow({"name": "t", "steps": [[{"name": "s", "template": "hello", "when": given["value"]}]]})
    _, found = lowered([document], "3.5")
    place = "spec.templates[1].steps[0][0].when"
    assert [(each.code, each.step, each.message) for each in found] == [("CLR415", "t", message.format(place))]


@pytest.mark.parametrize(
    "expression",
    [
        "'flatten(x)'",
        "sprig.uniq(x) == nil",
        "[1, 2][0]",
        "toJson([1, 2])",
        "len(filter([1], # > 0)) == 1",
        "x ? 1 : 2",
    ],
)
def test_an_expression_that_both_read_alike_is_none(expression: str) -> None:
    document = workflow({"name": "t", "suspend": {"duration": "{{=" + expression + "}}"}})
    assert older(document) == ([document], [])


def test_a_template_reference_by_a_tag_is_refused() -> None:
    task = {"name": "a", "templateRef": {"name": "{{workflow.parameters.lib}}", "template": "t"}}
    _, found = older(workflow({"name": "d", "dag": {"tasks": [task]}}))
    assert found == [("error", "d", "Argo 3.5 takes no tag in spec.templates[1].dag.tasks[0].templateRef.name")]


def test_argos_own_examples_are_taken_by_3_5_or_say_what_it_lacks(reference_data: Path) -> None:
    lacking: set[str] = set()
    for path in sorted((reference_data / "argo" / "examples").rglob("*.yaml")):
        documents = [each for each in yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader) if each]
        made, found = lowered(documents, "3.5")
        assert verify(made, version="3.5") == [], path.name
        if found:
            lacking.add(path.name)
        elif len(made) == len(documents):
            assert mended(made) == documents, path.name
    assert {"retry-backoff.yaml", "cron-when.yaml", "synchronization-db-mutex-tmpl-level.yaml"} <= lacking


@given(workflows())
def test_what_is_emitted_is_taken_by_3_5_or_says_what_it_lacks(workflow: Workflow) -> None:
    try:
        bundle = compile_workflow(workflow, Options(version="3.5"))
    except DiagnosticError:
        return
    assert verify(bundle.documents, version="3.5") == []
