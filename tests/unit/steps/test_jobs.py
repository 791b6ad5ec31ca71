"""What operators on clusters are given: kinds, fields, and when a job counts as done."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
from couler_py.steps import katib, mpi, pytorch, spark, tensorflow
from couler_py.steps.jobs import JobError

TRIAL = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "spec": {"template": {"spec": {"containers": [{"name": "main", "args": ["--lr=${trialParameters.lr}"]}]}}},
}
AIM: Any = {"type": "maximize", "metric_name": "accuracy"}


def made(call: Any) -> Any:
    """The body of the one step that a call makes."""

    @couler.workflow
    def flow():
        call()

    (body,) = (template.body for template in couler.build(flow).templates if template.name != "flow")
    return body


def object_of(call: Any) -> Any:
    """The object that a job becomes on Argo, its one name left as it is."""

    @couler.workflow
    def flow():
        call()

    templates = couler.compile(flow, to="argo").documents[0]["spec"]["templates"]
    [text] = [each["resource"]["manifest"] for each in templates if each["name"].endswith("-job")]
    return json.loads(re.sub(r"\{\{=.*?\}\}", "NAME", text), strict=False)


def test_a_job_of_tensorflow_is_one_of_several_nodes_with_roles() -> None:
    job = made(lambda: tensorflow.train("tf:1", "python a.py", num_workers=2, num_ps=1, resources={"cpu": 2}))
    assert (job.framework, job.nodes, job.launcher) == ("tensorflow", 3, "tfjob")
    assert [(role.name, role.nodes, role.container) for role in job.roles] == [("worker", 2, None), ("ps", 1, None)]
    assert job.container.command == ("sh", "-c", "python a.py")
    assert job.container.resources.cpu == "2"


def test_a_tfjob_without_a_chief_is_done_when_all_its_workers_are() -> None:
    spec = object_of(lambda: tensorflow.train("tf:1", ["a"], num_workers=2, num_ps=1))["spec"]
    assert spec["successPolicy"] == "AllWorkers"
    assert {role: each["replicas"] for role, each in spec["tfReplicaSpecs"].items()} == {"Worker": 2, "PS": 1}
    assert "successPolicy" not in object_of(lambda: tensorflow.train("tf:1", ["a"], num_chiefs=1))["spec"]


def test_each_role_has_its_own_image_command_resources_and_restart_policy() -> None:
    spec = object_of(
        lambda: tensorflow.train(
            "tf:1",
            ["a"],
            num_ps=1,
            resources={"cpu": 4, "nvidia.com/gpu": 1},
            ps_image="ps:1",
            ps_command=["serve"],
            ps_resources="cpu=1,memory=2048",
            ps_restart_policy="Always",
            clean_pod_policy="All",
        )
    )["spec"]
    worker, ps = spec["tfReplicaSpecs"]["Worker"], spec["tfReplicaSpecs"]["PS"]
    assert (spec["runPolicy"]["cleanPodPolicy"], worker["restartPolicy"], ps["restartPolicy"]) == (
        "All",
        "Never",
        "Always",
    )
    [container] = ps["template"]["spec"]["containers"]
    assert (container["image"], container["command"][-1]) == ("ps:1", "serve")
    assert container["resources"]["requests"] == {"cpu": "1", "memory": "2048Mi"}
    assert worker["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"


def test_tensorflow_without_an_operator_is_an_indexed_job_that_is_done_when_its_chief_is() -> None:
    spec = object_of(
        lambda: tensorflow.train("tf:1", ["a"], num_chiefs=1, num_workers=2, num_ps=1, launcher="indexed-job")
    )["spec"]
    assert spec["completions"] == 4
    assert spec["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}
    [container] = spec["template"]["spec"]["containers"]
    assert {"name": "COULER_ROLES", "value": "chief:1 worker:2 ps:1"} in container["env"]


def test_the_shell_of_a_node_says_its_role_in_tf_config(tmp_path: Path) -> None:
    spec = object_of(
        lambda: tensorflow.train("tf:1", ["a"], num_chiefs=1, num_workers=2, num_evaluators=1, launcher="indexed-job")
    )["spec"]
    [container] = spec["template"]["spec"]["containers"]
    told = {each["name"]: each["value"] for each in container["env"] if "value" in each}
    text = container["command"][2].replace("/tmp/couler", str(tmp_path))
    show = ["sh", "-c", text, "couler", sys.executable, "-c", "import os; print(os.environ['TF_CONFIG'])"]
    for node, (role, index) in enumerate([("chief", 0), ("worker", 0), ("worker", 1), ("evaluator", 0)]):
        done = subprocess.run(
            show, env={**os.environ, **told, "COULER_NODE": str(node)}, capture_output=True, text=True
        )
        assert json.loads(done.stdout) == {
            "cluster": {"chief": ["NAME0.NAME:29400"], "worker": ["NAME1.NAME:29400", "NAME2.NAME:29400"]},
            "task": {"type": role, "index": index},
        }


def test_a_pytorchjob_has_a_master_and_workers() -> None:
    spec = object_of(
        lambda: pytorch.train(
            "t:1", ["python", "a.py"], num_workers=3, master_resources={"cpu": 1}, processes_per_node=2
        )
    )["spec"]
    replicas = spec["pytorchReplicaSpecs"]
    assert (spec["nprocPerNode"], replicas["Worker"]["replicas"]) == ("2", 3)
    assert replicas["Master"]["template"]["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1"}
    assert "resources" not in replicas["Worker"]["template"]["spec"]["containers"][0]


def test_a_job_of_torch_whose_nodes_are_alike_runs_by_any_launcher() -> None:
    job = made(lambda: pytorch.train("t:1", ["python", "a.py"], num_workers=1, launcher="trainjob", elastic=None))
    assert (job.nodes, job.roles) == (2, ())
    spec = object_of(lambda: pytorch.train("t:1", ["python", "a.py"], num_workers=1, launcher="trainjob"))["spec"]
    assert spec["trainer"]["numNodes"] == 2


def test_secrets_are_references_and_claims_are_mounted_once() -> None:
    token = couler.secret("wandb", "API_KEY")
    spec = object_of(
        lambda: pytorch.train("t:1", ["a"], secrets=[token], env={"N": 1}, claims={"/data": "pvc", "/more": "pvc"})
    )["spec"]
    pod = spec["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    assert pod["containers"][0]["env"][1:] == [
        {"name": "N", "value": "1"},
        {"name": "API_KEY", "valueFrom": {"secretKeyRef": {"name": "wandb", "key": "API_KEY"}}},
    ]
    assert pod["volumes"] == [{"name": "claim-0", "persistentVolumeClaim": {"claimName": "pvc"}}]
    assert [each["mountPath"] for each in pod["containers"][0]["volumeMounts"]] == ["/data", "/more"]


def test_an_mpijob_starts_its_command_by_mpirun_in_a_pod_of_its_own() -> None:
    spec = object_of(
        lambda: mpi.train("h:1", ["a"], num_workers=2, slots_per_worker=4, resources={"gpu": 1}, launcher_image="l:1")
    )["spec"]
    worker = spec["mpiReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
    launcher = spec["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"][0]
    assert spec["slotsPerWorker"] == 4
    assert "command" not in worker
    assert (launcher["image"], launcher["command"][-4:]) == ("l:1", ["mpirun", "-n", "8", "a"])


def test_a_job_of_an_operator_runs_here_too_with_what_rank_0_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path))
    says = """
