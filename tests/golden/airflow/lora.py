"""The workflow five_jobs: base_and_data → together → judge-json, judge-email,
judge-asyncio, judge-order, judge-taste, alone-json, lora-export → alone-email →
alone-asyncio → alone-order → alone-taste → compared.

Written by couler-py: change the program that it was made from, not this file.
"""

from datetime import UTC, datetime

from airflow import __version__ as airflow_version
from airflow.sdk import Param, dag

if tuple(map(int, airflow_version.split(".")[:2])) < (3, 1):
    raise RuntimeError(f"this DAG needs Airflow 3.1 or later, not {airflow_version}")


@dag(
    "five_jobs",
    schedule=None,
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    catchup=False,
    params={"lines": Param(120, type="integer")},
    doc_md=__doc__,
)
def five_jobs():
    base_and_data = step(
        "base_and_data", BASE_AND_DATA, lambda: {"lines": param("lines")}
    )
    together = step(
        "together",
        LORA_TRAIN_MANY,
        lambda: {
            "queue": '{"jobs":[{"name":"json","data":{"path":"json.jsonl","template":"","order":"shuffle","held_out":16},"adapter":{"method":"lora","rank":4,"alpha":16.0,"dropout":0.0,"targets":["q_proj","k_proj","v_proj","o_proj"],"ratio":16.0,"d_initial":0.1,"start":""},"objective":{"type":"sft"},"optimizer":{"kind":"adamw","lr":0.005,"betas":[0.9,0.999],"eps":1e-8,"weight_decay":0.0,"momentum":0.9},"schedule":{"kind":"constant","warmup":0,"period":null,"least":0.0},"batch":8,"micro_batch":null,"epochs":1,"cutoff":96,"clip":1.0,"scaler":null,"stop":null,"priority":0,"seed":0},{"name":"email","data":{"path":"email.jsonl","template":"","order":"shuffle","held_out":16},"adapter":{"method":"lora+","rank":8,"alpha":16.0,"dropout":0.0,"targets":["q_proj","k_proj","v_proj","o_proj"],"ratio":4.0,"d_initial":0.1,"start":""},"objective":{"type":"sft"},"optimizer":{"kind":"adamw","lr":0.005,"betas":[0.9,0.999],"eps":1e-8,"weight_decay":0.0,"momentum":0.9},"schedule":{"kind":"constant","warmup":0,"period":null,"least":0.0},"batch":8,"micro_batch":null,"epochs":1,"cutoff":96,"clip":1.0,"scaler":null,"stop":null,"priority":0,"seed":0},{"name":"asyncio","data":{"path":"asyncio.jsonl","template":"","order":"shuffle","held_out":16},"adapter":{"method":"dora","rank":8,"alpha":16.0,"dropout":0.05,"targets":["q_proj","k_proj","v_proj","o_proj"],"ratio":16.0,"d_initial":0.1,"start":""},"objective":{"type":"sft"},"optimizer":{"kind":"adamw","lr":0.005,"betas":[0.9,0.999],"eps":1e-8,"weight_decay":0.0,"momentum":0.9},"schedule":{"kind":"constant","warmup":0,"period":null,"least":0.0},"batch":8,"micro_batch":null,"epochs":1,"cutoff":96,"clip":1.0,"scaler":null,"stop":null,"priority":0,"seed":0},{"name":"order","data":{"path":"pairs.jsonl","template":"","order":"shuffle","held_out":16},"adapter":{"method":"lora","rank":8,"alpha":16.0,"dropout":0.0,"targets":["q_proj","k_proj","v_proj","o_proj"],"ratio":16.0,"d_initial":0.1,"start":""},"objective":{"type":"cpo","beta":0.5,"loss":"sigmoid"},"optimizer":{"kind":"adamw","lr":0.005,"betas":[0.9,0.999],"eps":1e-8,"weight_decay":0.0,"momentum":0.9},"schedule":{"kind":"constant","warmup":0,"period":null,"least":0.0},"batch":4,"micro_batch":null,"epochs":1,"cutoff":96,"clip":1.0,"scaler":null,"stop":null,"priority":0,"seed":0},{"name":"taste","data":{"path":"pairs.jsonl","template":"","order":"shuffle","held_out":16},"adapter":{"method":"rslora","rank":16,"alpha":16.0,"dropout":0.0,"targets":["q_proj","k_proj","v_proj","o_proj"],"ratio":16.0,"d_initial":0.1,"start":""},"objective":{"type":"dpo","beta":0.5,"loss":"sigmoid","smoothing":0.0,"reference":""},"optimizer":{"kind":"adamw","lr":0.0002,"betas":[0.9,0.999],"eps":1e-8,"weight_decay":0.0,"momentum":0.9},"schedule":{"kind":"constant","warmup":0,"period":null,"least":0.0},"batch":4,"micro_batch":null,"epochs":1,"cutoff":96,"clip":1.0,"scaler":null,"stop":null,"priority":0,"seed":0}],"policy":{"concurrency":8,"memory":null,"fuse":true,"overhead":256,"aging":50,"save_every":50}}',
            "checkpoints": "",
            "inbox": "",
            "base": out(base_and_data, "base"),
            "data": out(base_and_data, "data"),
        },
    )
    judge_json = step(
        "judge-json",
        LORA_EVALUATE,
        lambda: {
            "job": "json",
            "base": out(base_and_data, "base"),
            "adapters": out(together, "adapters"),
            "data": out(base_and_data, "data"),
        },
    )
    judge_email = step(
        "judge-email",
        LORA_EVALUATE,
        lambda: {
            "job": "email",
            "base": out(base_and_data, "base"),
            "adapters": out(together, "adapters"),
            "data": out(base_and_data, "data"),
        },
    )
    judge_asyncio = step(
        "judge-asyncio",
        LORA_EVALUATE,
        lambda: {
            "job": "asyncio",
            "base": out(base_and_data, "base"),
            "adapters": out(together, "adapters"),
            "data": out(base_and_data, "data"),
        },
    )
    judge_order = step(
        "judge-order",
        LORA_EVALUATE,
        lambda: {
            "job": "order",
            "base": out(base_and_data, "base"),
            "adapters": out(together, "adapters"),
            "data": out(base_and_data, "data"),
        },
    )
    judge_taste = step(
        "judge-taste",
        LORA_EVALUATE,
        lambda: {
            "job": "taste",
            "base": out(base_and_data, "base"),
            "adapters": out(together, "adapters"),
            "data": out(base_and_data, "data"),
        },
    )
    alone_json = step(
        "alone-json",
        LORA_TRAIN_MANY,
        lambda: {
            "queue": '{"jobs":[{"name":"json","data":{"path":"json.jsonl","template":"","order":"shuffle","held_out":16},"adapter":{"method":"lora","rank":4,"alpha":16.0,"dropout":0.0,"targets":["q_proj","k_proj","v_proj","o_proj"],"ratio":16.0,"d_initial":0.1,"start":""},"objective":{"type":"sft"},"optimizer":{"kind":"adamw","lr":0.005,"betas":[0.9,0.999],"eps":1e-8,"weight_decay":0.0,"momentum":0.9},"schedule":{"kind":"constant","warmup":0,"period":null,"least":0.0},"batch":8,"micro_batch":null,"epochs":1,"cutoff":96,"clip":1.0,"scaler":null,"stop":null,"priority":0,"seed":0}],"policy":{"concurrency":8,"memory":null,"fuse":true,"overhead":256,"aging":50,"save_every":50}}',
            "checkpoints": "",
            "inbox": "",
            "base": out(base_and_data, "base"),
            "data": out(base_and_data, "data"),
        },
    )
    lora_export = step(
        "lora-export",
        LORA_EXPORT,
        lambda: {
            "job": "json",
            "adapters": out(together, "adapters"),
            "base": out(base_and_data, "base"),
        },
    )
    alone_email = step(
        "alone-email",
        LORA_TRAIN_MANY,
        lambda: {
            "queue": '{"jobs":[{"name":"email","data":{"path":"email.jsonl","template":"","order":"shuffle","held_out":16},"adapter":{"method":"lora+","rank":8,"alpha":16.0,"dropout":0.0,"targets":["q_proj","k_proj","v_proj","o_proj"],"ratio":4.0,"d_initial":0.1,"start":""},"objective":{"type":"sft"},"optimizer":{"kind":"adamw","lr":0.005,"betas":[0.9,0.999],"eps":1e-8,"weight_decay":0.0,"momentum":0.9},"schedule":{"kind":"constant","warmup":0,"period":null,"least":0.0},"batch":8,"micro_batch":null,"epochs":1,"cutoff":96,"clip":1.0,"scaler":null,"stop":null,"priority":0,"seed":0}],"policy":{"concurrency":8,"memory":null,"fuse":true,"overhead":256,"aging":50,"save_every":50}}',
            "checkpoints": "",
            "inbox": "",
            "base": out(base_and_data, "base"),
            "data": out(base_and_data, "data"),
        },
    )
    alone_asyncio = step(
        "alone-asyncio",
        LORA_TRAIN_MANY,
        lambda: {
            "queue": '{"jobs":[{"name":"asyncio","data":{"path":"asyncio.jsonl","template":"","order":"shuffle","held_out":16},"adapter":{"method":"dora","rank":8,"alpha":16.0,"dropout":0.05,"targets":["q_proj","k_proj","v_proj","o_proj"],"ratio":16.0,"d_initial":0.1,"start":""},"objective":{"type":"sft"},"optimizer":{"kind":"adamw","lr":0.005,"betas":[0.9,0.999],"eps":1e-8,"weight_decay":0.0,"momentum":0.9},"schedule":{"kind":"constant","warmup":0,"period":null,"least":0.0},"batch":8,"micro_batch":null,"epochs":1,"cutoff":96,"clip":1.0,"scaler":null,"stop":null,"priority":0,"seed":0}],"policy":{"concurrency":8,"memory":null,"fuse":true,"overhead":256,"aging":50,"save_every":50}}',
            "checkpoints": "",
            "inbox": "",
            "base": out(base_and_data, "base"),
            "data": out(base_and_data, "data"),
        },
    )
    alone_order = step(
        "alone-order",
        LORA_TRAIN_MANY,
        lambda: {
            "queue": '{"jobs":[{"name":"order","data":{"path":"pairs.jsonl","template":"","order":"shuffle","held_out":16},"adapter":{"method":"lora","rank":8,"alpha":16.0,"dropout":0.0,"targets":["q_proj","k_proj","v_proj","o_proj"],"ratio":16.0,"d_initial":0.1,"start":""},"objective":{"type":"cpo","beta":0.5,"loss":"sigmoid"},"optimizer":{"kind":"adamw","lr":0.005,"betas":[0.9,0.999],"eps":1e-8,"weight_decay":0.0,"momentum":0.9},"schedule":{"kind":"constant","warmup":0,"period":null,"least":0.0},"batch":4,"micro_batch":null,"epochs":1,"cutoff":96,"clip":1.0,"scaler":null,"stop":null,"priority":0,"seed":0}],"policy":{"concurrency":8,"memory":null,"fuse":true,"overhead":256,"aging":50,"save_every":50}}',
            "checkpoints": "",
            "inbox": "",
            "base": out(base_and_data, "base"),
            "data": out(base_and_data, "data"),
        },
    )
    alone_taste = step(
        "alone-taste",
        LORA_TRAIN_MANY,
        lambda: {
            "queue": '{"jobs":[{"name":"taste","data":{"path":"pairs.jsonl","template":"","order":"shuffle","held_out":16},"adapter":{"method":"rslora","rank":16,"alpha":16.0,"dropout":0.0,"targets":["q_proj","k_proj","v_proj","o_proj"],"ratio":16.0,"d_initial":0.1,"start":""},"objective":{"type":"dpo","beta":0.5,"loss":"sigmoid","smoothing":0.0,"reference":""},"optimizer":{"kind":"adamw","lr":0.0002,"betas":[0.9,0.999],"eps":1e-8,"weight_decay":0.0,"momentum":0.9},"schedule":{"kind":"constant","warmup":0,"period":null,"least":0.0},"batch":4,"micro_batch":null,"epochs":1,"cutoff":96,"clip":1.0,"scaler":null,"stop":null,"priority":0,"seed":0}],"policy":{"concurrency":8,"memory":null,"fuse":true,"overhead":256,"aging":50,"save_every":50}}',
            "checkpoints": "",
            "inbox": "",
            "base": out(base_and_data, "base"),
            "data": out(base_and_data, "data"),
        },
    )
    compared = step(
        "compared",
        COMPARED,
        lambda: {
            "judged": {
                "json": out(judge_json, "result"),
                "email": out(judge_email, "result"),
                "asyncio": out(judge_asyncio, "result"),
                "order": out(judge_order, "result"),
                "taste": out(judge_taste, "result"),
            },
            "together": {
                "seconds": out(together, "seconds"),
                "peak": out(together, "peak"),
            },
            "alone": [
                out(alone_json, "losses"),
                out(alone_email, "losses"),
                out(alone_asyncio, "losses"),
                out(alone_order, "losses"),
                out(alone_taste, "losses"),
            ],
            "seconds": [
                out(alone_json, "seconds"),
                out(alone_email, "seconds"),
                out(alone_asyncio, "seconds"),
                out(alone_order, "seconds"),
                out(alone_taste, "seconds"),
            ],
            "peaks": [
                out(alone_json, "peak"),
                out(alone_email, "peak"),
                out(alone_asyncio, "peak"),
                out(alone_order, "peak"),
                out(alone_taste, "peak"),
            ],
        },
    )
    base_and_data >> together
    [base_and_data, together] >> judge_json
    [base_and_data, together] >> judge_email
    [base_and_data, together] >> judge_asyncio
    [base_and_data, together] >> judge_order
    [base_and_data, together] >> judge_taste
    [together, base_and_data] >> alone_json
    [together, base_and_data] >> lora_export
    [alone_json, base_and_data] >> alone_email
    [alone_email, base_and_data] >> alone_asyncio
    [alone_asyncio, base_and_data] >> alone_order
    [alone_order, base_and_data] >> alone_taste
    [
        judge_json,
        judge_email,
        judge_asyncio,
        judge_order,
        judge_taste,
        together,
        alone_json,
        alone_email,
        alone_asyncio,
        alone_order,
        alone_taste,
    ] >> compared
    result_of_run(
        [compared, lora_export],
        lambda: {
            "result-1": out(compared, "result"),
            "result-2": out(together, "report"),
            "result-3": out(lora_export, "result"),
        },
    )


