"""The workflow on_nodes: edit-prepare → train-edit-publish → train-edit →
train-edit-collect → edit-evaluate.

Written by couler-py: change the program that it was made from, not this file.
"""

from datetime import UTC, datetime

from airflow import __version__ as airflow_version
from airflow.sdk import Param, TaskGroup, TriggerRule, dag

if tuple(map(int, airflow_version.split(".")[:2])) < (3, 1):
    raise RuntimeError(f"this DAG needs Airflow 3.1 or later, not {airflow_version}")


@dag(
    "on_nodes",
    schedule=None,
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    catchup=False,
    params={"most": Param(100000000, type="integer")},
    doc_md=__doc__,
)
def on_nodes():
    edit_prepare = step("edit-prepare", EDIT_PREPARE, lambda: {"most": param("most")})
    train_edit_publish = step(
        "train-edit-publish",
        EDIT_PUBLISH,
        lambda: {"shared": "/shared/edit", "data": out(edit_prepare, "result")},
    )
    with TaskGroup("train-edit"):
        train_edit = train_edit_tasks(
            lambda: {
                "task": '{"settings":{"sync_every":64,"sync_seconds":null,"warmup":100,"outer":{"lr":0.7,"momentum":0.8,"nesterov":true,"momentum_clip":null},"penalty":{"threshold":3.0,"smoothing":0.02,"rounds_before":120,"start":"first","restart_after":3,"temperature":1.0,"relative":false,"clip":10.0,"step_ratio":0.0},"compression":"none","offload":false,"late":false,"most_steps":null,"least_steps":1},"model":{"vocabulary":1024,"layers":4,"hidden":128,"heads":8,"kv_heads":4,"feed_forward":352,"context":256,"rope_theta":10000.0,"norm_eps":0.00001,"tied":false},"replicas":2,"steps":2000,"shards":4,"sequence":64,"batch":8,"accumulate":1,"inner":{"lr":0.003,"betas":[0.9,0.95],"weight_decay":0.1,"rise":20,"clip":1.0},"precision":"bf16","recompute":true,"seed":0,"evaluate_every":null,"held_out":64,"save_every":200}',
                "corpus": out(train_edit_publish, "corpus"),
                "folder": out(train_edit_publish, "folder"),
                "checkpoints": out(train_edit_publish, "checkpoints"),
            },
        )
    train_edit_collect = step(
        "train-edit-collect",
        EDIT_COLLECT,
        lambda: {"results": out(train_edit.end, "results")},
    )
    edit_evaluate = step(
        "edit-evaluate",
        EDIT_EVALUATE,
        lambda: {
            "model": out(train_edit_collect, "model"),
            "data": out(edit_prepare, "result"),
        },
    )
    edit_prepare >> train_edit_publish
    train_edit_publish >> train_edit.start
    train_edit.end >> train_edit_collect
    [train_edit_collect, edit_prepare] >> edit_evaluate
    result_of_run(
        [edit_evaluate],
        lambda: {
            "result-1": out(edit_evaluate, "result"),
            "result-2": out(train_edit_collect, "report"),
        },
    )


def train_edit_tasks(inputs=dict, when=None, item=None):
    start = begin(inputs, when, item)
    service = resource("service", TRAIN_EDIT_SERVICE)
    job = resource(
        "job",
        TRAIN_EDIT_JOB,
        lambda: {
            "task": out(start, "task"),
            "corpus": out(start, "corpus"),
            "folder": out(start, "folder"),
            "checkpoints": out(start, "checkpoints"),
            "job": out(service, "name"),
        },
    )
    report__always = gate("report__always", TriggerRule.ALL_DONE, job)
    report = step(
        "report",
        TRAIN_EDIT_REPORT,
        lambda: {
            "job": or_else(lambda: out(service, "name"), ""),
            "state": state_of(job),
        },
    )
    start >> service
    service >> job
    [report__always, service] >> report
    return judge(
        start,
        [(service, []), (job, [service]), (report, [service])],
        lambda: {"results": out(report, "results")},
    )


