"""The workflow recommender: dlrm-generate → dlrm-prepare → dlrm-plan, train-dense →
train-dlrm → dlrm-evaluate, dlrm-export → compared.

Written by couler-py: change the program that it was made from, not this file.
"""

from datetime import UTC, datetime

from airflow import __version__ as airflow_version
from airflow.sdk import Param, dag

if tuple(map(int, airflow_version.split(".")[:2])) < (3, 1):
    raise RuntimeError(f"this DAG needs Airflow 3.1 or later, not {airflow_version}")


@dag(
    "recommender",
    schedule=None,
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    catchup=False,
    params={"rows": Param(160000, type="integer")},
    doc_md=__doc__,
)
def recommender():
    dlrm_generate = step(
        "dlrm-generate",
        DLRM_GENERATE,
        lambda: {"rows": param("rows"), "largest": 20000},
    )
    dlrm_prepare = step(
        "dlrm-prepare",
        DLRM_PREPARE,
        lambda: {"threshold": 3, "holdout": 0.1, "data": out(dlrm_generate, "result")},
    )
    dlrm_plan = step(
        "dlrm-plan",
        DLRM_PLAN,
        lambda: {
            "asked": '{"job":"train-dlrm","task":{"shape":{"kind":"dlrm","width":8,"bottom":[64],"top":[64],"cross_layers":3,"cross_rank":32,"feature_maps":[32,32]},"batch":1024,"micro_batches":2,"epochs":1.0,"dense_optimizer":"adam","dense_lr":0.01,"row_optimizer":"rowwise_adagrad","row_lr":0.2,"seed":0,"save_every":10,"flash":true,"evaluate_every":null,"rebalance_every":null,"sharding":"exactly_once","tolerance":0.2,"watch_every":10,"memory_limit":null,"memory":null,"precision":"fp32","emulated":{"slow":[],"lost":[[1,45]]}},"space":{"workers":[2,2],"servers":[0,0],"worker_cores":[1],"server_cores":[],"cores":null,"memory":null,"node_memory":68719476736.0},"goal":{"prices":{"core":1.0,"gib":0.125},"worth":null},"measured":[],"history":[],"home":"","explore":true}',
            "data": out(dlrm_prepare, "train"),
        },
    )
    train_dense = step(
        "train-dense",
        DLRM_TRAIN,
        lambda: {
            "task": '{"shape":{"kind":"dense","width":16,"bottom":[],"top":[64],"cross_layers":3,"cross_rank":32,"feature_maps":[32,32]},"batch":1024,"micro_batches":1,"epochs":1.0,"dense_optimizer":"adam","dense_lr":0.01,"row_optimizer":"rowwise_adagrad","row_lr":0.05,"seed":0,"save_every":null,"flash":true,"evaluate_every":null,"rebalance_every":null,"sharding":"exactly_once","tolerance":0.2,"watch_every":10,"memory_limit":null,"memory":null,"precision":"fp32","emulated":{"slow":[],"lost":[]}}',
            "processes": 1,
            "restarts": 0,
            "checkpoints": "",
            "least": 0,
            "data": out(dlrm_prepare, "train"),
            "test": out(dlrm_prepare, "test"),
        },
    )
    train_dlrm = step(
        "train-dlrm",
        DLRM_TRAIN,
        lambda: {
            "task": '{"shape":{"kind":"dlrm","width":8,"bottom":[64],"top":[64],"cross_layers":3,"cross_rank":32,"feature_maps":[32,32]},"batch":1024,"micro_batches":2,"epochs":1.0,"dense_optimizer":"adam","dense_lr":0.01,"row_optimizer":"rowwise_adagrad","row_lr":0.2,"seed":0,"save_every":10,"flash":true,"evaluate_every":null,"rebalance_every":null,"sharding":"exactly_once","tolerance":0.2,"watch_every":10,"memory_limit":null,"memory":null,"precision":"fp32","emulated":{"slow":[],"lost":[[1,45]]}}',
            "processes": out(dlrm_plan, "workers"),
            "restarts": 3,
            "checkpoints": "checkpoints",
            "least": 1,
            "data": out(dlrm_prepare, "train"),
            "test": out(dlrm_prepare, "test"),
        },
    )
    dlrm_evaluate = step(
        "dlrm-evaluate",
        DLRM_EVALUATE,
        lambda: {"model": out(train_dlrm, "model"), "data": out(dlrm_prepare, "test")},
    )
    dlrm_export = step(
        "dlrm-export", DLRM_EXPORT, lambda: {"model": out(train_dlrm, "model")}
    )
    compared = step(
        "compared",
        COMPARED,
        lambda: {
            "trained": out(train_dlrm, "metrics"),
            "dense": out(train_dense, "metrics"),
            "again": out(dlrm_evaluate, "metrics"),
            "plan": out(dlrm_plan, "plan"),
        },
    )
    dlrm_generate >> dlrm_prepare
    dlrm_prepare >> [dlrm_plan, train_dense]
    [dlrm_plan, dlrm_prepare] >> train_dlrm
    [train_dlrm, dlrm_prepare] >> dlrm_evaluate
    train_dlrm >> dlrm_export
    [train_dlrm, train_dense, dlrm_evaluate, dlrm_plan] >> compared
    result_of_run(
        [compared, dlrm_export],
        lambda: {
            "result-2": out(train_dlrm, "auc"),
            "result-3": out(train_dense, "auc"),
            "result-4": out(train_dlrm, "rows"),
            "result-1": out(compared, "result"),
            "result-5": out(dlrm_export, "result"),
        },
    )


