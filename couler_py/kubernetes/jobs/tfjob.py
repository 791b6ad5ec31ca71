"""A TFJob, whose nodes are a chief, workers, parameter servers and an evaluator.

Source: github.com/kubeflow/training-operator v1.8.1: the operator writes TF_CONFIG, a job with a chief is done when
that is, and one without when all workers are (`successPolicy`).
"""

from __future__ import annotations

from typing import Any

from couler_py.ir.model import DistributedJob, JobRole
from couler_py.kubernetes.jobs.launcher import Launcher, Plan
from couler_py.kubernetes.jobs.operators import PYTORCHJOB, run_policy
from couler_py.kubernetes.jobs.pods import plain, reporting, template

KEYS = {"chief": "Chief", "worker": "Worker", "ps": "PS", "evaluator": "Evaluator"}


def _tfjob(plan: Plan) -> dict[str, Any]:
    job = plan.job
    restart = "OnFailure" if job.max_restarts else "Never"
    roles = job.roles or (JobRole("worker", job.nodes),)
    spec: dict[str, Any] = {
        "runPolicy": run_policy(plan),
        "tfReplicaSpecs": {
            KEYS[role.name]: {
                "replicas": role.nodes,
                "restartPolicy": role.restart or restart,
                "template": template(plan, reporting(plain(plan, "tensorflow", role))),
            }
            for role in roles
        },
    }
    if not any(role.name == "chief" for role in roles):
        spec["successPolicy"] = "AllWorkers"
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": plan.metadata(), "spec": spec}


def _problem(job: DistributedJob) -> tuple[str, str] | None:
    counts = {role.name: role.nodes for role in job.roles} or {"worker": job.nodes}
    if job.processes_per_node > 1:
        return "a worker of TensorFlow is a node of its own", f"nodes={job.nodes * job.processes_per_node}, processes=1"
    if not counts.keys() & {"chief", "worker"} or counts.get("chief", 0) > 1:
        return "a TFJob has at least one worker or a chief, and at most one chief", 'roles={"chief": {}, "worker": {}}'
    return None


TFJOB = Launcher(
    "tfjob",
    ("tensorflow",),
    _tfjob,
    PYTORCHJOB.succeeds,
    PYTORCHJOB.fails,
    PYTORCHJOB.needs,
    roles=tuple(KEYS),
    apart=True,
    policies=True,
    problem=_problem,
)