EDIT_PREPARE = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "edit-prepare",
    "source": '''
# couler_py/steps/edit/step.py, line 8
from pathlib import Path

# couler_py/steps/edit/step.py, line 47
def prepare(texts: Path | None = None, most: int = 2_000_000) -> Path:
    """Bytes of text as a folder of tokens: of a file or folder, else of Python's own library; at most so many bytes."""
    from couler_py.steps.corpus import files, tokens
    from couler_py.steps.corpus.tokenizers import ByteTokenizer

    index = tokens.write(files.texts([texts] if texts else [], most=most), ByteTokenizer(), "corpus")
    print(f"{index.tokens} tokens of {index.documents} documents")  # noqa: T201
    return Path("corpus")
''',
    "gives": {"result": False},
    "files": ["texts"],
    "defaults": {"most": 2000000},
}
EDIT_PUBLISH = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "edit-publish",
    "source": '''
# couler_py/steps/edit/step.py, line 9
from typing import NamedTuple

# couler_py/steps/edit/step.py, line 8
from pathlib import Path

# couler_py/steps/edit/step.py, line 38
class Published(NamedTuple):
    """Where the nodes of one training read and write: places that all of them reach."""

    corpus: str
    folder: str
    checkpoints: str

# couler_py/steps/edit/step.py, line 86
def publish(data: Path, shared: str) -> Published:
    """Copy a corpus to a place that all nodes of a training reach."""
    from couler_py.steps.edit import sharing

    return Published(*sharing.publish(data, shared))
''',
    "outputs": {"corpus": str, "folder": str, "checkpoints": str},
    "files": ["data"],
    "env": {"COULER_PLAIN": "corpus,folder,checkpoints"},
    "pod": {
        "spec": {
            "containers": [
                {
                    "name": "base",
                    "volumeMounts": [{"name": "shared", "mountPath": "/shared"}],
                },
            ],
            "volumes": [
                {"name": "shared", "persistentVolumeClaim": {"claimName": "training"}},
            ],
        },
    },
}
TRAIN_EDIT_SERVICE = {
    "action": "create",
    "manifest": {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "generateName": "train-edit-",
            "labels": {"couler-py/job": "train-edit"},
        },
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {"couler-py/job-of": "train-edit"},
        },
    },
    "fields": {"name": ["metadata", "name"]},
    "outputs": {"name": str},
}
TRAIN_EDIT_JOB = {
    "action": "create",
    "manifest": lambda given: {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": joined(given["job"]),
            "labels": {"couler-py/job": joined(given["job"])},
        },
        "spec": {
            "completionMode": "Indexed",
            "completions": 2,
            "parallelism": 2,
            "backoffLimitPerIndex": 3,
            "maxFailedIndexes": 1,
            "template": {
                "metadata": {
                    "labels": {
                        "couler-py/job": joined(given["job"]),
                        "couler-py/job-of": "train-edit",
                    },
                },
                "spec": {
                    "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
                    "tolerations": [
                        {
                            "key": "nvidia.com/gpu",
                            "operator": "Exists",
                            "effect": "NoSchedule",
                        },
                    ],
                    "volumes": [
                        {
                            "name": "shared",
                            "persistentVolumeClaim": {"claimName": "training"},
                        },
                    ],
                    "restartPolicy": "Never",
                    "subdomain": joined(given["job"]),
                    "containers": [
                        {
                            "name": "main",
                            "image": "ghcr.io/couler-py/train-cuda:latest",
                            "resources": {
                                "requests": {
                                    "cpu": "16",
                                    "memory": "64Gi",
                                    "nvidia.com/gpu": "4",
                                },
                                "limits": {
                                    "cpu": "16",
                                    "memory": "64Gi",
                                    "nvidia.com/gpu": "4",
                                },
                            },
                            "volumeMounts": [
                                {"name": "shared", "mountPath": "/shared"},
                            ],
                            "command": [
                                "sh",
                                "-c",
                                'mkdir -p /tmp/couler/outputs\nhost=0; [ "$COULER_NODE" = 0 ] && host=1\npython=python3; case "$1" in *python*) python="$1";; esac\n"$python" -m torch.distributed.run --nnodes="$COULER_NNODES" --nproc-per-node="$COULER_PROCESSES" \\\n  --max-restarts="$COULER_RESTARTS" --rdzv-backend=c10d --rdzv-id=job --rdzv-endpoint="$COULER_MASTER:$COULER_PORT" \\\n  --rdzv-conf="is_host=$host,$COULER_RDZV" --no-python "$@" &\nchild=$!\ntrap \'kill -TERM $child 2>/dev/null\' TERM INT\nwait $child; code=$?\nwhile kill -0 $child 2>/dev/null; do wait $child; code=$?; done\nif [ $code = 0 ]; then\n  for file in /tmp/couler/outputs/*; do\n    [ -f "$file" ] && printf \'\\ncouler-output %s %s\\n\' "${file##*/}" "$(base64 -w0 <"$file")"\n  done\nfi\nexit $code\n',
                                "couler",
                                "python",
                                "-m",
                                "couler_py.steps.edit",
                                joined(given["task"]),
                                "--data",
                                joined(given["corpus"]),
                                "--out",
                                joined(given["folder"]),
                                "--checkpoints",
                                joined(given["checkpoints"]),
                                "--elastic",
                            ],
                            "env": [
                                {
                                    "name": "COULER_NODE",
                                    "valueFrom": {
                                        "fieldRef": {
                                            "fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']",
                                        },
                                    },
                                },
                                {"name": "COULER_ROLES", "value": "worker:2"},
                                {"name": "COULER_NNODES", "value": "1:2"},
                                {"name": "COULER_PROCESSES", "value": "4"},
                                {"name": "COULER_PLANNED_WORLD", "value": "8"},
                                {"name": "COULER_RESTARTS", "value": "3"},
                                {
                                    "name": "COULER_MASTER",
                                    "value": joined(given["job"], "-0.", given["job"]),
                                },
                                {
                                    "name": "COULER_PEER",
                                    "value": joined(given["job"], "-"),
                                },
                                {
                                    "name": "COULER_DOMAIN",
                                    "value": joined(given["job"]),
                                },
                                {"name": "COULER_PORT", "value": "29400"},
                                {
                                    "name": "COULER_RDZV",
                                    "value": "keep_alive_interval=10,keep_alive_max_attempt=3,last_call_timeout=10,join_timeout=600",
                                },
                                {
                                    "name": "TORCH_DISABLE_SHARE_RDZV_TCP_STORE",
                                    "value": "1",
                                },
                            ],
                        },
                    ],
                },
            },
            "ttlSecondsAfterFinished": 86400,
            "successPolicy": {"rules": [{"succeededIndexes": "0"}]},
        },
    },
    "succeeds": [(["status", "completionTime"], "exists", [])],
    "fails": [
        (["status", "conditions", "0", "type"], "in", ["Failed", "FailureTarget"]),
        (["status", "conditions", "1", "type"], "in", ["Failed", "FailureTarget"]),
        (["status", "conditions", "2", "type"], "in", ["Failed", "FailureTarget"]),
    ],
}
TRAIN_EDIT_REPORT = {
    "image": "python:3.11",
    "command": ["python3"],
    "script": r'''"""What a person is told of a job on a cluster: the outputs of rank 0, or the last lines of the pods that failed.

It runs in a pod of its own behind the job, as text, with the standard library and the account of the pod.
"""

from __future__ import annotations

import base64
import json
import os
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

MARK = "couler-output"
TAIL, LAST = 30, 5000  # lines that are shown of a pod that failed; lines in which outputs are looked for
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
OUTPUTS = Path("/tmp/couler/outputs")  # noqa: S108


def asked(path: str, **query: object) -> bytes:
    """An answer of the API server, of this namespace."""
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    name = (ACCOUNT / "namespace").read_text()
    place = f"[{host}]" if ":" in host else host
    url = f"https://{place}:{port}/api/v1/namespaces/{name}/{path}"
    headers = {"Authorization": f"Bearer {(ACCOUNT / 'token').read_text()}"}
    request = urllib.request.Request(f"{url}?{urllib.parse.urlencode(query)}", headers=headers)
    context = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
    with urllib.request.urlopen(request, context=context, timeout=60) as answer:
        found: bytes = answer.read()
    return found


def pods(selector: str) -> list[dict[str, Any]]:
    """The pods of the job, the oldest first."""
    found = json.loads(asked("pods", labelSelector=selector))["items"]
    return sorted(found, key=lambda pod: (pod["metadata"]["creationTimestamp"], pod["metadata"]["name"]))


def log(pod: dict[str, Any], container: str, lines: int, previous: bool) -> list[str]:
    """The last lines of a container; none where there are no longer any."""
    path = f"pods/{pod['metadata']['name']}/log"
    query: dict[str, Any] = {"container": container, "tailLines": lines, **({"previous": "true"} if previous else {})}
    try:
        return asked(path, **query).decode("utf-8", "replace").splitlines()
    except urllib.error.HTTPError as problem:
        return [f"(its log can't be read: {problem.read().decode('utf-8', 'replace')[:300]})"]


def ends(pod: dict[str, Any]) -> list[tuple[str, str, int, bool]]:
    """When, and with which exit code, the containers of a pod have failed: of each the last time."""
    found = []
    for status in pod.get("status", {}).get("containerStatuses", ()):
        for field, previous in (("state", False), ("lastState", True)):
            ended = (status.get(field) or {}).get("terminated")
            if ended and ended.get("exitCode"):
                found.append((ended.get("finishedAt") or "", status["name"], ended["exitCode"], previous))
                break
    return found


def tell_failures(of_job: list[dict[str, Any]]) -> None:
    """Show who failed, the first last: that is what a person reads first."""
    failed = sorted((*end, number) for number, pod in enumerate(of_job) for end in ends(pod))[:4]
    for when, container, code, previous, number in reversed(failed):
        name = of_job[number]["metadata"]["name"]
        print(f"--- {name} failed at {when} with exit code {code}; its last lines:")
        print("\n".join(log(of_job[number], container, TAIL, previous)), flush=True)
    waiting = [pod["metadata"]["name"] for pod in of_job if pod.get("status", {}).get("phase") == "Pending"]
    if waiting:
        print(f"pods that never began: {', '.join(waiting)}")
    if not of_job:
        print("it had no pods: look at the object's own events (kubectl describe)")


def keep_outputs(of_job: list[dict[str, Any]], wanted: list[str]) -> list[str]:
    """Write the outputs that pods have printed to their files; gives the names that none has."""
    found: dict[str, str] = {}
    for pod in of_job:
        for container in pod["spec"]["containers"]:
            for line in log(pod, container["name"], LAST, False):
                words = line.split(" ")
                if words[0] == MARK and len(words) == 3:
                    found[words[1]] = words[2]
    OUTPUTS.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        if name in found:
            (OUTPUTS / name).write_bytes(base64.b64decode(found[name]))
    return [name for name in wanted if name not in found]


def main() -> int:
    """What the job left, or why it failed."""
    name, state, label = os.environ["COULER_JOB"], os.environ["COULER_STATE"], os.environ["COULER_LABEL"]
    if not name:
        print("its service could not be made, so there is no job", file=sys.stderr)
        return 1
    of_job = pods(f"{label}={name}")
    if state != "Succeeded":
        tell_failures(of_job)
        print(f"the job {name} failed", file=sys.stderr)
        return 1
    missing = keep_outputs(of_job, json.loads(os.environ["COULER_WANTED"]))
    if missing:
        print(f"no process of {name} left {', '.join(missing)} in {OUTPUTS}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
''',
    "paths": {"results": "/tmp/couler/outputs/results"},
    "outputs": {"results": str},
    "env": lambda given: {
        "COULER_JOB": joined(given["job"]),
        "COULER_STATE": joined(given["state"]),
        "COULER_LABEL": "couler-py/job",
        "COULER_WANTED": '["results"]',
    },
    "pod": lambda given: {"spec": {"containers": [{"name": "base"}]}},
}
EDIT_COLLECT = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "edit-collect",
    "source": '''
# couler_py/steps/edit/step.py, line 8
from pathlib import Path

# couler_py/steps/edit/step.py, line 9
from typing import NamedTuple

# couler_py/steps/edit/step.py, line 23
class Trained(NamedTuple):
    """A model as a folder that transformers reads, its loss on held-out rows, and what the training was like."""

    model: Path
    loss: float
    metrics: Path
    report: Path
    trace: Path
    """The first rounds as a timeline, for https://ui.perfetto.dev."""
    tokens: int
    seconds: float
    bytes_between: int
    """What a rank sent to other replicas."""

# couler_py/steps/edit/step.py, line 68
def found(out: Path) -> Trained:
    """What a training has left in a folder."""
    import json

    told = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    return Trained(
        out / "model",
        told["seen"][-1]["loss"],
        out / "metrics.json",
        out / "report.html",
        out / "trace.json",
        told["tokens"],
        told["seconds"],
        told["between"],
    )

# couler_py/steps/edit/step.py, line 94
def collect(results: str) -> Trained:
    """Fetch what a training on several nodes has left."""
    from couler_py.steps.edit import sharing

    sharing.results(results, Path("trained"))
    return found(Path("trained"))
''',
    "outputs": {"loss": float, "tokens": int, "seconds": float, "bytes_between": int},
    "gives": {"model": False, "metrics": False, "report": False, "trace": False},
    "pod": {
        "spec": {
            "containers": [
                {
                    "name": "base",
                    "volumeMounts": [{"name": "shared", "mountPath": "/shared"}],
                },
            ],
            "volumes": [
                {"name": "shared", "persistentVolumeClaim": {"claimName": "training"}},
            ],
        },
    },
}
EDIT_EVALUATE = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "edit-evaluate",
    "source": '''
# couler_py/steps/edit/step.py, line 8
from pathlib import Path

# couler_py/steps/edit/step.py, line 198
def evaluate(model: Path, data: Path, rows: int = 64, sequence: int = 64) -> float:
    """The mean loss of a model's folder on the last rows of a folder of tokens, which `train` holds out."""
    import torch

    from couler_py.steps.corpus.tokens import Rows
    from couler_py.steps.models.decoder import next_token_loss
    from couler_py.steps.models.folders import load

    corpus, decoder = Rows(data, sequence), load(model).eval()
    numbers = range(len(corpus) - rows, len(corpus))
    with torch.no_grad():
        taken = torch.from_numpy(corpus.take(numbers))
        return float(next_token_loss(decoder(taken[:, :-1]), taken[:, 1:]))
''',
    "outputs": {"result": float},
    "files": ["model", "data"],
    "defaults": {"rows": 64, "sequence": 64},
}

