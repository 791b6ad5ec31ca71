"""Jobs of operators that somebody has installed: Kubeflow's, Ray's and Spark's.

Sources: github.com/kubeflow/training-operator v1.8.1 (PyTorchJob), github.com/kubeflow/trainer v2.0.0 (TrainJob),
github.com/kubeflow/mpi-operator (v2beta1), docs.ray.io/en/latest/cluster/kubernetes (RayJob v1), and
kubeflow.github.io/spark-operator/docs/api-docs (v1beta2).
"""

from __future__ import annotations

import shlex
from typing import Any

from couler_py.ir.model import DistributedJob, JobRole
from couler_py.ir.quantity import quantity
from couler_py.kubernetes.jobs.launcher import KEPT, Launcher, Plan
from couler_py.kubernetes.jobs.pods import plain, reporting, template


def run_policy(plan: Plan) -> dict[str, Any]:
    found: dict[str, Any] = {"cleanPodPolicy": plan.job.clean_pods or "Running", "backoffLimit": plan.job.max_restarts}
    found["ttlSecondsAfterFinished"] = KEPT
    if plan.deadline is not None:
        found["activeDeadlineSeconds"] = max(1, round(plan.deadline))
    if plan.job.queue:
        found["schedulingPolicy"] = {"queue": plan.job.queue}
    return found


def _torchrun(plan: Plan, main: dict[str, Any]) -> dict[str, Any]:
    """The command under torchrun, which reads from the environment what the operator says (PET_*)."""
    restarts = f"--max-restarts={plan.job.max_restarts}"
    return reporting(main, "python3", "-m", "torch.distributed.run", restarts, "--no-python")


def _pytorchjob(plan: Plan) -> dict[str, Any]:
    job = plan.job
    own = {role.name.capitalize(): role for role in job.roles}
    spec: dict[str, Any] = {"nprocPerNode": str(job.processes_per_node), "runPolicy": run_policy(plan)}
    if job.elastic is None:
        roles = {"Master": 1, "Worker": job.nodes - 1}
    else:
        roles = {"Worker": job.nodes}
        spec["elasticPolicy"] = {
            "minReplicas": plan.least,
            "maxReplicas": plan.most,
            "maxRestarts": job.max_restarts,
            "rdzvBackend": "c10d",
        }
    restart = "OnFailure" if job.max_restarts else "Never"
    spec["pytorchReplicaSpecs"] = {
        role: {
            "replicas": count,
            "restartPolicy": (own[role].restart if role in own else "") or restart,
            "template": template(plan, _torchrun(plan, plain(plan, "pytorch", own.get(role)))),
        }
        for role, count in roles.items()
        if count
    }
    return {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": plan.metadata(), "spec": spec}


def _trainjob(plan: Plan) -> dict[str, Any]:
    main = _torchrun(plan, plain(plan, "node"))
    trainer: dict[str, Any] = {
        "image": main["image"],
        "command": main["command"],
        "numNodes": plan.job.nodes,
        "numProcPerNode": plan.job.processes_per_node,
        "env": main["env"],
    }
    if "resources" in main:
        trainer["resourcesPerNode"] = main["resources"]
    spec = {"runtimeRef": {"name": "torch-distributed"}, "trainer": trainer}
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": plan.metadata(),
        "spec": spec,
    }