import json, os
told = json.loads(os.environ["TF_CONFIG"])
if told["task"]["type"] == "chief":
    open("/tmp/couler/outputs/nodes", "w").write(str(len(told["cluster"]["worker"]) + 1))
"""

    @couler.workflow
    def flow() -> dict[str, Any]:
        command = [sys.executable, "-c", says]
        return {"nodes": tensorflow.train("tf:1", command, num_chiefs=1, outputs={"nodes": int})}

    assert couler.run(flow, check=True).outputs == {"nodes": 2}


def test_a_spark_application_takes_values_of_the_workflow_as_arguments() -> None:
    body = made(lambda: spark.submit("s:1", "local:///a.py", ["--n", 3], executors=4, conf={"spark.ui.enabled": "no"}))
    spec = body.manifest.value["spec"]
    assert (spec["type"], spec["arguments"], spec["executor"]["instances"]) == ("Python", ["--n", "3"], 4)
    assert body.failure_condition == "status.applicationState.state in (FAILED, SUBMISSION_FAILED)"


def test_ranges_of_katib_are_written_as_they_are() -> None:
    settings: Any = [{"name": "lr", "range": [0.01, 0.05]}]
    spec = made(lambda: katib.run(TRIAL, settings, AIM)).manifest.value["spec"]
    assert spec["parameters"] == [
        {"name": "lr", "parameterType": "double", "feasibleSpace": {"min": "0.01", "max": "0.05"}}
    ]
    assert spec["trialTemplate"]["trialParameters"] == [{"name": "lr", "reference": "lr"}]
    assert spec["trialTemplate"]["primaryContainerName"] == "main"


def test_a_search_with_a_goal_is_done_when_katib_says_so() -> None:
    settings: Any = [{"name": "lr", "range": [0.01, 0.05]}]
    body = made(lambda: katib.run(TRIAL, settings, {**AIM, "goal": 0.9}))
    assert body.success_condition == "status.completionTime"
    assert body.failure_condition.startswith("status.conditions.0.type = Failed, status.conditions.1.type = Failed")


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({"range": [1, 9], "step": 2}, ("int", {"min": "1", "max": "9", "step": "2"})),
        ({"range": [1e-5, 1.0], "log": True}, ("double", {"min": "1e-05", "max": "1.0", "distribution": "logUniform"})),
        ({"values": [16, 32]}, ("discrete", {"list": ["16", "32"]})),
        ({"range": [1, 9], "type": "double"}, ("double", {"min": "1", "max": "9"})),
        ({"values": ["sgd", "adam"]}, ("categorical", {"list": ["sgd", "adam"]})),
    ],
)
def test_settings_of_katib(setting: Any, expected: Any) -> None:
    found = made(lambda: katib.run(TRIAL, [{"name": "lr", **setting}], AIM)).manifest.value["spec"]["parameters"][0]
    assert (found["parameterType"], found["feasibleSpace"]) == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tensorflow.train("tf:1", "a", num_workers=0), "at least one worker or a chief"),
        (lambda: tensorflow.train("", "a"), "a job has an image"),
        (lambda: tensorflow.train("tf:1"), "a job has a command"),
        (lambda: tensorflow.train("tf:1", "a", resources="cpus=2"), "'cpus=2' is no resource"),
        (lambda: pytorch.train("t:1", ["torchrun", "a.py"]), "starts its processes by torchrun itself"),
        (lambda: mpi.train("h:1", "mpirun -n 4 a"), "starts its processes by mpirun itself"),
        (lambda: mpi.train("h:1", "a", num_workers=0), "at least one worker"),
        (lambda: spark.submit("s:1", "a", executors=0), "at least one executor"),
        (lambda: katib.run(TRIAL, [{"name": "size", "range": [1, 2]}], AIM), "size would do nothing"),
        (lambda: katib.run(TRIAL, [{"name": "lr", "range": [2, 1]}], AIM), "lr has neither values nor a range"),
        (lambda: katib.run(TRIAL, [{"name": "lr", "values": [1]}], AIM, parallel_trial_count=20), "no more of them"),
        (lambda: katib.run("{{- with .HyperParameters}}", [], AIM), "one of Go's"),
        (lambda: katib.run({**TRIAL, "kind": "TFJob", "spec": {}}, [], AIM), "a TFJob has no container of its own"),
    ],
)
def test_a_job_that_cant_be_is_refused(call: Any, message: str) -> None:
    with pytest.raises(JobError, match=message):
        made(call)
