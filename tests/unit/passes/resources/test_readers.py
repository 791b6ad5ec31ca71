"""What Kubernetes, Argo and Airflow tell of attempts, from what they really say."""

from __future__ import annotations

from typing import Any

from couler_py.passes.history import Attempt
from couler_py.passes.resources.readers import airflow, argo, kubernetes
from couler_py.passes.resources.readers.kubernetes import Used

POD = "faults-8wzjn-ended-from-outside-once-1615446759"


def metrics(moment: str, main: tuple[str, str], wait: tuple[str, str] = ("1m", "20Mi")) -> dict[str, Any]:
    """An answer of the metrics API about one pod of Argo's (amounts: processors, memory)."""
    containers = [
        {"name": name, "usage": {"cpu": cpu, "memory": memory}}
        for name, (cpu, memory) in (("wait", wait), ("main", main))
    ]
    pod = {
        "metadata": {"name": POD, "namespace": "default", "creationTimestamp": moment},
        "timestamp": moment,
        "window": "17.23s",
        "containers": containers,
    }
    return {"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {}, "items": [pod]}


ANSWERS = [
    metrics("2026-11-30T20:09:50Z", ("493150000n", "262144Ki")),
    metrics("2026-11-30T20:09:50Z", ("493150000n", "262144Ki")),
    metrics("2026-11-30T20:09:56Z", ("1506850000n", "524288Ki")),
]


def test_what_a_pod_used_is_its_own_containers_most_memory_and_mean_processors() -> None:
    assert kubernetes.usage(ANSWERS) == {POD: Used(512 * 1024**2, 1.0, 1.50685)}


def test_no_answer_tells_of_no_pod() -> None:
    assert kubernetes.usage([]) == {}


# Of a run on Argo 4.0.7, as its Workflow says it.
NODES: dict[str, Any] = {
    "faults-8wzjn": {"id": "faults-8wzjn", "type": "DAG", "phase": "Failed", "templateName": "faults"},
    "faults-8wzjn-1615446759": {
        "id": "faults-8wzjn-1615446759",
        "name": "faults-8wzjn.ended-from-outside-once(1)",
        "type": "Pod",
        "templateName": "ended-from-outside-once",
        "phase": "Succeeded",
        "startedAt": "2026-11-30T20:09:52Z",
        "finishedAt": "2026-11-30T20:09:58Z",
        "resourcesDuration": {"cpu": 0, "memory": 3},
        "outputs": {"exitCode": "0"},
    },
    "faults-8wzjn-3293355754": {
        "id": "faults-8wzjn-3293355754",
        "type": "Pod",
        "templateName": "ended-from-outside-once",
        "phase": "Failed",
        "startedAt": "2026-11-30T20:09:46Z",
        "finishedAt": "2026-11-30T20:09:50Z",
        "resourcesDuration": {"cpu": 8, "memory": 40},
        "message": "main: Error (exit code 143)",
        "outputs": {"exitCode": "143"},
    },
    "faults-8wzjn-9": {"id": "faults-8wzjn-9", "type": "Pod", "templateName": "x", "phase": "Running"},
}


def test_argo_tells_what_was_asked_for_and_how_attempts_ended() -> None:
    [failed, succeeded] = argo.attempts({"status": {"nodes": NODES}})["ended-from-outside-once"]
    assert failed == Attempt(
        "Failed",
        1796069386.0,
        4.0,
        "main: Error (exit code 143)",
        143,
        asked_memory=1000 * 1024**2,
        asked_cpu=2.0,
    )
    assert (succeeded.state, succeeded.exit_code, succeeded.asked_cpu) == ("Succeeded", 0, None)
    assert succeeded.asked_memory == 50 * 1024**2


def test_what_pods_used_joins_what_argo_tells() -> None:
    tries = argo.attempts({"status": {"nodes": NODES}}, kubernetes.usage(ANSWERS))["ended-from-outside-once"]
    assert [(each.memory, each.processors, each.busiest) for each in tries] == [
        (None, None, None),
        (512 * 1024**2, 1.0, 1.50685),
    ]


def test_a_run_that_has_not_begun_tells_nothing() -> None:
    assert argo.attempts({"metadata": {"name": "x"}}) == {}


AIRFLOW_3 = """\
{"timestamp":"2026-11-30T19:00:00.000000Z","level":"info","event":"DAG bundles loaded: dags-folder","logger":"airflow"}
{"timestamp":"2026-11-30T19:00:02.500000Z","level":"info","event":"Building pod train-x7 with labels: {'dag_id': 'a'}"}
{"timestamp":"2026-11-30T19:02:00.000000Z","level":"error","event":"Task failed with exception",\
"error_detail":[{"exc_type":"AirflowException",\
"exc_value":"Pod train-x7 returned a failure.\\nremote_pod: {'spec': {'containers': [{'name': 'base', \
'resources': {'limits': {'memory': '512Mi', 'cpu': '2'}, 'requests': {'memory': '256Mi', 'cpu': '500m'}}}]}, 'status': \
{'container_statuses': [{'name': 'base', 'state': {'terminated': {'exit_code': 137, 'reason': 'OOMKilled'}}}]}}"}]}
"""

AIRFLOW_2 = """\
[2026-11-30T19:00:00.000+0000] {taskinstance.py:1956} INFO - Starting attempt 1 of 1
[2026-11-30T19:00:31.250+0000] {taskinstance.py:1138} INFO - Marking task as SUCCESS. dag_id=a, task_id=train
"""


def test_a_log_of_airflow_tells_how_its_pod_ended_and_what_it_had_asked_for() -> None:
    found = airflow.attempt(AIRFLOW_3)
    assert found == Attempt(
        "Failed", 1796065200.0, 120.0, "OOMKilled (exit code 137)", 137, asked_memory=512 * 1024**2, asked_cpu=2.0
    )


def test_a_log_of_airflow_2_tells_how_long_it_took() -> None:
    assert airflow.attempt(AIRFLOW_2) == Attempt("Succeeded", 1796065200.0, 31.25)


def test_a_log_without_times_tells_of_no_attempt() -> None:
    assert airflow.attempt("hello\n{not json\n") is None


def test_items_and_turns_of_a_task_on_airflow_are_attempts_of_one_step() -> None:
    found = airflow.attempts([("fit[0]", AIRFLOW_3), ("fit[1]", AIRFLOW_3), ("again#2/fit", AIRFLOW_3), ("none", "")])
    assert {step: len(tries) for step, tries in found.items()} == {"fit": 2, "again/fit": 1}