DLRM_GENERATE = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "dlrm-generate",
    "source": '''
# couler_py/steps/dlrm/data/step.py, line 8
from pathlib import Path

# couler_py/steps/dlrm/data/step.py, line 9
from typing import Literal

# couler_py/steps/dlrm/data/step.py, line 28
def generate(
    rows: int = 100_000,
    seed: int = 0,
    largest: int = 1_000_000,
    renewal: int = 2_000_000,
    format: Literal["tsv", "parquet"] = "tsv",  # noqa: A002 - the word that people look for
    files: int = 1,
) -> Path:
    """A table in Criteo's format with a known structure, as a folder of files: the same settings, the same bytes.

    `largest` is how many categories the column with the most has at a time, and `renewal` the rows after which all
    have been replaced by new ones (0: never). Raises `ValueError` for settings that make no sense.
    """
    from couler_py.steps.dlrm.data import parquet, synthetic, tsv

    if rows < 1 or not 1 <= files <= rows:
        raise ValueError(f"{rows} rows in {files} files: each file has at least one")
    spec = synthetic.Synthetic(seed=seed, largest=largest, renewal=renewal)
    out = Path("table")
    out.mkdir()
    for number in range(files):
        first, last = rows * number // files, rows * (number + 1) // files
        made = synthetic.blocks(spec, last - first, first)
        if format == "parquet":
            parquet.write(out / f"day_{number}.parquet", made, spec.schema)
            continue
        with open(out / f"day_{number}", "wb") as file:
            for block in made:
                file.write(tsv.formatted(block))
    return out
''',
    "gives": {"result": False},
    "defaults": {
        "rows": 100000,
        "seed": 0,
        "largest": 1000000,
        "renewal": 2000000,
        "format": "tsv",
        "files": 1,
    },
}
DLRM_PREPARE = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "dlrm-prepare",
    "source": '''
# couler_py/steps/dlrm/data/step.py, line 8
from pathlib import Path

# couler_py/steps/dlrm/data/step.py, line 9
from typing import NamedTuple

# couler_py/steps/dlrm/data/step.py, line 9
from typing import Literal

# couler_py/steps/dlrm/data/step.py, line 14
class Prepared(NamedTuple):
    """A table as shards: folders for training and testing, the report, what was set aside, and how many rows."""

    train: Path
    test: Path
    """Without a holdout, the same rows as `train`."""
    report: Path
    quarantine: Path
    """A folder with `quarantine.txt`, the rows that are none, and `quarantine.jsonl`, where they stood and why."""
    rows: int
    quarantined: int

# couler_py/steps/dlrm/data/step.py, line 61
def prepare(
    data: Path,
    method: Literal["dictionary", "hash"] = "dictionary",
    rows: int = 1_000_000,
    rows_of: dict[str, int] | None = None,
    threshold: int = 1,
    holdout: float = 0.1,
    rows_per_file: int = 262_144,
    bad: float = 0.01,
) -> Prepared:
    """Make shards of a table in Criteo's format: a file or a folder of files, TSV (also as .gz) or Parquet.

    Categories become rows of embedding tables: by frequency ("dictionary": those that occur less than `threshold`
    times share a row) or by hashing ("hash": collisions are reported). `rows` bounds a table, and `rows_of` that of
    single columns. The last part of the rows, `holdout`, is for testing. What is no row is set aside and reported;
    more of it than the part `bad` is an error.

    Raises `FileNotFoundError` where there is no table, and `ValueError` for settings that make no sense, for files of
    another kind, and for too many rows that are none.

    >>> shards = dlrm.prepare("day_0.gz", method="hash", rows=2_000_000)  # doctest: +SKIP
    """
    import json

    from couler_py.steps.dlrm.data import preparing

    settings = preparing.Settings(
        method=method,
        rows=rows,
        rows_of=rows_of or {},
        threshold=threshold,
        holdout=holdout,
        rows_per_file=rows_per_file,
        bad=bad,
    )
    out = Path("prepared")
    preparing.prepare(data, out, settings)
    aside = Path("quarantine")
    aside.mkdir()
    for name in ("quarantine.txt", "quarantine.jsonl"):
        (out / name).rename(aside / name)
    told = json.loads((out / "report.json").read_text(encoding="utf-8"))
    print(  # noqa: T201
        f"{told['rows']} rows, {told['quarantined']['rows']} set aside, {told['embedding_rows']} rows of embeddings"
    )
    test = out / ("test" if holdout else "train")
    return Prepared(out / "train", test, out / "report.json", aside, told["rows"], told["quarantined"]["rows"])
''',
    "outputs": {"rows": int, "quarantined": int},
    "gives": {"train": False, "test": False, "report": False, "quarantine": False},
    "files": ["data"],
    "defaults": {
        "method": "dictionary",
        "rows": 1000000,
        "rows_of": None,
        "threshold": 1,
        "holdout": 0.1,
        "rows_per_file": 262144,
        "bad": 0.01,
    },
}
DLRM_PLAN = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "dlrm-plan",
    "source": r'''
# couler_py/steps/dlrm/planning/step.py, line 10
from pathlib import Path

# couler_py/steps/dlrm/planning/step.py, line 11
from typing import NamedTuple

# couler_py/steps/dlrm/planning/step.py, line 36
class Planned(NamedTuple):
    """What a training is to be given, how fast it is expected to be, and everything that was decided."""

    workers: int
    cores: int
    """Of each worker."""
    memory: int
    """Bytes of each worker."""
    rows_per_second: float
    """0 where nothing was known that could say."""
    confidence: str
    """"high", "part" or "low"."""
    plan: Path
    """JSON: the allocation, its cost, all decisions with inputs and what was rejected, and the undominated ones."""
    report: Path

# couler_py/steps/dlrm/planning/step.py, line 54
def on_shards(data: Path, asked: str) -> Planned:
    """Plan a training on a folder of shards, given as JSON."""
    from couler_py.steps.dlrm.planning import planned

    found = planned.planned(asked, data)
    print("\n".join(planned.lines(found)))  # noqa: T201
    out = Path("plan")
    planned.write(found, out)
    given = found.allocation
    return Planned(
        given.workers,
        given.worker_cores,
        round(given.worker_memory),
        found.rows_per_second or 0.0,
        found.confidence,
        out / "plan.json",
        out / "plan.html",
    )
''',
    "outputs": {
        "workers": int,
        "cores": int,
        "memory": int,
        "rows_per_second": float,
        "confidence": str,
    },
    "gives": {"plan": False, "report": False},
    "files": ["data"],
}
DLRM_TRAIN = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "dlrm-train",
    "source": '''
# couler_py/steps/dlrm/step.py, line 8
from pathlib import Path

# couler_py/steps/dlrm/step.py, line 9
from typing import NamedTuple

# couler_py/steps/dlrm/step.py, line 20
class Trained(NamedTuple):
    """A model as a folder, how good it is on the rows for testing (`judging.Judged`), what training was like."""

    model: Path
    auc: float
    log_loss: float
    normalised_entropy: float
    calibration: float
    metrics: Path
    report: Path
    rows: int
    """Rows whose gradients are in the model."""
    rows_per_second: float
    step_seconds: float
    """The median of a step."""
    data: str
    """What tells these shards from others, as the history of trainings has it (`data.shards.identity`)."""

# couler_py/steps/dlrm/step.py, line 50
def on_one_machine(
    data: Path, test: Path, task: str, processes: int, restarts: int, checkpoints: str, least: int
) -> Trained:
    """Run a training, given as JSON, in so many processes of this machine; with `least`, some may be lost."""
    import json

    from couler_py.steps.dlrm.data.shards import identity
    from couler_py.steps.processes import agents, need_torch, torchrun

    need_torch()
    where = ("--checkpoints", checkpoints) if checkpoints else ()
    folders = ("--data", str(data), "--test", str(test), "--out", "trained")
    out, module = Path("trained"), "couler_py.steps.dlrm"
    try:
        if least:
            agents(module, processes, task, *folders, *where, least=min(least, processes), restarts=restarts)
        else:
            torchrun(module, processes, task, *folders, *where, restarts=restarts)
    except RuntimeError:
        needs = out / "needs-memory.txt"
        if needs.exists():
            raise RuntimeError(needs.read_text(encoding="utf-8")) from None
        raise
    told = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
    judged = told["seen"][-1]["judged"]
    return Trained(
        out / "model",
        judged["auc"],
        judged["log_loss"],
        judged["normalised_entropy"],
        judged["calibration"],
        out / "metrics.json",
        out / "report.html",
        told["rows"],
        told["rows_per_second"],
        told["step_seconds"],
        identity(data),
    )
''',
    "outputs": {
        "auc": float,
        "log_loss": float,
        "normalised_entropy": float,
        "calibration": float,
        "rows": int,
        "rows_per_second": float,
        "step_seconds": float,
        "data": str,
    },
    "gives": {"model": False, "metrics": False, "report": False},
    "files": ["data", "test"],
    "pod": {
        "spec": {
            "containers": [
                {
                    "name": "base",
                    "resources": {
                        "requests": {"cpu": "2", "memory": "8Gi"},
                        "limits": {"cpu": "2", "memory": "8Gi"},
                    },
                },
            ],
        },
    },
}
DLRM_EVALUATE = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "dlrm-evaluate",
    "source": '''
# couler_py/steps/dlrm/step.py, line 8
from pathlib import Path

# couler_py/steps/dlrm/step.py, line 11
import msgspec

# couler_py/steps/dlrm/step.py, line 9
from typing import NamedTuple

# couler_py/steps/dlrm/step.py, line 39
class Evaluated(NamedTuple):
    """How good a model is on some rows (`judging.Judged`), and all of it as JSON."""

    auc: float
    log_loss: float
    normalised_entropy: float
    calibration: float
    metrics: Path

# couler_py/steps/dlrm/step.py, line 176
def evaluate(model: Path, data: Path) -> Evaluated:
    """How good a model's folder is on a folder of shards: AUC exact with ties, log loss and so on."""
    from couler_py.steps.dlrm.folders import load_model, opened
    from couler_py.steps.dlrm.training import evaluate as evaluated

    trainer = load_model(model)
    rows, tables, _ = opened(data, trainer.task.shape)
    if trainer.tables and tables != trainer.tables:
        raise ValueError(f"the rows in {data} were prepared for other tables than those of the model in {model}")
    judged = evaluated(trainer, rows)
    metrics = Path("metrics.json")
    metrics.write_bytes(msgspec.json.encode(judged))
    return Evaluated(judged.auc, judged.log_loss, judged.normalised_entropy, judged.calibration, metrics)
''',
    "outputs": {
        "auc": float,
        "log_loss": float,
        "normalised_entropy": float,
        "calibration": float,
    },
    "gives": {"metrics": False},
    "files": ["model", "data"],
}
DLRM_EXPORT = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "dlrm-export",
    "source": '''
# couler_py/steps/dlrm/step.py, line 8
from pathlib import Path

# couler_py/steps/dlrm/step.py, line 192
def export(model: Path) -> Path:
    """A model for serving: its dense layers as a program of torch.export, its tables as safetensors.

    The program, read back, gives what the model gives, or the step fails.
    """
    from couler_py.steps.dlrm import folders

    out = Path("exported")
    difference = folders.export(model, out)
    if not difference <= 1e-4:
        raise RuntimeError(f"the exported program differs from the model by {difference}")
    return out
''',
    "gives": {"result": False},
    "files": ["model"],
}
COMPARED = {
    "image": "ghcr.io/couler-py/train-cuda:latest",
    "name": "compared",
    "source": '''
# examples/recommender.py, line 13
from pathlib import Path

# examples/recommender.py, line 31
def compared(trained: Path, dense: Path, again: Path, plan: Path) -> Path:
    """A page: who trained when, what was decided, what the model and the baseline are worth."""
    import json

    from couler_py.report.cards import Table
    from couler_py.report.page import Section, page

    ours, theirs = (json.loads(path.read_text()) for path in (trained, dense))
    judged, planned = json.loads(again.read_text()), json.loads(plan.read_text())
    best, base = (each["seen"][-1]["judged"] for each in (ours, theirs))
    names = ("auc", "log_loss", "normalised_entropy", "calibration")
    quality = tuple((name, *(f"{each[name]:.4f}" for each in (best, judged, base))) for name in names)
    facts = {
        "rows in the model": ours["rows"],
        "steps": ours["steps"],
        "workers planned": planned["allocation"]["workers"],
        "AUC above the baseline": round(best["auc"] - base["auc"], 4),
    }
    for name, value in facts.items():
        print(f"{name}: {value}")
    decisions = tuple((each["stage"], each["choice"], each["why"]) for each in planned["decisions"])
    lives = tuple((life[0], life[1]) for life in ours["lives"])
    print("from step, workers:", lives)
    sections = [
        Section("Who trained", (Table(("from step", "workers"), lives),)),
        Section("How good", (Table(("on rows for testing", "trained", "read again", "dense only"), quality),)),
        Section("What was decided before", (Table(("stage", "choice", "because"), decisions),)),
    ]
    report = Path("recommender.html")
    report.write_text(page("A recommender", sections, facts=facts), encoding="utf-8")
    return report
''',
    "gives": {"result": False},
    "files": ["trained", "dense", "again", "plan"],
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
    "dlrm-generate": {
        "function": "generate",
        "returns": "one",
        "future": ["annotations"],
        "packages": [],
        "inputs": [
            {"name": "rows", "type": {"type": "scalar", "name": "int"}},
            {"name": "seed", "type": {"type": "scalar", "name": "int"}},
            {"name": "largest", "type": {"type": "scalar", "name": "int"}},
            {"name": "renewal", "type": {"type": "scalar", "name": "int"}},
            {
                "name": "format",
                "type": {"type": "choice", "values": ("tsv", "parquet"), "name": ""},
            },
            {"name": "files", "type": {"type": "scalar", "name": "int"}},
        ],
        "outputs": [{"name": "result", "artifact": True}],
        "decisions": [],
        "pieces": [
            {
                "file": "couler_py/steps/dlrm/data/step.py",
                "line": 8,
                "start": 3,
                "count": 1,
            },
            {
                "file": "couler_py/steps/dlrm/data/step.py",
                "line": 9,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/steps/dlrm/data/step.py",
                "line": 28,
                "start": 9,
                "count": 30,
            },
        ],
    },
    "dlrm-prepare": {
        "function": "prepare",
        "returns": "fields",
        "future": ["annotations"],
        "packages": [],
        "inputs": [
            {
                "name": "method",
                "type": {
                    "type": "choice",
                    "values": ("dictionary", "hash"),
                    "name": "",
                },
            },
            {"name": "rows", "type": {"type": "scalar", "name": "int"}},
            {
                "name": "rows_of",
                "type": {
                    "type": "union",
                    "options": (
                        {"type": "dict", "value": {"type": "scalar", "name": "int"}},
                        {"type": "scalar", "name": "none"},
                    ),
                },
            },
            {"name": "threshold", "type": {"type": "scalar", "name": "int"}},
            {"name": "holdout", "type": {"type": "scalar", "name": "float"}},
            {"name": "rows_per_file", "type": {"type": "scalar", "name": "int"}},
            {"name": "bad", "type": {"type": "scalar", "name": "float"}},
            {"name": "data", "artifact": True},
        ],
        "outputs": [
            {"name": "rows", "type": {"type": "scalar", "name": "int"}},
            {"name": "quarantined", "type": {"type": "scalar", "name": "int"}},
            {"name": "train", "artifact": True},
            {"name": "test", "artifact": True},
            {"name": "report", "artifact": True},
            {"name": "quarantine", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {
                "file": "couler_py/steps/dlrm/data/step.py",
                "line": 8,
                "start": 3,
                "count": 1,
            },
            {
                "file": "couler_py/steps/dlrm/data/step.py",
                "line": 9,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/steps/dlrm/data/step.py",
                "line": 9,
                "start": 9,
                "count": 1,
            },
            {
                "file": "couler_py/steps/dlrm/data/step.py",
                "line": 14,
                "start": 12,
                "count": 11,
            },
            {
                "file": "couler_py/steps/dlrm/data/step.py",
                "line": 61,
                "start": 25,
                "count": 47,
            },
        ],
    },
    "dlrm-plan": {
        "function": "on_shards",
        "returns": "fields",
        "future": ["annotations"],
        "packages": [],
        "inputs": [
            {"name": "asked", "type": {"type": "scalar", "name": "str"}},
            {"name": "data", "artifact": True},
        ],
        "outputs": [
            {"name": "workers", "type": {"type": "scalar", "name": "int"}},
            {"name": "cores", "type": {"type": "scalar", "name": "int"}},
            {"name": "memory", "type": {"type": "scalar", "name": "int"}},
            {"name": "rows_per_second", "type": {"type": "scalar", "name": "float"}},
            {"name": "confidence", "type": {"type": "scalar", "name": "str"}},
            {"name": "plan", "artifact": True},
            {"name": "report", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {
                "file": "couler_py/steps/dlrm/planning/step.py",
                "line": 10,
                "start": 3,
                "count": 1,
            },
            {
                "file": "couler_py/steps/dlrm/planning/step.py",
                "line": 11,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/steps/dlrm/planning/step.py",
                "line": 36,
                "start": 9,
                "count": 15,
            },
            {
                "file": "couler_py/steps/dlrm/planning/step.py",
                "line": 54,
                "start": 26,
                "count": 18,
            },
        ],
    },
    "dlrm-train": {
        "function": "on_one_machine",
        "returns": "fields",
        "future": ["annotations"],
        "packages": [],
        "inputs": [
            {"name": "task", "type": {"type": "scalar", "name": "str"}},
            {"name": "processes", "type": {"type": "scalar", "name": "int"}},
            {"name": "restarts", "type": {"type": "scalar", "name": "int"}},
            {"name": "checkpoints", "type": {"type": "scalar", "name": "str"}},
            {"name": "least", "type": {"type": "scalar", "name": "int"}},
            {"name": "data", "artifact": True},
            {"name": "test", "artifact": True},
        ],
        "outputs": [
            {"name": "auc", "type": {"type": "scalar", "name": "float"}},
            {"name": "log_loss", "type": {"type": "scalar", "name": "float"}},
            {"name": "normalised_entropy", "type": {"type": "scalar", "name": "float"}},
            {"name": "calibration", "type": {"type": "scalar", "name": "float"}},
            {"name": "rows", "type": {"type": "scalar", "name": "int"}},
            {"name": "rows_per_second", "type": {"type": "scalar", "name": "float"}},
            {"name": "step_seconds", "type": {"type": "scalar", "name": "float"}},
            {"name": "data", "type": {"type": "scalar", "name": "str"}},
            {"name": "model", "artifact": True},
            {"name": "metrics", "artifact": True},
            {"name": "report", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {"file": "couler_py/steps/dlrm/step.py", "line": 8, "start": 3, "count": 1},
            {"file": "couler_py/steps/dlrm/step.py", "line": 9, "start": 6, "count": 1},
            {
                "file": "couler_py/steps/dlrm/step.py",
                "line": 20,
                "start": 9,
                "count": 17,
            },
            {
                "file": "couler_py/steps/dlrm/step.py",
                "line": 50,
                "start": 28,
                "count": 38,
            },
        ],
    },
    "dlrm-evaluate": {
        "function": "evaluate",
        "returns": "fields",
        "future": ["annotations"],
        "packages": [],
        "inputs": [
            {"name": "model", "artifact": True},
            {"name": "data", "artifact": True},
        ],
        "outputs": [
            {"name": "auc", "type": {"type": "scalar", "name": "float"}},
            {"name": "log_loss", "type": {"type": "scalar", "name": "float"}},
            {"name": "normalised_entropy", "type": {"type": "scalar", "name": "float"}},
            {"name": "calibration", "type": {"type": "scalar", "name": "float"}},
            {"name": "metrics", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {"file": "couler_py/steps/dlrm/step.py", "line": 8, "start": 3, "count": 1},
            {
                "file": "couler_py/steps/dlrm/step.py",
                "line": 11,
                "start": 6,
                "count": 1,
            },
            {"file": "couler_py/steps/dlrm/step.py", "line": 9, "start": 9, "count": 1},
            {
                "file": "couler_py/steps/dlrm/step.py",
                "line": 39,
                "start": 12,
                "count": 8,
            },
            {
                "file": "couler_py/steps/dlrm/step.py",
                "line": 176,
                "start": 22,
                "count": 13,
            },
        ],
    },
    "dlrm-export": {
        "function": "export",
        "returns": "one",
        "future": ["annotations"],
        "packages": [],
        "inputs": [{"name": "model", "artifact": True}],
        "outputs": [{"name": "result", "artifact": True}],
        "decisions": [],
        "pieces": [
            {"file": "couler_py/steps/dlrm/step.py", "line": 8, "start": 3, "count": 1},
            {
                "file": "couler_py/steps/dlrm/step.py",
                "line": 192,
                "start": 6,
                "count": 12,
            },
        ],
    },
    "compared": {
        "function": "compared",
        "returns": "one",
        "future": [],
        "packages": [],
        "inputs": [
            {"name": "trained", "artifact": True},
            {"name": "dense", "artifact": True},
            {"name": "again", "artifact": True},
            {"name": "plan", "artifact": True},
        ],
        "outputs": [{"name": "result", "artifact": True}],
        "decisions": [],
        "pieces": [
            {"file": "examples/recommender.py", "line": 13, "start": 3, "count": 1},
            {"file": "examples/recommender.py", "line": 31, "start": 6, "count": 31},
        ],
    },
}

# Reads the inputs of Python steps, and writes their outputs.
RUNNER = "the runner"

INCLUDES = {}

recommender()
