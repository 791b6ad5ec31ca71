"""An Indexed Job with a headless service, which every Kubernetes has, and a JobSet, which makes that service itself.

Sources: kubernetes.io/docs/concepts/workloads/controllers/job (per-index backoff: 1.33, success policy: 1.33), and
jobset.sigs.k8s.io/docs/reference/jobset.v1alpha2.
"""

from __future__ import annotations

from typing import Any

from couler_py.ir.model import DistributedJob
from couler_py.kubernetes.jobs.launcher import KEPT, LABEL, Launcher, Plan, deciding
from couler_py.kubernetes.jobs.pods import template, wrapped

_FAILED = ", ".join(f"status.conditions.{index}.type in (Failed, FailureTarget)" for index in range(3))
OURS = ("torch", "generic", "tensorflow")
ROLES = ("master", "chief", "worker", "ps", "evaluator")


def service(prefix: str) -> dict[str, Any]:
    """A headless service, of which the cluster makes the name that all of a job bear; for pods of any job."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"generateName": f"{prefix}-", "labels": {LABEL: prefix}},
        # A pod has a name in the service whose name is its subdomain, so it does no harm that others are selected too.
        # Addresses are published at once: nodes meet before they are ready.
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {f"{LABEL}-of": prefix}},
    }


def _job(plan: Plan, pods: dict[str, Any]) -> dict[str, Any]:
    """The spec of an Indexed Job with an index for each node."""
    nodes = plan.job.nodes
    spec: dict[str, Any] = {
        "completionMode": "Indexed",
        "completions": nodes,
        "parallelism": nodes,
        "backoffLimitPerIndex": plan.job.max_restarts,
        "maxFailedIndexes": nodes - plan.least,
        "template": pods,
    }
    if plan.job.framework == "tensorflow" and (nodes_that_decide := deciding(plan.job)) is not None:
        # Parameter servers never end: the rest are ended when those that decide have.
        first, last = nodes_that_decide
        indexes = f"{first}-{last}" if last > first else f"{first}"
        spec["successPolicy"] = {"rules": [{"succeededIndexes": indexes}]}
    if plan.deadline is not None:
        spec["activeDeadlineSeconds"] = _seconds(plan.deadline)
    return spec


def _indexed_job(plan: Plan) -> dict[str, Any]:
    pods = template(plan, wrapped(plan, f"{plan.name}-"), restartPolicy="Never", subdomain=plan.name)
    spec = _job(plan, pods) | {"ttlSecondsAfterFinished": KEPT}
    if plan.least < plan.job.nodes:
        # The node that hosts the meeting is the last to end.
        spec["successPolicy"] = {"rules": [{"succeededIndexes": "0"}]}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": plan.metadata(), "spec": spec}


def _jobset(plan: Plan) -> dict[str, Any]:
    pods = template(plan, wrapped(plan, f"{plan.name}-node-0-"), restartPolicy="Never")
    spec = {
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        # The Job inside begins its pods again; restarts of the whole set would multiply with those.
        "failurePolicy": {"maxRestarts": 0},
        "ttlSecondsAfterFinished": KEPT,
        "replicatedJobs": [{"name": "node", "replicas": 1, "template": {"spec": _job(plan, pods)}}],
    }
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": plan.metadata(), "spec": spec}


def _seconds(time: float) -> int:
    return max(1, -int(-time // 1))


def _problem(job: DistributedJob) -> tuple[str, str] | None:
    if job.framework == "tensorflow" and job.processes_per_node > 1:
        return "a worker of TensorFlow is a node of its own", f"nodes={job.nodes * job.processes_per_node}, processes=1"
    return None


INDEXED_JOB = Launcher(
    "indexed-job",
    OURS,
    _indexed_job,
    "status.completionTime",
    _FAILED,
    "Kubernetes 1.33",
    elastic=True,
    roles=ROLES,
    problem=_problem,
)
JOBSET = Launcher(
    "jobset",
    OURS,
    _jobset,
    "status.terminalState = Completed",
    "status.terminalState = Failed",
    "the JobSet controller (jobset.x-k8s.io/v1alpha2)",
    roles=ROLES,
    problem=_problem,
)
