"""Jobs of several nodes on clusters: the objects that launchers make, their names, and what they refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest

import couler_py as couler
from couler_py.backends.airflow.resources import requirements
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.kubernetes.jobs import LAUNCHERS


def flow(**given: Any) -> Any:
    words = given.pop("words", ["python3", "fit.py"])
    given = {"name": "train", "inputs": {"lr": float}, "env": {"LR": couler.argument("lr")}} | given
    job = couler.distributed_job("trainer:1", words, **given)

    @couler.workflow
    def main(lr: float = 0.1):
        return job(lr)

    return main


def written(**given: Any) -> dict[str, Any]:
    """The templates of the Argo document, by name."""
    document = couler.compile(flow(**given), to="argo").documents[0]
    return {each["name"]: each for each in document["spec"]["templates"]}


def manifest(**given: Any) -> Any:
    """The job's object, with the tags of its one name replaced."""
    text = written(**given)["train-job"]["resource"]["manifest"]
    begin, end = text.index("{{="), text.index("}}", text.index("{{=")) + 2
    return json.loads(text.replace(text[begin:end], "NAME"), strict=False)


def test_a_job_is_a_service_whose_name_all_bear_the_job_and_a_report() -> None:
    templates = written(nodes=2, processes=4, outputs={"loss": float})
    tasks = {each["name"]: each for each in templates["train"]["dag"]["tasks"]}
    assert [name for name in tasks if name in ("service", "job", "report")] == ["service", "job", "report"]
    made = json.loads(templates["train-service"]["resource"]["manifest"])
    assert made["metadata"]["generateName"] == "train-"
    assert made["spec"]["clusterIP"] == "None"
    for name in ("train-service", "train-job"):
        assert templates[name]["resource"]["setOwnerReference"] is True


def test_an_indexed_job_has_an_index_for_each_node_and_its_pods_resolve_each_other() -> None:
    job = manifest(nodes=2, processes=4, max_restarts=3)
    spec = job["spec"]
    assert (spec["completions"], spec["parallelism"], spec["completionMode"]) == (2, 2, "Indexed")
    assert (spec["backoffLimitPerIndex"], spec["maxFailedIndexes"]) == (3, 0)
    assert spec["template"]["spec"]["subdomain"] == "NAME"
    assert "successPolicy" not in spec


def test_a_job_set_begins_nodes_again_as_often_as_a_job_does_and_ends_with_the_time_that_it_has() -> None:
    given = {"nodes": 2, "max_restarts": 3, "timeout": "90s"}
    job, whole = manifest(**given)["spec"], manifest(launcher="jobset", **given)["spec"]
    inside = whole["replicatedJobs"][0]["template"]["spec"]
    for name in ("backoffLimitPerIndex", "maxFailedIndexes", "activeDeadlineSeconds"):
        assert inside[name] == job[name]
    assert (inside["backoffLimitPerIndex"], inside["activeDeadlineSeconds"]) == (3, 90)
    assert whole["failurePolicy"] == {"maxRestarts": 0}


def test_the_words_of_the_command_are_arguments_of_the_shell_and_never_its_text() -> None:
    words = ["python3", "-c", "print('$(rm -rf /)')", "; true"]
    command = manifest(words=words)["spec"]["template"]["spec"]["containers"][0]["command"]
    assert command[:2] == ["sh", "-c"]
    assert command[3:6] == ["couler", "python3", "-c"]
    assert command[7] == "; true"
    assert "rm -rf" not in command[2]


def test_an_elastic_job_is_done_when_the_node_that_hosts_the_meeting_is() -> None:
    spec = manifest(nodes=4, elastic=(2, 4))["spec"]
    assert spec["maxFailedIndexes"] == 2
    assert spec["successPolicy"] == {"rules": [{"succeededIndexes": "0"}]}