# ruff: noqa: E402
# What follows is couler-py's, and in every file the same: how steps get their inputs and
# leave their outputs. The last line makes the DAG.

import base64
import json
import math
import shlex
from functools import partial
from hashlib import sha256
from time import sleep, time
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.providers.cncf.kubernetes.operators.resource import (
    KubernetesCreateResourceOperator,
)
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import get_current_context
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
)
from fsspec.core import url_to_fs
from kubernetes.dynamic import DynamicClient


class Group(NamedTuple):
    """A graph in the DAG: who waits for it waits for `end`, which has its outputs."""

    start: Any
    end: Any


def gate(task_id, rule, *before):
    """Lets the tasks behind it start by a rule of its own."""
    made = EmptyOperator(task_id=task_id, trigger_rule=rule)
    list(before) >> made
    return made


def begin(inputs=dict, when=None, item=None):
    """The first task of a graph: it reads the condition and the graph's inputs."""

    def read(*items):
        proceed(when)
        return kept(evaluated(inputs, *items))

    items = [] if item is None else [item]
    return PythonOperator(task_id="start", python_callable=read, op_args=items)


def judge(start, graph, outputs=dict, **options):
    """The last task of a graph: it fails by the states of all, and gives the outputs.

    A task that nobody waits for counts with its own state; one that did not run with
    the worst among those that it waited for. `graph` lists (task, what it waits for).
    """

    def give():
        if start is not None and state_of(start) != "Succeeded":
            if state_of(start) == "Skipped":
                raise AirflowSkipException("the graph did not start")
            raise AirflowFailException("the graph did not start")
        if failed := failures_of(graph):
            raise AirflowFailException(f"failed: {', '.join(failed)}")
        return kept(given_back(outputs))

    task_id = "result" if start is None else "end"
    end = PythonOperator(
        task_id=task_id,
        python_callable=give,
        trigger_rule=TriggerRule.ALL_DONE,
        **options,
    )
    [end_of(node) for node, _ in graph] >> end
    if start is None:
        return end
    start >> end
    return Group(start, end)