BASE_AND_DATA = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "base_and_data",
    "source": r'''
# examples/lora.py, line 12
from typing import NamedTuple

# examples/lora.py, line 11
from pathlib import Path

# examples/lora.py, line 43
class Begun(NamedTuple):
    base: Path
    data: Path

# examples/lora.py, line 49
def base_and_data(lines: int) -> Begun:
    """A small decoder that has read a little Python, and a file of lines for each job."""
    import json
    import random

    import torch

    from couler_py.steps.corpus.files import standard_library, texts
    from couler_py.steps.models.config import PRESETS
    from couler_py.steps.models.decoder import build, next_token_loss
    from couler_py.steps.models.folders import save

    def rows(package: str) -> list[str]:
        source = "\n".join(texts([standard_library() / package]))
        return [line.strip() for line in source.splitlines() if 24 <= len(line.strip()) <= 88]

    model, draw = build(PRESETS["tiny"], seed=1), random.Random(1)
    optimizer, read = torch.optim.AdamW(model.parameters(), lr=3e-3), "\n".join(rows("unittest")).encode()
    for _ in range(60):
        places = [draw.randrange(len(read) - 97) for _ in range(8)]
        batch = torch.tensor([list(read[place : place + 97]) for place in places])
        optimizer.zero_grad()
        next_token_loss(model(batch[:, :-1]), batch[:, 1:]).backward()
        optimizer.step()
    save(model, "base")
    folder = Path("data")
    folder.mkdir()
    for name in ("json", "email", "asyncio"):
        chosen = [json.dumps({"text": text}) for text in draw.sample(rows(name), lines)]
        (folder / f"{name}.jsonl").write_text("\n".join(chosen))
    pairs = []
    for text in draw.sample(rows("email"), lines):
        words = text.split(" ")
        start, rest = words[:1], draw.sample(words[1:], len(words) - 1)
        fields = {"prompt": f"{start[0]} ", "chosen": " ".join(words[1:]) + "\n", "rejected": " ".join(rest)}
        pairs.append(json.dumps(fields))
    (folder / "pairs.jsonl").write_text("\n".join(pairs))
    return Begun(Path("base"), folder)
''',
    "gives": {"base": False, "data": False},
}
LORA_TRAIN_MANY = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "lora-train-many",
    "source": '''
# couler_py/steps/lora/step.py, line 9
from pathlib import Path

# couler_py/steps/lora/step.py, line 10
from typing import NamedTuple

# couler_py/steps/lora/step.py, line 19
class Tuned(NamedTuple):
    """A folder with a folder for each adapter, as peft has it; how each job went; and a page of it."""

    adapters: Path
    results: Path
    report: Path
    finished: list[str]
    """Jobs that made all their steps or stopped early."""
    failed: dict[str, str]
    """Jobs that ended otherwise, with the reason."""
    losses: dict[str, float]
    """Of each that finished and moved: on its held-out lines, or of its last step where there are none."""
    seconds: float
    peak: int
    """Bytes of the base, of what was at work at once, and of the largest pass."""

# couler_py/steps/lora/step.py, line 37
def on_one_machine(
    base: Path, data: Path | None, tokenizer: Path | None, queue: str, checkpoints: str, inbox: str
) -> Tuned:
    """Train a queue of jobs, given as JSON, in one process of this machine, on its GPU where it has one."""
    from couler_py.steps.processes import need_torch

    need_torch()
    from couler_py.steps.lora.running import run

    out = Path("trained")
    told = run(queue, base, out, data=data, tokenizer=tokenizer, checkpoints=checkpoints, inbox=inbox)
    for name, reason in told.failed.items():
        print(f"{name}: {reason}")  # noqa: T201
    if not told.finished:
        raise RuntimeError(f"no job of {len(told.failed)} has finished: their reasons stand above")
    return Tuned(
        out / "adapters",
        out / "results.json",
        out / "report.html",
        list(told.finished),
        told.failed,
        told.losses,
        told.seconds,
        told.peak,
    )
''',
    "outputs": {
        "finished": list,
        "failed": dict,
        "losses": dict,
        "seconds": float,
        "peak": int,
    },
    "gives": {"adapters": False, "results": False, "report": False},
    "files": ["base", "data", "tokenizer"],
    "pod": {
        "spec": {
            "containers": [
                {
                    "name": "base",
                    "resources": {
                        "requests": {"memory": "8Gi"},
                        "limits": {"memory": "8Gi"},
                    },
                },
            ],
        },
    },
}
LORA_EVALUATE = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "lora-evaluate",
    "source": '''
# couler_py/steps/lora/step.py, line 9
from pathlib import Path

# couler_py/steps/lora/step.py, line 98
def evaluate(base: Path, adapters: Path, job: str, data: Path | None = None, tokenizer: Path | None = None) -> float:
    """The loss of one job's adapter on the lines that it held out, or on all where it held out none.

    `adapters` and `data` are those of `train_many`. Raises `ValueError` where there is no such adapter.
    """
    from couler_py.steps.lora.running import judge

    return judge(base, adapters / job, data=data, tokenizer=tokenizer)
''',
    "outputs": {"result": float},
    "files": ["base", "adapters", "data", "tokenizer"],
}
LORA_EXPORT = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "lora-export",
    "source": '''
# couler_py/steps/lora/step.py, line 9
from pathlib import Path

# couler_py/steps/lora/step.py, line 109
def export(adapters: Path, job: str, base: Path | None = None) -> Path:
    """One job's adapter as a folder for peft; with a base, a whole model with the adapter in it, for transformers.

    Raises `ValueError` where there is no such adapter.
    """
    import shutil

    source = adapters / job
    if not source.is_dir():
        there = ", ".join(sorted(path.name for path in adapters.iterdir())) or "none"
        raise ValueError(f"there is no adapter of a job {job!r}: there are {there}")
    if base is None:
        return Path(shutil.copytree(source, "adapter"))
    from couler_py.steps.lora.running import merge

    return merge(base, source, Path("model"))
''',
    "gives": {"result": False},
    "files": ["adapters", "base"],
}
COMPARED = {
    "image": "python:3.11",
    "name": "compared",
    "source": r'''
# examples/lora.py, line 12
from typing import TypedDict

# examples/lora.py, line 11
from pathlib import Path

# examples/lora.py, line 38
class Took(TypedDict):
    seconds: float
    peak: int

# examples/lora.py, line 90
def compared(
    judged: dict[str, float], together: Took, alone: list[dict[str, float]], seconds: list[float], peaks: list[int]
) -> Path:
    """A table: each adapter's loss on held-out lines, trained together and alone, and what both ways took."""
    single = {name: loss for losses in alone for name, loss in losses.items()}
    rows = ["| job | together | alone |", "|---|---|---|"]
    rows += [f"| {name} | {judged[name]:.4f} | {single[name]:.4f} |" for name in single]
    rows += ["", "| | seconds | MB at the peak |", "|---|---|---|"]
    rows.append(f"| together | {together['seconds']:.1f} | {together['peak'] / 1e6:.1f} |")
    rows.append(f"| one after another | {sum(seconds):.1f} | {max(peaks) / 1e6:.1f} |")
    rows.append(f"| at once, each with a base of its own | | {sum(peaks) / 1e6:.1f} |")
    report = Path("comparison.md")
    report.write_text("\n".join([*rows, ""]))
    print("\n".join(rows))
    return report
''',
    "gives": {"result": False},
}