@pytest.mark.parametrize(
    ("launcher", "framework", "kind", "nodes"),
    [
        ("indexed-job", "torch", "Job", lambda spec: spec["completions"]),
        (
            "jobset",
            "generic",
            "JobSet",
            lambda spec: spec["replicatedJobs"][0]["template"]["spec"]["completions"],
        ),
        (
            "pytorchjob",
            "torch",
            "PyTorchJob",
            lambda spec: sum(each["replicas"] for each in spec["pytorchReplicaSpecs"].values()),
        ),
        ("trainjob", "torch", "TrainJob", lambda spec: spec["trainer"]["numNodes"]),
        ("mpijob", "mpi", "MPIJob", lambda spec: spec["mpiReplicaSpecs"]["Worker"]["replicas"]),
        (
            "rayjob",
            "generic",
            "RayJob",
            lambda spec: 1 + spec["rayClusterSpec"]["workerGroupSpecs"][0]["replicas"],
        ),
        ("sparkapplication", "generic", "SparkApplication", lambda spec: spec["executor"]["instances"]),
    ],
)
def test_every_launcher_runs_all_nodes_in_a_queue_of_kueue(
    launcher: str, framework: str, kind: str, nodes: Any
) -> None:
    made = manifest(launcher=launcher, framework=framework, nodes=3, processes=2, queue="team-a")
    assert made["kind"] == kind
    assert made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "team-a"
    assert nodes(made["spec"]) == 3


@pytest.mark.parametrize("name", LAUNCHERS)
def test_conditions_are_such_that_every_engine_reads_them(name: str) -> None:
    assert requirements(LAUNCHERS[name].succeeds)
    assert requirements(LAUNCHERS[name].fails)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"launcher": "slurm"}, "there is no launcher 'slurm'"),
        ({"framework": "mpi", "launcher": "pytorchjob"}, "pytorchjob doesn't run jobs of mpi"),
        ({"launcher": "jobset", "nodes": 2, "elastic": (1, 2)}, "jobset runs a fixed number of nodes"),
        ({"framework": "tensorflow", "processes": 2}, "a worker of TensorFlow is a node of its own"),
        ({"outputs": {"out": couler.stdout()}}, "several processes print"),
        ({"outputs": {"model": couler.file_at("/tmp/model")}}, "files don't go to or from the pods of a job"),
        (
            {"framework": "generic", "launcher": "sparkapplication", "outputs": {"loss": float}},
            "sparkapplication says nothing of what its processes leave",
        ),
        (
            {"framework": "generic", "launcher": "rayjob", "words": ["python3", couler.argument("lr")]},
            "Ray's entrypoint is read by a shell",
        ),
    ],
)
def test_what_a_launcher_cannot_do_is_said_with_the_way_out(given: dict[str, Any], message: str) -> None:
    with pytest.raises(DiagnosticError, match="CLR286") as caught:
        couler.compile(flow(**given), to="argo")
    [found] = caught.value.diagnostics
    assert message in found.message
    assert found.help


def test_a_job_that_cant_have_fewer_nodes_is_refused_where_it_is_checked() -> None:
    with pytest.raises(DiagnosticError, match="CLR285") as caught:
        couler.compile(flow(framework="tensorflow", nodes=2, elastic=(1, 2)), to="argo")
    assert "nothing runs a job of tensorflow with fewer nodes" in caught.value.diagnostics[0].message


def test_this_machine_runs_no_elastic_job_but_torchs() -> None:
    with pytest.raises(DiagnosticError, match="CLR286") as caught:
        couler.run(flow(framework="generic", launcher="rayjob", nodes=2, elastic=(1, 2)))
    [found] = caught.value.diagnostics
    assert found.message == "train: this machine runs a fixed number of processes of generic"


def test_on_airflow_the_same_objects_are_made_by_its_resource_operators() -> None:
    [text] = couler.compile(flow(outputs={"loss": float}), to="airflow").files.values()
    assert 'resource("service", TRAIN_SERVICE)' in text
    assert '"kind": "Job"' in text


def test_the_same_program_gives_the_same_bytes() -> None:
    assert couler.compile(flow(), to="argo").files == couler.compile(flow(), to="argo").files