def result_of_run(before, outputs=dict, **options):
    """The last task of the DAG: its XCom are the outputs of the run."""
    made = PythonOperator(
        task_id="result",
        python_callable=lambda: kept(evaluated(outputs)),
        trigger_rule=TriggerRule.NONE_FAILED,
        **options,
    )
    before >> made
    return made


XCOM_LIMIT = 48 * 1024


class Absent(LookupError):
    """A value that is not there: the task that makes it did not succeed."""


def proceed(when):
    """Skip the task unless its condition holds."""
    if when is not None and not evaluated(when):
        raise AirflowSkipException("its condition is false")


def evaluated(read, *given):
    """What an expression gives. One without a value fails the task for good."""
    try:
        return read(*given) if callable(read) else read
    except AirflowSkipException:
        raise
    except Exception as error:
        message = f"an input or a condition has no value: {error!r}"
        raise AirflowFailException(message) from error


def given_back(outputs):
    """The outputs of a graph; in a fan-out, an item without one counts as skipped."""
    try:
        return outputs()
    except Absent:
        raise AirflowSkipException("the graph has no result") from None
    except Exception as error:
        raise AirflowFailException(f"an output has no value: {error!r}") from error


def param(name):
    """A parameter of the run."""
    return get_current_context()["params"][name]


def xcom(task):
    """All that a task gave, for the same item; None if it did not succeed."""
    ti = get_current_context()["ti"]
    mapped = task.get_closest_mapped_task_group() is not None
    index = ti.map_index if mapped else -1
    return loaded(ti.xcom_pull(task_ids=task.task_id, map_indexes=index))


def out(task, name):
    """One output of a task. Raises `Absent` where the task did not succeed."""
    found = xcom(task)
    if found is None or name not in found:
        raise Absent(f"{task.task_id} gave no {name}")
    return found[name]


def fact(name):
    """A fact about the run."""
    context = get_current_context()
    run, ti = context["dag_run"], context["ti"]
    facts = {
        "id": run.run_id,
        "name": ti.dag_id,
        "namespace": "",
        "scheduled_time": (run.logical_date or run.run_after).isoformat(),
        "start": run.start_date.isoformat(),
        "attempt": ti.try_number - 1,
        "duration": (datetime.now(UTC) - run.start_date).total_seconds(),
    }
    return facts[name]


def kept(value):
    """A value for XCom: a large one, or one that Airflow would change, as a file."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    reserved = ('"__classname__"', '"__type"', '"__var"', '"__id__"')
    plain = text.encode("utf-8", "replace").decode() == text
    if (
        plain
        and len(text.encode()) <= XCOM_LIMIT
        and not any(map(text.count, reserved))
    ):
        return value
    return {"@file": write_file("xcom.json", json.dumps(value).encode())}


def loaded(found):
    """What `kept` kept."""
    if isinstance(found, dict) and "@file" in found:
        return json.loads(read_file(found["@file"]))
    return found


def end_of(node):
    """The task that ends a task, graph or fan-out."""
    return getattr(node, "end", node)


def states_of(task_ids, map_index=None):
    """Airflow's states of tasks of this run."""
    ti = get_current_context()["ti"]
    found = ti.get_task_states(
        dag_id=ti.dag_id,
        run_ids=[ti.run_id],
        task_ids=task_ids,
        map_index=map_index,
    )
    return {task: str(state) for task, state in found.get(ti.run_id, {}).items()}


def state_of(node):
    """How a task, graph or fan-out ended: Succeeded, Failed, Skipped or Blocked."""
    end, start = end_of(node), getattr(node, "start", None)
    inside = end.get_closest_mapped_task_group() is not None
    index = get_current_context()["ti"].map_index if inside else -1
    suffix = f"_{index}" if inside else ""
    task_ids = [end.task_id] + ([] if start is None else [start.task_id])
    found = states_of(task_ids, index)
    names = {
        "success": "Succeeded",
        "skipped": "Skipped",
        "upstream_failed": "Blocked",
    }
    ended = names.get(found.get(end.task_id + suffix), "Failed")
    if start is None or ended in ("Succeeded", "Skipped"):
        return ended
    began = names.get(found.get(start.task_id + suffix))
    return "Blocked" if began == "Blocked" else "Failed"


def failures_of(graph):
    """The tasks whose failure counts for a graph: see `judge`."""
    waits = {end_of(node).task_id: (node, before) for node, before in graph}
    inner = {end_of(each).task_id for _, before in graph for each in before}
    waiting = [task_id for task_id in waits if task_id not in inner]
    failed, seen = [], set()
    while waiting:
        task_id = waiting.pop()
        if task_id in seen:
            continue
        seen.add(task_id)
        node, before = waits[task_id]
        ended = state_of(node)
        if ended == "Failed" or (ended == "Blocked" and not before):
            failed.append(task_id)
        elif ended != "Succeeded":
            waiting += [end_of(each).task_id for each in before]
    return sorted(failed)


def or_else(read, default):
    """The value, or the default where it is absent."""
    try:
        return read()
    except Absent:
        return default() if callable(default) else default