def _mpijob(plan: Plan) -> dict[str, Any]:
    job = plan.job
    own = {role.name: role for role in job.roles}
    main = plain(plan, "mpi", own.get("worker"))
    launcher = plain(plan, "mpi", own.get("launcher"))
    if "launcher" not in own or own["launcher"].container is None:
        launcher.pop("resources", None)  # it only starts the others
    launcher = reporting(launcher, "mpirun", "-n", str(job.nodes * job.processes_per_node))
    for name in ("command", "args"):
        main.pop(name, None)
    spec = {
        "slotsPerWorker": job.processes_per_node,
        "runPolicy": run_policy(plan),
        "mpiReplicaSpecs": {
            "Launcher": _replicas(1, own.get("launcher"), template(plan, launcher)),
            "Worker": _replicas(job.nodes, own.get("worker"), template(plan, main)),
        },
    }
    return {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": plan.metadata(), "spec": spec}


def _replicas(count: int, role: JobRole | None, pods: dict[str, Any]) -> dict[str, Any]:
    return {"replicas": count, "restartPolicy": (role.restart if role else "") or "Never", "template": pods}


def _rayjob(plan: Plan) -> dict[str, Any]:
    job = plan.job
    head, worker = plain(plan, "ray-head"), plain(plan, "ray-worker")
    words = [*head.get("command", []), *head.get("args", [])]
    for each in (head, worker):
        for name in ("command", "args"):
            each.pop(name, None)
    group = {
        "groupName": "nodes",
        "replicas": job.nodes - 1,
        "minReplicas": plan.least - 1,
        "maxReplicas": plan.most - 1,
        "rayStartParams": {},
        "template": template(plan, worker),
    }
    spec: dict[str, Any] = {
        "entrypoint": shlex.join(words),
        "shutdownAfterJobFinishes": True,
        "ttlSecondsAfterFinished": KEPT,
        "backoffLimit": job.max_restarts,
        "rayClusterSpec": {
            "headGroupSpec": {"rayStartParams": {}, "template": template(plan, head)},
            "workerGroupSpecs": [group] if plan.most > 1 else [],
        },
    }
    if job.elastic is not None:
        spec["rayClusterSpec"]["enableInTreeAutoscaling"] = True
    if plan.deadline is not None:
        spec["activeDeadlineSeconds"] = max(1, round(plan.deadline))
    return {"apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": plan.metadata(), "spec": spec}


def _sparkapplication(plan: Plan) -> dict[str, Any]:
    job = plan.job
    main = plain(plan, "spark")
    words = [*main.get("command", []), *main.get("args", [])]
    shared = {"env": main["env"], **{key: plan.pod[key] for key in ("nodeSelector", "tolerations") if key in plan.pod}}
    account = plan.pod.get("serviceAccountName")
    driver = {**shared, "labels": dict(template(plan, main)["metadata"]["labels"])}
    spec: dict[str, Any] = {
        "type": "Python" if words[0].endswith(".py") else "Scala",
        "mode": "cluster",
        "image": main["image"],
        "sparkVersion": "3.5.3",
        "mainApplicationFile": words[0],
        "arguments": words[1:],
        "restartPolicy": {"type": "OnFailure", "onFailureRetries": job.max_restarts, "onFailureRetryInterval": 10}
        if job.max_restarts
        else {"type": "Never"},
        "driver": driver | ({"serviceAccount": account} if account else {}),
        "executor": {**shared, **_executor(job), "instances": job.nodes, "cores": job.processes_per_node},
    }
    if job.elastic is not None:
        least, most = plan.least, plan.most
        spec["dynamicAllocation"] = {"enabled": True, "minExecutors": least, "maxExecutors": most}
    version = "sparkoperator.k8s.io/v1beta2"
    return {"apiVersion": version, "kind": "SparkApplication", "metadata": plan.metadata(), "spec": spec}


def _executor(job: DistributedJob) -> dict[str, Any]:
    """What an executor asks for, in Spark's words: its memory is counted in MiB, and some is left for the rest."""
    asked = job.container.resources
    found: dict[str, Any] = {}
    if memory := quantity(asked.memory):
        found["memory"] = f"{int(memory / 2**20 * 10 / 11)}m"
    if asked.gpu:
        found["gpu"] = {"name": asked.gpu_type, "quantity": asked.gpu}
    return found


def _without_volumes(job: DistributedJob) -> tuple[str, str] | None:
    if job.container.mounts:
        return "its pods get no volumes from the job", "mount them by a pytorchjob or an indexed-job"
    return None


def _ray_problem(job: DistributedJob) -> tuple[str, str] | None:
    if any(not isinstance(word, str) for word in (*job.container.command, *job.container.args)):
        return "Ray's entrypoint is read by a shell, and no value may become a part of that", "hand values over in env="
    return None


def _spark_problem(job: DistributedJob) -> tuple[str, str] | None:
    if not job.container.command or not isinstance(job.container.command[0], str):
        return "the first word of the command is the application, and has to be known", 'command=["local:///app.py"]'
    return _without_volumes(job)


_CONDITIONS = range(5)
PYTORCHJOB = Launcher(
    "pytorchjob",
    ("torch",),
    _pytorchjob,
    "status.completionTime",
    ", ".join(f"status.conditions.{index}.type = Failed" for index in _CONDITIONS),
    "Kubeflow's training operator 1.8 (kubeflow.org/v1)",
    elastic=True,
    roles=("master", "worker"),
    apart=True,
    policies=True,
)
TRAINJOB = Launcher(
    "trainjob",
    ("torch",),
    _trainjob,
    "status.jobsStatus.0.succeeded > 0",
    ", ".join(f"status.conditions.{index}.type = Failed" for index in _CONDITIONS),
    "Kubeflow Trainer 2.0 with its runtime torch-distributed",
    label="jobset.sigs.k8s.io/jobset-name",
    problem=_without_volumes,
)
MPIJOB = Launcher(
    "mpijob",
    ("mpi",),
    _mpijob,
    "status.replicaStatuses.Launcher.succeeded > 0",
    ", ".join(f"status.conditions.{index}.type = Failed" for index in _CONDITIONS),
    "Kubeflow's MPI operator (kubeflow.org/v2beta1)",
    roles=("worker", "launcher"),
    apart=True,
    policies=True,
)
RAYJOB = Launcher(
    "rayjob",
    ("generic",),
    _rayjob,
    "status.jobDeploymentStatus = Complete, status.jobStatus = SUCCEEDED",
    "status.jobDeploymentStatus = Failed, status.jobStatus in (FAILED, STOPPED)",
    "the KubeRay operator (ray.io/v1)",
    elastic=True,
    reports=False,
    problem=_ray_problem,
)
SPARKAPPLICATION = Launcher(
    "sparkapplication",
    ("generic",),
    _sparkapplication,
    "status.applicationState.state = COMPLETED",
    "status.applicationState.state in (FAILED, SUBMISSION_FAILED)",
    "the Spark operator (sparkoperator.k8s.io/v1beta2)",
    elastic=True,
    reports=False,
    problem=_spark_problem,
)