# ruff: noqa: E402
# What follows is couler-py's, and in every file the same: how steps get their inputs and
# leave their outputs. The last line makes the DAG.

import base64
import json
import shlex
from functools import partial
from hashlib import sha256
from time import time
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import TriggerRule, get_current_context
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
)
from fsspec.core import url_to_fs


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
    "base_and_data": {
        "function": "base_and_data",
        "returns": "fields",
        "future": [],
        "packages": [],
        "inputs": [{"name": "lines", "type": {"type": "scalar", "name": "int"}}],
        "outputs": [
            {"name": "base", "artifact": True},
            {"name": "data", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {"file": "examples/lora.py", "line": 12, "start": 3, "count": 1},
            {"file": "examples/lora.py", "line": 11, "start": 6, "count": 1},
            {"file": "examples/lora.py", "line": 43, "start": 9, "count": 3},
            {"file": "examples/lora.py", "line": 49, "start": 14, "count": 38},
        ],
    },
    "lora-train-many": {
        "function": "on_one_machine",
        "returns": "fields",
        "future": ["annotations"],
        "packages": [],
        "inputs": [
            {"name": "queue", "type": {"type": "scalar", "name": "str"}},
            {"name": "checkpoints", "type": {"type": "scalar", "name": "str"}},
            {"name": "inbox", "type": {"type": "scalar", "name": "str"}},
            {"name": "base", "artifact": True},
            {"name": "data", "artifact": True, "optional": True},
            {"name": "tokenizer", "artifact": True, "optional": True},
        ],
        "outputs": [
            {
                "name": "finished",
                "type": {"type": "list", "item": {"type": "scalar", "name": "str"}},
            },
            {
                "name": "failed",
                "type": {"type": "dict", "value": {"type": "scalar", "name": "str"}},
            },
            {
                "name": "losses",
                "type": {"type": "dict", "value": {"type": "scalar", "name": "float"}},
            },
            {"name": "seconds", "type": {"type": "scalar", "name": "float"}},
            {"name": "peak", "type": {"type": "scalar", "name": "int"}},
            {"name": "adapters", "artifact": True},
            {"name": "results", "artifact": True},
            {"name": "report", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {"file": "couler_py/steps/lora/step.py", "line": 9, "start": 3, "count": 1},
            {
                "file": "couler_py/steps/lora/step.py",
                "line": 10,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/steps/lora/step.py",
                "line": 19,
                "start": 9,
                "count": 15,
            },
            {
                "file": "couler_py/steps/lora/step.py",
                "line": 37,
                "start": 26,
                "count": 25,
            },
        ],
    },
    "lora-evaluate": {
        "function": "evaluate",
        "returns": "one",
        "future": ["annotations"],
        "packages": [],
        "inputs": [
            {"name": "job", "type": {"type": "scalar", "name": "str"}},
            {"name": "base", "artifact": True},
            {"name": "adapters", "artifact": True},
            {"name": "data", "artifact": True, "optional": True},
            {"name": "tokenizer", "artifact": True, "optional": True},
        ],
        "outputs": [{"name": "result", "type": {"type": "scalar", "name": "float"}}],
        "decisions": [],
        "pieces": [
            {"file": "couler_py/steps/lora/step.py", "line": 9, "start": 3, "count": 1},
            {
                "file": "couler_py/steps/lora/step.py",
                "line": 98,
                "start": 6,
                "count": 8,
            },
        ],
    },
    "lora-export": {
        "function": "export",
        "returns": "one",
        "future": ["annotations"],
        "packages": [],
        "inputs": [
            {"name": "job", "type": {"type": "scalar", "name": "str"}},
            {"name": "adapters", "artifact": True},
            {"name": "base", "artifact": True, "optional": True},
        ],
        "outputs": [{"name": "result", "artifact": True}],
        "decisions": [],
        "pieces": [
            {"file": "couler_py/steps/lora/step.py", "line": 9, "start": 3, "count": 1},
            {
                "file": "couler_py/steps/lora/step.py",
                "line": 109,
                "start": 6,
                "count": 16,
            },
        ],
    },
    "compared": {
        "function": "compared",
        "returns": "one",
        "future": [],
        "packages": [],
        "inputs": [
            {
                "name": "judged",
                "type": {"type": "dict", "value": {"type": "scalar", "name": "float"}},
            },
            {
                "name": "together",
                "type": {
                    "type": "record",
                    "name": "Took",
                    "fields": (
                        {
                            "name": "seconds",
                            "type": {"type": "scalar", "name": "float"},
                            "required": True,
                        },
                        {
                            "name": "peak",
                            "type": {"type": "scalar", "name": "int"},
                            "required": True,
                        },
                    ),
                },
            },
            {
                "name": "alone",
                "type": {
                    "type": "list",
                    "item": {
                        "type": "dict",
                        "value": {"type": "scalar", "name": "float"},
                    },
                },
            },
            {
                "name": "seconds",
                "type": {"type": "list", "item": {"type": "scalar", "name": "float"}},
            },
            {
                "name": "peaks",
                "type": {"type": "list", "item": {"type": "scalar", "name": "int"}},
            },
        ],
        "outputs": [{"name": "result", "artifact": True}],
        "decisions": [],
        "pieces": [
            {"file": "examples/lora.py", "line": 12, "start": 3, "count": 1},
            {"file": "examples/lora.py", "line": 11, "start": 6, "count": 1},
            {"file": "examples/lora.py", "line": 38, "start": 9, "count": 3},
            {"file": "examples/lora.py", "line": 90, "start": 14, "count": 15},
        ],
    },
}

# Reads the inputs of Python steps, and writes their outputs.
RUNNER = "the runner"

INCLUDES = {}

five_jobs()