def as_json(value):
    """A computed value as JSON has it: NaN and infinities are words there."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def joined(*parts):
    """A text made of parts: texts as they are, everything else as JSON."""
    return "".join(
        each
        if isinstance(each, str)
        else json.dumps(as_json(each), ensure_ascii=False, separators=(",", ":"))
        for each in parts
    )


STORE = "/files"


class StepFailed(AirflowException):
    """A step that ended with an exit code other than 0."""

    def __init__(self, message, exit_code=None, seconds=0.0):
        super().__init__(message)
        self.exit_code, self.seconds = exit_code, seconds


class Work(NamedTuple):
    """What an operator does: the step, how its inputs are read, when it goes on."""

    template: dict
    inputs: Any = dict
    when: Any = None
    again: Any = None
    turns: Any = None
    batch: bool = False


def run_attempt(run, given, again, turns):
    """One attempt; `again` says of a failure whether another one is worth it."""
    try:
        return run(given) if turns is None else turns(run, given)
    except StepFailed as error:
        if again is not None and not evaluated(again, error):
            raise AirflowFailException(str(error)) from error
        raise


def run_batch(run, items, attempts):
    """Several items in one task, each with its own attempts; None for failed ones."""
    found = []
    for item in items:
        made = None
        for number in range(attempts):
            try:
                made = run(item)
                break
            except AirflowException as error:
                print(f"item {len(found)}, attempt {number}: {error}")
        found.append(made)
    return kept({"@items": found})


def value_of(name, form, written, marked):
    """An output as it was written: text as it is, everything else as JSON.

    Python steps mark texts that could be taken for something else.
    """
    if marked and written.startswith("couler:json:"):
        return json.loads(written.removeprefix("couler:json:"))
    if not marked:
        written = written.removesuffix("\n")
    if form is str:
        return written
    try:
        value = json.loads(written)
    except ValueError as error:
        if form is object:
            return written
        raise StepFailed(f"the output {name} is not JSON: {error}") from error
    fitting = (int, float) if form is float else (form,)
    if not marked and form is not object and type(value) not in fitting:
        raise StepFailed(f"the output {name} is not {form.__name__}: {written[:60]}")
    return value


def program_of(template):
    """The program of a Python step: a line that calls the runner, and the function."""
    spec = json.dumps(SPECS[template["name"]])
    start = "exec(__import__('os').environ.pop('COULER_RUNNER'))"
    return f"SPEC = __import__('json').loads({spec!r}); {start}\n{template['source']}"


def encoded(value):
    """An input as the runner reads it."""
    try:
        data = json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        data = json.dumps(value).encode()
    return base64.b64encode(b"couler:json:" + data).decode()


def variable_of(name):
    """The environment variable with an input of a Python function."""
    return "COULER_INPUT_" + (name if name.isascii() else "0" + name.encode().hex())


def address_of(name):
    """Where a file of this task is kept."""
    ti = get_current_context()["ti"]
    attempt = f"{ti.map_index}-{ti.try_number}"
    parts = (ti.dag_id, ti.run_id, ti.task_id, attempt, name)
    return "/".join((STORE, *(quote(each, safe="") for each in parts)))


def place_of(template, name, given):
    """Where an output file goes: its place in a named store, else one of its own."""
    named = evaluated(template.get("to", {}), given)
    return named[name] if name in named else address_of(name)


def store_of(place):
    """The store that a place is in, and its path there."""
    if isinstance(place, dict):
        return url_to_fs(place["@uri"], **place.get("@options", {}))
    return url_to_fs(place)


def is_folder(place):
    """Whether a place is several: the files of a fan-out by the number of their item."""
    return isinstance(place, dict) and "@uri" not in place


def all_inputs(template, given):
    """The inputs of a step with what it says itself: defaults, and files in named stores."""
    found = template.get("defaults", {}) | given
    return evaluated(template.get("from", {}), found) | found


def write_file(name, data):
    """Keep some bytes; gives where."""
    place = address_of(name)
    store, path = url_to_fs(place)
    store.makedirs(store._parent(path), exist_ok=True)
    store.pipe_file(path, data)
    return place


def read_file(place):
    """Bytes that were kept."""
    store, path = url_to_fs(place)
    return store.cat_file(path)


def run_cached(template, given, run):
    """The outputs of an earlier success with the same program and inputs, or new.

    A key of the step's own stands for its inputs; what it reads of the run counts too.
    """
    cache = template["cache"]
    read = {name: param(name) for name in cache.get("parameters", ())}
    if "key" in cache:
        contents = evaluated(cache["key"], given)
    else:
        contents = {
            name: digest_of(value) if name in template.get("files", ()) else value
            for name, value in given.items()
        }
    identity = [cache["program"], cache["version"], read, contents]
    key = sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
    record = f"{STORE}/cache/{key}.json"
    found = read_record(template, record)
    if found is None:
        found = run(given)
        write_record(record, found)
    return found


def read_record(template, place):
    """The outputs in a record; None without one that is whole, young, and has its files."""
    try:
        record = json.loads(read_file(place))
    except (FileNotFoundError, ValueError):
        return None
    found, most = record["outputs"], template["cache"]["seconds"]
    if most is not None and time() - record["time"] >= most:
        return None
    files = [found[name] for name in template.get("gives", ())]
    return found if all(is_kept(each) for each in files if each is not None) else None


def write_record(place, outputs):
    """Keep outputs as a record, which gets its name when it is whole."""
    store, path = url_to_fs(place)
    store.makedirs(store._parent(path), exist_ok=True)
    part = f"{path}.{uuid4().hex}.part"
    store.pipe_file(part, json.dumps({"time": time(), "outputs": outputs}).encode())
    store.mv(part, path)


def is_kept(place):
    """Whether a file or folder is still where it was kept."""
    store, path = store_of(place)
    return store.exists(path)


def digest_of(place):
    """A digest of what is in a kept file or folder."""
    if place is None:
        return None
    if is_folder(place):
        return {name: digest_of(each) for name, each in place.items()}
    store, path = store_of(place)
    return {
        each[len(path) :]: sha256(store.cat_file(each)).hexdigest()
        for each in sorted(store.find(path))
    }


PATCHES = {
    "": "application/strategic-merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
}


def resource(task_id, template, inputs=dict, when=None, again=None, **options):
    """A step that does something with a Kubernetes object. `inputs` as for `step`."""
    made = Resource(task_id=task_id, **template.get("options", {}), **options)
    made.work = Work(template, inputs, when, again)
    return made


class Resource(KubernetesCreateResourceOperator):
    """The operator of such a step: it reads the inputs when it starts."""

    template_fields = ()
    work = made = None

    def __init__(self, *, item=None, **options):
        super().__init__(**options)
        self.item = item

    def execute(self, context):
        proceed(self.work.when)
        if self.work.batch:
            return run_batch(self.run_once, self.item, 1 + self.retries)
        return kept(self.run_once(*(() if self.item is None else (self.item,))))

    def run_once(self, *item):
        given = all_inputs(self.work.template, evaluated(self.work.inputs, *item))
        act = partial(act_on, self, self.work.template)
        return run_attempt(act, given, self.work.again, None)

    def on_kill(self):
        if self.made is not None and self.work.template["action"] == "create":
            api, name, namespace = self.made
            policy = {"propagationPolicy": "Background"}
            api.delete(name=name, namespace=namespace, body=policy)


def act_on(operator, template, given):
    """Do what is asked, wait until a condition holds, and give the outputs."""
    body, action = evaluated(template["manifest"], given), template["action"]
    found = DynamicClient(operator.client).resources
    api = found.get(api_version=body["apiVersion"], kind=body["kind"])
    metadata = body.setdefault("metadata", {})
    namespace = metadata.get("namespace") or operator.get_namespace()
    place = {"namespace": namespace} if api.namespaced else {}
    name = metadata.get("name")
    if action == "create":
        name = api.create(body=body, **place).metadata.name
    elif action == "apply":
        api.server_side_apply(body=body, field_manager="couler", **place)
    elif action == "replace":
        current = api.get(name=name, **place).metadata.resourceVersion
        body["metadata"] = metadata | {"resourceVersion": current}
        api.replace(body=body, **place)
    elif action == "patch":
        kind = PATCHES[template.get("patch", "")]
        api.patch(body=body, name=name, content_type=kind, **place)
    elif action == "delete":
        policy = {"propagationPolicy": "Background"}
        api.delete(name=name, body=policy, **place)
        return {}
    operator.made = (api, name, place.get("namespace"))
    operator.log.info("%s %s: %s", body["kind"], name, action)
    return outputs_of_object(template, settled(operator, template, api, name, place))


def settled(operator, template, api, name, place):
    """The object, once its conditions say that it is done. Raises `StepFailed`."""
    succeeds, fails = template.get("succeeds", ()), template.get("fails", ())
    while True:
        found = api.get(name=name, **place).to_dict()
        for each in fails:
            if holds(found, *each):
                raise StepFailed(f"{name} failed: {each} holds")
        if all(holds(found, *each) for each in succeeds):
            return found
        operator.log.info("waiting for %s: %s", name, found.get("status"))
        sleep(5)


def holds(found, path, operator, values):
    """Whether a condition over a field holds: a requirement of a label selector."""
    value = field_of(found, path)
    there = value is not None
    text = value_text(value)
    if operator in ("exists", "!"):
        return there if operator == "exists" else not there
    if operator in ("in", "notin"):
        return (there and text in values) if operator == "in" else text not in values
    try:
        left, right = int(text), int(values[0])
    except ValueError:
        return False
    return left > right if operator == ">" else left < right


def field_of(found, path):
    """A field of an object by its path, None where it isn't there."""
    for step in path:
        if isinstance(found, list):
            found = (
                found[int(step)] if step.isdigit() and int(step) < len(found) else None
            )
        else:
            found = found.get(step) if isinstance(found, dict) else None
    return found


