"""What Airflow can do with each feature of the IR, and how. The docs' engine matrix is made from this table.

It speaks of the default operators, pods. `DOCKER` is what containers of a Docker daemon
can't do besides, `LOCAL` what processes of the worker can't.
"""

from __future__ import annotations

from couler_py.backends.base import Support
from couler_py.backends.features import FEATURES

LOWERED: dict[str, str] = {
    "script": "a pod that gets the text in an argument",
    "function": "a pod, or a process, in which the runner calls the function",
    "graph": "a task group with a first and a last task",
    "steps": "order edges between the groups",
    "loop": "one task that repeats its step; of a graph, a group for each turn",
    "suspend": "an approval by a person, or a sensor that waits",
    "edge_order": "the trigger rule `none_failed`, of the task or of a gate before it",
    "edge_on_failure": "the trigger rule `one_failed`, of the task or of a gate before it",
    "edge_always": "the trigger rule `all_done`, and a last task that fails by the states of all",
    "edge_first": "the trigger rule `none_failed_min_one_success`, of the task or of a gate before it",
    "or_else": "Python, which reads the value when the task starts",
    "when": "the task skips itself",
    "each_literal": "a mapped task or group, between two tasks that read the list and end the fan-out",
    "each_dynamic": "a mapped task or group, between two tasks that read the list and end the fan-out",
    "each_sequence": "a mapped task or group, between two tasks that read the list and end the fan-out",
    "each_parallel": "`max_active_tis_per_dagrun`",
    "each_tolerate": "a task behind the map that counts the items that failed",
    "fan_in": "Python, which reads the XComs of the items when the task starts",
    "handler": "a task group behind the run's last task, and a task that fails if the run or one of them did",
    "published_output": "the XCom of the task that publishes it",
    "mutex": "a pool with one slot",
    "semaphore": "a pool",
    "artifact": "files behind a URI, fetched before the step and kept after it",
    "artifact_optional": "files behind a URI, fetched before the step and kept after it",
    "artifact_storage": "a URI of fsspec, from and to which the runner moves files beside the pod",
    "pod_patch": "applied when the file is written",
    "resource": "an operator that does what is asked, and waits until a condition holds",
    "distributed_job": "a task for a service, one for the job, and one that tells what came of it",
    "include": "the archive, inside the DAG file",
}
EMULATED: dict[str, str] = {
    "retry_when": "the task fails for good where the condition doesn't hold",
    "cache": "outputs kept beside the artifacts, by a digest of program and inputs",
}
NEVER: dict[str, str] = {
    "recursion": "a DAG is finite: use couler.loop",
    "http": "Airflow makes no requests itself: make it in a step",
    "data": "Argo lists the files itself: write a step that does",
    "container_set": "make each container a step",
    "plugin": "the plugin runs inside Argo",
    "external": "the template is installed on a cluster: import it, so that it is part of the workflow",
    "inline": "name the template",
    "depends": "a tree of states has no trigger rule: use order and on_failure edges",
    "fail_fast": "it needs Airflow's default trigger rule everywhere, and edges need others",
    "continue_on": "use on_failure edges",
    "targets": "leave the other tasks out",
    "retry_graph": "Airflow retries tasks: put the retries on the steps",
    "retry_other_node": "the cluster's scheduler chooses",
    "daemon": "a task that others wait for has to end",
    "hook": "use on_failure edges and handlers of the run",
    "parameter_config_map": "pass it as a parameter",
    "artifact_local": "the workers don't see this machine's files",
    "metrics": "nobody reads them here: use couler.log_metric",
    "raw": "the expression is in another engine's language",
}
BY_PASSES: dict[str, str] = {
    "distributed_job": "the pass `distributed` makes Kubernetes objects of it, and was left out",
}
"""What is no longer there when a workflow is emitted, unless somebody left a pass out."""
DOCKER: dict[str, str] = {
    "volume": "a container of Docker has no volumes of a cluster",
    "init_container": "a container of Docker has no container before it: make it a step",
    "sidecar": "a container of Docker has no container beside it",
    "secret": "there is no cluster that has it: read a connection or variable of Airflow's in the step",
    "placement": "a Docker daemon has no nodes to choose from",
    "pod_patch": "there is no pod",
}
LOCAL: dict[str, str] = {
    "pod_patch": "there is no pod",
    "volume": "a process has no volumes",
    "init_container": "a process has no container before it: make it a step",
    "sidecar": "a process has no container beside it",
    "secret": "there is no pod to give it to: read a connection or variable of Airflow's in the step",
}

NATIVE = frozenset(
    {"container", "edge_value", "parallelism", "retry", "retry_backoff", "timeout", "deadline", "schedule"}
    | {"parameter_enum", "secret", "resources", "volume", "init_container", "sidecar", "placement"}
)


def _row(feature: str) -> Support:
    if feature in NATIVE:
        return Support(feature, "native")
    for level, rows in (("lowered", LOWERED), ("emulated", EMULATED), ("never", NEVER)):
        if feature in rows:
            return Support(feature, level, rows[feature])  # type: ignore[arg-type]
    raise KeyError(feature)


TABLE: tuple[Support, ...] = tuple(map(_row, FEATURES))
