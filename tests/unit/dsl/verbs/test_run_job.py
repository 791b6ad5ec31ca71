"""`run_job` and `run_canned_step`: peers' rows of Couler's API."""

from typing import Any

import pytest

import couler_py.argo as couler
from couler_py.dsl.problems import RecordingError
from couler_py.ir import expr as ir
from couler_py.ir.model import External, OutputParameter, Resource
from couler_py.ir.pod import ConfigMapRef, FieldRef, Substitution
from couler_py.ir.storage import SecretRef
from tests.unit.dsl.verbs.programs import arguments, built, message_of, order, say, tasks, template_of, write

MANIFEST = """
apiVersion: batch/v1
kind: Job
metadata:
  generateName: rand-num-
spec:
  template:
    spec:
      containers:
      - name: rand
        image: python:3.11
        command: ["python", "random_num.py"]
        env: [{name: OLD, value: "{{x}}"}]
"""


def run(manifest: Any = MANIFEST, **settings: Any) -> list[Any]:
    return couler.run_job(manifest, "status.succeeded > 0", "status.failed > 3", step_name="job", **settings)


def resource() -> Resource:
    body = template_of(built(), "job").body
    assert isinstance(body, Resource)
    return body


def containers() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = resource().manifest.value["spec"]["template"]["spec"]["containers"]
    return found


def test_a_manifest_in_yaml_is_an_object() -> None:
    run()
    assert resource().manifest.value["metadata"] == {"generateName": "rand-num-"}
    assert (resource().success_condition, resource().failure_condition) == ("status.succeeded > 0", "status.failed > 3")


@pytest.mark.parametrize("action", ["get", "create", "apply", "delete", "replace", "patch"])
def test_the_action_is_honoured(action: str) -> None:
    run(action=action)
    assert resource().action == action


def test_an_unknown_action_is_refused() -> None:
    with pytest.raises(RecordingError, match="there is no action 'make'"):
        run(action="make")


@pytest.mark.parametrize("owned", [True, False])
def test_the_owner_reference_is_a_boolean(owned: bool) -> None:
    run(set_owner_reference=owned)
    assert resource().set_owner_reference is owned


@pytest.mark.parametrize(
    ("value", "source"),
    [
        (SecretRef("db", "password"), {"secretKeyRef": {"name": "db", "key": "password"}}),
        (SecretRef("db", "password", True), {"secretKeyRef": {"name": "db", "key": "password", "optional": True}}),
        (ConfigMapRef("app", "mode"), {"configMapKeyRef": {"name": "app", "key": "mode"}}),
        (ConfigMapRef("app", "mode", True), {"configMapKeyRef": {"name": "app", "key": "mode", "optional": True}}),
        (FieldRef("status.hostIP"), {"fieldRef": {"fieldPath": "status.hostIP"}}),
    ],
    ids=repr,
)
def test_references_in_env_are_in_the_words_of_kubernetes(value: Any, source: dict[str, Any]) -> None:
    run(env={"A": value})
    assert containers()[0]["env"][1] == {"name": "A", "valueFrom": source}


def test_env_is_added_to_every_container() -> None:
    run(env={"A": 1, "OLD": "new"})
    assert containers()[0]["env"] == [{"name": "A", "value": "1"}, {"name": "OLD", "value": "new"}]


def test_values_stand_in_arguments_and_never_in_the_manifest() -> None:
    value = write(name="make")
    run(env={"VALUE": value})
    workflow = built()
    body = resource()
    assert body.manifest.texts == (
        Substitution("/spec/template/spec/containers/0/env/1/value", ir.Text((ir.Input("env-VALUE"),))),
    )
    assert containers()[0]["env"][1] == {"name": "VALUE", "value": ""}
    assert arguments(tasks(workflow)["job"]) == {"env-VALUE": ir.TaskOutput("make", "t1-txt")}


def test_values_stand_anywhere_in_a_manifest_that_is_a_dict() -> None:
    value = write(name="make")
    run({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a/b": value[0]}})
    assert resource().manifest.texts == (Substitution("/data/a~1b", ir.Text((ir.Input("a-1b"),))),)


def test_the_manifest_given_is_not_changed() -> None:
    manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}},
    }
    run(manifest, env={"A": "1"})
    assert manifest["spec"] == {"template": {"spec": {"containers": [{"name": "c"}]}}}


def test_the_outputs_are_name_uid_and_object() -> None:
    (job,) = run()
    assert template_of(built(), "job").outputs.parameters == (
        OutputParameter("job-name", json_path="{.metadata.name}"),
        OutputParameter("job-id", json_path="{.metadata.uid}"),
        OutputParameter("job-obj", jq_filter="."),
    )
    assert [job.job_name.value, job.job_id.value, job.job_obj.value] == ["job.job-name", "job.job-id", "job.job-obj"]


def test_the_output_as_an_argument_is_one_argument() -> None:
    job = run()
    say(job, name="one")
    couler.run_container("a", args=job, step_name="two")
    workflow = built()
    assert arguments(tasks(workflow)["two"]) == {"para-0": ir.TaskOutput("job", "job-name")}
    body = template_of(workflow, "two").body
    assert len(body.args) == 1  # type: ignore[union-attr]


def test_a_deleted_object_has_no_output() -> None:
    assert isinstance(run(action="delete")[0], couler.OutputEmpty)


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("a: [", "not YAML"),
        ("just text", "no Kubernetes object"),
        (MANIFEST + "---" + MANIFEST, "2 documents"),
        (None, "no Kubernetes object"),
    ],
)
def test_what_is_no_manifest_is_refused(manifest: Any, message: str) -> None:
    with pytest.raises(RecordingError, match=message):
        run(manifest)


def test_env_of_an_object_without_containers_is_refused() -> None:
    with pytest.raises(RecordingError, match="no containers"):
        run({"apiVersion": "v1", "kind": "ConfigMap"}, env={"A": "1"})


def test_jobs_are_steps_in_order() -> None:
    say(name="before")
    run()
    assert order() == {"before": [], "job": ["before"]}


def test_a_canned_step_is_a_template_of_the_engine() -> None:
    value = write(name="make")
    couler.run_canned_step("zoo/evaluate", {"model": value, "epochs": 3}, outputs=["score"], step_name="score")
    task = tasks()["score"]
    assert task.call == External("zoo", "evaluate")
    assert arguments(task) == {"model": ir.TaskOutput("make", "t1-txt"), "epochs": ir.Literal(3)}


def test_a_canned_step_of_the_whole_cluster() -> None:
    couler.run_canned_step("cluster:zoo/evaluate")
    assert tasks()["evaluate"].call == External("zoo", "evaluate", "ClusterWorkflowTemplate")


def test_the_outputs_of_a_canned_step_are_read_by_later_steps() -> None:
    (score,) = couler.run_canned_step("zoo/evaluate", outputs="score")
    say(score, name="use")
    assert arguments(tasks()["use"]) == {"para-0": ir.TaskOutput("evaluate", "score")}


@pytest.mark.parametrize("name", ["evaluate", "/x", "zoo/"])
def test_a_canned_step_without_a_place_is_refused(name: str) -> None:
    with pytest.raises(RecordingError) as error:
        couler.run_canned_step(name)
    assert "WORKFLOW-TEMPLATE/TEMPLATE" in message_of(error)