def value_text(value):
    """A field as text: a string as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def outputs_of_object(template, found):
    """The outputs of the step: fields of the object."""
    made = {}
    for name, path in template.get("fields", {}).items():
        value = field_of(found, path)
        if value is None:
            raise StepFailed(f"the object has no field {'.'.join(path)}")
        form = template["outputs"][name]
        made[name] = value_of(name, form, value_text(value), False)
    return made


class Files(NamedTuple):
    """Where a container finds its files and leaves its own, and a mark that all are there.

    `result` is where it writes its outputs.
    """

    brought: dict
    left: dict
    ready: str = ""
    result: str = ""


def run_facts():
    """What every step is told of its run."""
    facts = ("id", "name", "namespace", "scheduled_time", "start", "attempt")
    return {f"COULER_RUN_{name.upper()}": str(fact(name)) for name in facts}


def program_in_container(template, given, files):
    """The words, and the environment, with which a container is started."""
    env = run_facts() | evaluated(template.get("env", {}), given)
    if "source" in template:
        env |= python_environment(template, given, files)
        return [*template.get("python", ["python"]), "-c", PYTHON_STEP], env
    if "script" in template:
        env["COULER_SCRIPT"] = evaluated(template["script"], given)
    return command_of(template, given, files), env


def python_environment(template, given, files):
    """What the runner of a Python function finds in its environment."""
    keep = {
        "values": list(template.get("outputs", ())),
        "brought": files.brought,
        "files": files.left,
        "include": [INCLUDES[each] for each in template.get("include", ())],
        "ready": files.ready,
        "result": files.result,
    }
    values = {
        variable_of(name): encoded(value)
        for name, value in given.items()
        if name not in template.get("files", ())
    }
    return values | {
        "COULER_RUNNER": RUNNER,
        "COULER_STEP": program_of(template),
        "COULER_KEEP": json.dumps(keep),
        "PYTHONUNBUFFERED": "1",
    }


def command_of(template, given, files):
    """The words of a container's command, in a shell that keeps its outputs."""
    words = [*evaluated(template["command"], given)]
    paths = template.get("paths", {})
    before, after = [], []
    if "script" in template:
        words.append("/tmp/couler-script")
        before.append('printf %s "$COULER_SCRIPT" > /tmp/couler-script')
        before.append("chmod 700 /tmp/couler-script; unset COULER_SCRIPT")
    for name in files.brought:
        before += copied(files.brought[name], template["files"][name])
    for name in template.get("outputs", {}):
        path = shlex.quote(paths.get(name, "/tmp/.couler-stdout"))
        read = f"base64 < {path} | tr -d '\\n'"
        after.append(
            f'[ ! -e {path} ] || add {shlex.quote(json.dumps(name))} "$({read})"'
        )
    for name in template.get("gives", ()):
        path, place = shlex.quote(paths[name]), shlex.quote(files.left[name])
        folder = shlex.quote(files.left[name].rpartition("/")[0])
        after.append(
            f"[ ! -e {path} ] || {{ mkdir -p {folder} && cp -r {path} {place} && "
            f"add {shlex.quote(json.dumps(name))} ''; }}"
        )
    if not before and not after:
        return words
    printed = "/tmp/.couler-stdout"
    run = (
        f'"$@" > {printed}; code=$?; cat {printed}'
        if "stdout" in template
        else '"$@"; code=$?'
    )
    if files.ready:
        after.append(f": > {shlex.quote(files.ready)}")
    if files.result:
        after.append(f"printf '%s}}' \"$found\" > {files.result}")
    lines = [
        "found='{'; comma=''",
        """add() { found="$found$comma$1:\\"$2\\""; comma=,; }""",
        f"echo '{{}}' > {files.result}" if files.result else ":",
        *before,
        run,
        "[ $code = 0 ] || exit $code",
        *after,
    ]
    return ["sh", "-c", "\n".join(lines), "sh", *words]


def copied(place, path):
    """The lines of a shell that bring a kept file or folder to a path."""
    if place is None:
        return []
    if isinstance(place, dict):
        made = [f"mkdir -p {shlex.quote(path)}"]
        for name, each in place.items():
            made += copied(each, f"{path}/{name}")
        return made
    folder = shlex.quote(path.rpartition("/")[0] or "/")
    return [f"mkdir -p {folder} && cp -r {shlex.quote(place)} {shlex.quote(path)}"]


def read_outputs(template, given, written):
    """The outputs of a pod, as its program wrote them."""
    found = {}
    for name, form in template.get("outputs", {}).items():
        if name in written:
            text = base64.b64decode(written[name]).decode()
            found[name] = value_of(name, form, text, "source" in template)
        elif name in template.get("otherwise", {}):
            found[name] = template["otherwise"][name]
        else:
            raise StepFailed(f"the step left no output {name}")
    for name, optional in template.get("gives", {}).items():
        if name not in written and not optional:
            raise StepFailed(f"the step left no file {name}")
        found[name] = place_of(template, name, given) if name in written else None
    return found


PYTHON_STEP = """\
import base64, json, os, subprocess, sys
folder, found = "/tmp/couler/outputs", {}
keep = json.loads(os.environ.pop("COULER_KEEP"))


def bring(place, path):
    if isinstance(place, dict):
        os.makedirs(path, exist_ok=True)
        for name, each in place.items():
            bring(each, f"{path}/{name}")
    elif place is not None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.check_call(["cp", "-r", place, path])


code, archives = 1, []
try:
    for data in keep["include"]:
        archives.append(f"/tmp/include-{len(archives)}.tar.gz")
        with open(archives[-1], "wb") as file:
            file.write(base64.b85decode(data))
    os.environ["COULER_INCLUDE"] = os.pathsep.join(archives)
    for name, place in keep["brought"].items():
        bring(place, f"/tmp/couler/inputs/{name}")
    with open("/tmp/step.py", "w", encoding="utf-8") as file:
        file.write(os.environ.pop("COULER_STEP"))
    code = subprocess.call([sys.executable, "/tmp/step.py"])
    for name in keep["values"]:
        if code == 0:
            with open(f"{folder}/{name}", "rb") as file:
                found[name] = base64.b64encode(file.read()).decode()
    for name, place in keep["files"].items():
        if code == 0 and os.path.exists(f"{folder}/{name}"):
            os.makedirs(os.path.dirname(place), exist_ok=True)
            subprocess.check_call(["cp", "-r", f"{folder}/{name}", place])
            found[name] = ""
    if code == 0 and keep["ready"]:
        open(keep["ready"], "w").close()
finally:
    if keep["result"]:
        with open(keep["result"], "w") as file:
            json.dump(found, file)
sys.exit(code)
"""

CLAIM = "files"

STORE_SECRET = ""

RUNNER_IMAGE = "couler-runner:0.1.0"

FILES = "/couler"

BRINGING = 3600  # seconds: a pod has not started before its files are there

PLAIN_POD = {"spec": {"containers": [{"name": "base"}]}}


def step(task_id, template, inputs=dict, when=None, again=None, turns=None, **options):
    """A step as a pod of its own. `inputs` are values, or how they are read."""
    pod = Pod(task_id=task_id, **pod_options(template), **options)
    pod.work = Work(template, inputs, when, again, turns)
    return pod


def pod_options(template):
    """What the operator of a step is given."""
    return {
        "image": "" if callable(template["image"]) else template["image"],
        "do_xcom_push": bool(template.get("outputs") or template.get("gives")),
        **template.get("options", {}),
    }


class Pod(KubernetesPodOperator):
    """The operator of a step: it reads the inputs when it starts, and Jinja nothing."""

    template_fields = ()
    work = None

    def __init__(self, *, item=None, **options):
        super().__init__(**options)
        self.item = item

    def execute(self, context):
        proceed(self.work.when)
        if self.work.batch:
            one = partial(self.run_once, context)
            found = run_batch(one, self.item, 1 + self.retries)
        else:
            given = () if self.item is None else (self.item,)
            found = kept(self.run_once(context, *given))
        if not self.do_xcom_push:
            context["ti"].xcom_push(key="return_value", value=found)
        return found

    def run_once(self, context, *item):
        template = self.work.template
        given = all_inputs(template, evaluated(self.work.inputs, *item))
        run = partial(self.run_pod, context)
        if "cache" in template:
            run = partial(run_cached, template, run=run)
        return run_attempt(run, given, self.work.again, self.work.turns)

    def run_pod(self, context, given):
        describe(self, self.work.template, given)
        self.pod = self.pod_request_obj = self.remote_pod = None
        try:
            written = super().execute(context)
        except AirflowException as error:
            code = exit_codes_of(self.remote_pod).get("base")
            raise StepFailed(str(error), code) from error
        return read_outputs(self.work.template, given, written or {})

    def extract_xcom(self, pod, **options):
        found = super().extract_xcom(pod, **options)
        check_kept(self, pod)
        return found


def describe(operator, template, given):
    """Give the operator the command, the environment and the files of its pod."""
    files = pod_files(template, given)
    words, env = program_in_container(template, given, files)
    operator.image = evaluated(template["image"], given)
    pod = evaluated(template.get("pod", PLAIN_POD), given)
    operator.pod_template_dict = pod = with_files(template, pod, given, files)
    first = [each["name"] for each in pod["spec"].get("initContainers", ())]
    if "couler-bring" in first:
        operator.init_container_logs = ["couler-bring"]
        operator.startup_timeout_seconds = BRINGING
    operator.cmds, operator.arguments = escaped(words[:1]), escaped(words[1:])
    operator.env_vars = {name: escaped(value) for name, value in env.items()}


def escaped(text):
    """A text, or a list of them, in which Kubernetes expands nothing."""
    if isinstance(text, list):
        return [escaped(each) for each in text]
    return text.replace("$", "$$")


def pod_files(template, given):
    """Where a pod finds its files and leaves its own.

    What is on the volume of the claim is used there. The rest is in a folder of the pod,
    which the runner fills and empties.
    """
    names, gives = template.get("files", ()), template.get("gives", ())
    brought = {name: in_pod(given.get(name), f"{FILES}/in/{name}") for name in names}
    places = {name: place_of(template, name, given) for name in gives}
    left = {name: in_pod(places[name], f"{FILES}/out/{name}") for name in gives}
    ready = (
        f"{FILES}/ready" if any(left[name] != places[name] for name in gives) else ""
    )
    result = "/airflow/xcom/return.json" if gives or template.get("outputs") else ""
    return Files(brought, left, ready, result)


def in_pod(place, path):
    """Where a pod has what is kept at a place, in the same form."""
    if is_folder(place):
        return {name: in_pod(each, f"{path}/{name}") for name, each in place.items()}
    return place if place is None or (CLAIM and isinstance(place, str)) else path


def transfers(place, path):
    """What the runner brings or keeps: pairs of a place and a path."""
    if is_folder(place):
        pairs = [transfers(place[name], path[name]) for name in place]
        return [pair for each in pairs for pair in each]
    return [] if place == path else [{"place": place, "path": path}]


def with_files(template, pod, given, files):
    """The pod, with the volumes in which its files are, where it reads or leaves any."""
    if not files.brought and not files.left:
        return pod
    places = {name: place_of(template, name, given) for name in files.left}
    bring = transfers({name: given.get(name) for name in files.brought}, files.brought)
    keep = transfers(places, files.left)
    folder = {"name": "couler-pod", "mountPath": FILES}
    spec = dict(pod["spec"])
    base, *others = spec["containers"]
    mounts, volumes = [], []
    if CLAIM:
        mounts.append({"name": "couler-files", "mountPath": STORE})
        claim = {"persistentVolumeClaim": {"claimName": CLAIM}}
        volumes.append({"name": "couler-files", **claim})
    if bring or keep:
        mounts.append(folder)
        volumes.append({"name": "couler-pod", "emptyDir": {}})
    mounted = base | {"volumeMounts": [*base.get("volumeMounts", []), *mounts]}
    spec["containers"] = [mounted, *others]
    spec["volumes"] = [*spec.get("volumes", []), *volumes]
    if bring:
        before = runner_container("couler-bring", ["bring"], bring, folder)
        spec["initContainers"] = [before, *spec.get("initContainers", [])]
    if keep:
        beside = runner_container("couler-keep", ["keep", files.ready], keep, folder)
        spec["containers"].append(beside)
    return {**pod, "spec": spec}


def runner_container(name, words, moved, mount):
    """A container of the runner image, which moves files between a pod and a store."""
    env = []
    for each in moved:
        secrets = (
            each["place"].get("@secrets", {}) if isinstance(each["place"], dict) else {}
        )
        for option, source in secrets.items():
            each["env"] = each.get("env", {}) | {option: f"COULER_STORE_{len(env)}"}
            secret = {"valueFrom": {"secretKeyRef": source}}
            env.append({"name": f"COULER_STORE_{len(env)}", **secret})
    found = {
        "name": name,
        "image": RUNNER_IMAGE,
        "args": escaped([*words, json.dumps(moved)]),
        "volumeMounts": [mount],
    }
    if env:
        found["env"] = env
    if STORE_SECRET:
        found["envFrom"] = [{"secretRef": {"name": STORE_SECRET}}]
    return found


def check_kept(operator, pod):
    """Wait until the runner has kept the files of a pod whose step succeeded."""
    if all(each.name != "couler-keep" for each in pod.spec.containers):
        return
    manager = operator.pod_manager
    manager.await_container_completion(pod=pod, container_name="base")
    if exit_codes_of(manager.read_pod(pod)).get("base") != 0:
        return
    manager.await_container_completion(pod=pod, container_name="couler-keep")
    if exit_codes_of(manager.read_pod(pod)).get("couler-keep") != 0:
        where = pod.metadata
        said = operator.client.read_namespaced_pod_log(
            where.name, where.namespace, container="couler-keep", tail_lines=10
        )
        raise StepFailed(f"its files could not be kept: {said}")


def exit_codes_of(pod):
    """The exit codes of the containers of a pod that have ended."""
    statuses = (pod.status.container_statuses or []) if pod else []
    ended = [each for each in statuses if each.state.terminated]
    return {each.name: each.state.terminated.exit_code for each in ended}


SPECS = {
    "edit-prepare": {
        "function": "prepare",
        "returns": "one",
        "future": ["annotations"],
        "packages": [],
        "inputs": [
            {"name": "most", "type": {"type": "scalar", "name": "int"}},
            {"name": "texts", "artifact": True, "optional": True},
        ],
        "outputs": [{"name": "result", "artifact": True}],
        "decisions": [],
        "pieces": [
            {"file": "couler_py/steps/edit/step.py", "line": 8, "start": 3, "count": 1},
            {
                "file": "couler_py/steps/edit/step.py",
                "line": 47,
                "start": 6,
                "count": 8,
            },
        ],
    },
    "edit-publish": {
        "function": "publish",
        "returns": "fields",
        "future": ["annotations"],
        "packages": [],
        "inputs": [
            {"name": "shared", "type": {"type": "scalar", "name": "str"}},
            {"name": "data", "artifact": True},
        ],
        "outputs": [
            {"name": "corpus", "type": {"type": "scalar", "name": "str"}},
            {"name": "folder", "type": {"type": "scalar", "name": "str"}},
            {"name": "checkpoints", "type": {"type": "scalar", "name": "str"}},
        ],
        "decisions": [],
        "pieces": [
            {"file": "couler_py/steps/edit/step.py", "line": 9, "start": 3, "count": 1},
            {"file": "couler_py/steps/edit/step.py", "line": 8, "start": 6, "count": 1},
            {
                "file": "couler_py/steps/edit/step.py",
                "line": 38,
                "start": 9,
                "count": 6,
            },
            {
                "file": "couler_py/steps/edit/step.py",
                "line": 86,
                "start": 17,
                "count": 5,
            },
        ],
    },
    "edit-collect": {
        "function": "collect",
        "returns": "fields",
        "future": ["annotations"],
        "packages": [],
        "inputs": [{"name": "results", "type": {"type": "scalar", "name": "str"}}],
        "outputs": [
            {"name": "loss", "type": {"type": "scalar", "name": "float"}},
            {"name": "tokens", "type": {"type": "scalar", "name": "int"}},
            {"name": "seconds", "type": {"type": "scalar", "name": "float"}},
            {"name": "bytes_between", "type": {"type": "scalar", "name": "int"}},
            {"name": "model", "artifact": True},
            {"name": "metrics", "artifact": True},
            {"name": "report", "artifact": True},
            {"name": "trace", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {"file": "couler_py/steps/edit/step.py", "line": 8, "start": 3, "count": 1},
            {"file": "couler_py/steps/edit/step.py", "line": 9, "start": 6, "count": 1},
            {
                "file": "couler_py/steps/edit/step.py",
                "line": 23,
                "start": 9,
                "count": 13,
            },
            {
                "file": "couler_py/steps/edit/step.py",
                "line": 68,
                "start": 24,
                "count": 15,
            },
            {
                "file": "couler_py/steps/edit/step.py",
                "line": 94,
                "start": 41,
                "count": 6,
            },
        ],
    },
    "edit-evaluate": {
        "function": "evaluate",
        "returns": "one",
        "future": ["annotations"],
        "packages": [],
        "inputs": [
            {"name": "rows", "type": {"type": "scalar", "name": "int"}},
            {"name": "sequence", "type": {"type": "scalar", "name": "int"}},
            {"name": "model", "artifact": True},
            {"name": "data", "artifact": True},
        ],
        "outputs": [{"name": "result", "type": {"type": "scalar", "name": "float"}}],
        "decisions": [],
        "pieces": [
            {"file": "couler_py/steps/edit/step.py", "line": 8, "start": 3, "count": 1},
            {
                "file": "couler_py/steps/edit/step.py",
                "line": 198,
                "start": 6,
                "count": 13,
            },
        ],
    },
}

# Reads the inputs of Python steps, and writes their outputs.
RUNNER = "the runner"

INCLUDES = {}

on_nodes()
