"""The workflow fine_tuning: texts → fine_tune → select-best → http.

Written by couler-py: change the program that it was made from, not this file.
"""

from datetime import UTC, datetime

from airflow import __version__ as airflow_version
from airflow.sdk import Param, TaskGroup, dag

if tuple(map(int, airflow_version.split(".")[:2])) < (3, 1):
    raise RuntimeError(f"this DAG needs Airflow 3.1 or later, not {airflow_version}")


@dag(
    "fine_tuning",
    schedule=None,
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    catchup=False,
    params={
        "model": Param("HuggingFaceTB/SmolLM2-135M", type="string"),
        "registry": Param("https://models.example.org", type="string"),
        "epochs": Param(2, type="integer"),
    },
    doc_md=__doc__,
)
def fine_tuning():
    texts = step("texts", TEXTS, {"lines": 500})
    with TaskGroup("fine_tune"):
        fine_tune = fan_out(
            [4, 16, 64],
            step_of_each(
                FINE_TUNE,
                lambda item: {
                    "model": param("model"),
                    "epochs": param("epochs"),
                    "length": 128,
                    "lora_rank": item,
                    "data": out(texts, "result"),
                },
            ),
        )
    select_best = step(
        "select-best",
        SELECT_BEST,
        lambda: {
            "names": ["rank 4", "rank 16", "rank 64"],
            "scores": gather(fine_tune, "loss"),
            "goal": "minimize",
            "models": files_of(fine_tune, "model"),
        },
    )
    http = step(
        "http",
        HTTP,
        lambda: {
            "url": joined(param("registry"), "/api/models"),
            "method": "POST",
            "body": {
                "base": param("model"),
                "tuned": out(select_best, "name"),
                "loss": out(select_best, "score"),
            },
            "secret_headers": {"Authorization": "REGISTRY_TOKEN"},
        },
    )
    texts >> fine_tune.start
    fine_tune.end >> select_best
    select_best >> http
    result_of_run([http], lambda: {"result": out(select_best, "model")})


TEXTS = {
    "image": "python:3.11",
    "name": "texts",
    "source": r'''
# examples/fine_tuning.py, line 10
from pathlib import Path

# examples/fine_tuning.py, line 19
def texts(lines: int) -> Path:
    """Sentences of one form, a JSON object each: what the model is to speak like."""
    import json

    crews = ["the night shift", "the day shift"]
    path = Path("texts.jsonl")
    with path.open("w", encoding="utf-8") as file:
        for number in range(lines):
            text = f"Ticket {number}: {crews[number % 2]} has looked at pump {number % 7}, and all is well."
            file.write(json.dumps({"text": text}) + "\n")
    return path
''',
    "gives": {"result": False},
}
FINE_TUNE = {
    "image": "python:3.11",
    "name": "fine_tune",
    "source": r'''
# couler_py/steps/huggingface.py, line 5
from pathlib import Path

# couler_py/steps/huggingface.py, line 6
from typing import NamedTuple

# couler_py/steps/huggingface.py, line 8
from couler_py import log_metric

# couler_py/steps/huggingface.py, line 21
def texts_of(data: Path, field: str) -> list[str]:
    """The texts of a file: one object of JSON a line, or plain text with empty lines between."""
    import json
    import re

    text = data.read_text(encoding="utf-8")
    if not text.lstrip().startswith("{"):
        return [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as problem:
            raise ValueError(f"line {number} of {data.name} is no JSON: {problem}") from problem
        if not isinstance(row, dict) or not isinstance(row.get(field), str):
            raise ValueError(f"line {number} of {data.name} has no text {field!r}")
        found.append(row[field])
    return found

# couler_py/steps/huggingface.py, line 13
class Tuned(NamedTuple):
    """The model's folder with its tokenizer, the mean loss of the last epoch, and of how many tokens it learned."""

    model: Path
    loss: float
    tokens: int

# couler_py/steps/huggingface.py, line 44
def fine_tune(
    data: Path,
    base: Path | None = None,
    model: str = "",
    field: str = "text",
    epochs: int = 1,
    learning_rate: float = 5e-5,
    batch: int = 8,
    length: int = 512,
    lora_rank: int = 0,
    lora_modules: list[str] | None = None,
    seed: int = 0,
) -> Tuned:
    """Train a causal language model further on texts: JSON lines with a `field`, or paragraphs of plain text.

    The model is a folder that another step made (`base`) or the name of one on the hub (`model`). Texts follow each
    other, with the tokenizer's end mark between, and are cut into pieces of `length` tokens. With a `lora_rank`, peft
    trains matrices of that rank beside the linear layers (or `lora_modules`), and what they learn is merged in at the
    end, so that the result is a plain model. Losses are logged.

    Raises `ValueError` for data without texts, or with fewer tokens than one piece.

    >>> tuned = huggingface.fine_tune(texts, model="HuggingFaceTB/SmolLM2-135M", lora_rank=8)  # doctest: +SKIP
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainerCallback, TrainingArguments, set_seed

    if (base is None) == (not model):
        raise ValueError("fine_tune takes either a base or a model")
    set_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained(str(base or model))
    network: Any = AutoModelForCausalLM.from_pretrained(str(base or model))
    end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
    stream = [token for text in texts_of(data, field) for token in tokenizer(text)["input_ids"] + end]
    pieces = [torch.tensor(stream[at : at + length]) for at in range(0, len(stream) - length + 1, length)]
    if not pieces:
        raise ValueError(f"{data.name} has {len(stream)} tokens, and one piece takes {length}: give more, or a length")
    if lora_rank:
        from peft import LoraConfig, get_peft_model

        modules = lora_modules or "all-linear"
        config = LoraConfig(r=lora_rank, lora_alpha=2 * lora_rank, target_modules=modules, task_type="CAUSAL_LM")
        network = get_peft_model(network, config)

    class Logging(TrainerCallback):
        def on_log(self, arguments: Any, state: Any, control: Any, logs: Any = None, **others: Any) -> None:
            if logs and "loss" in logs:
                log_metric("loss", float(logs["loss"]), step=state.global_step)

    arguments = TrainingArguments(
        output_dir="trainer",
        num_train_epochs=epochs,
        per_device_train_batch_size=batch,
        learning_rate=learning_rate,
        logging_strategy="epoch",
        save_strategy="no",
        report_to=[],
        seed=seed,
    )
    dataset: Any = [{"input_ids": piece, "labels": piece} for piece in pieces]
    trainer = Trainer(model=network, args=arguments, train_dataset=dataset, callbacks=[Logging()])
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    if lora_rank:
        network = network.merge_and_unload()
    folder = Path("model")
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Tuned(folder, float(losses[-1]), epochs * len(pieces) * length)
''',
    "outputs": {"loss": float, "tokens": int},
    "gives": {"model": False},
    "files": ["data", "base"],
    "defaults": {
        "model": "",
        "field": "text",
        "epochs": 1,
        "learning_rate": 5e-05,
        "batch": 8,
        "length": 512,
        "lora_rank": 0,
        "lora_modules": None,
        "seed": 0,
    },
    "env": {"COULER_INSTALL": "1"},
}
SELECT_BEST = {
    "image": "python:3.11",
    "name": "select-best",
    "source": '''
# couler_py/steps/choosing.py, line 6
from typing import Literal

# couler_py/steps/choosing.py, line 8
from couler_py import log_metric

# couler_py/steps/choosing.py, line 6
from typing import NamedTuple

# couler_py/steps/choosing.py, line 5
from pathlib import Path

# couler_py/steps/choosing.py, line 10
Goal = Literal["maximize", "minimize"]

# couler_py/steps/choosing.py, line 30
def places(names: list[str], scores: list[float], goal: Goal) -> list[int]:
    """The places of the scores, best first; of equal ones, the first given. Scores that are no numbers come last."""
    import math

    if len(names) != len(scores):
        raise ValueError(f"there are {len(names)} names and {len(scores)} scores")
    if not any(math.isfinite(score) for score in scores):
        raise ValueError(f"no score is a number: {', '.join(names) or 'there are none'}")
    sign = -1 if goal == "maximize" else 1
    return sorted(range(len(scores)), key=lambda i: sign * scores[i] if math.isfinite(scores[i]) else math.inf)

# couler_py/steps/choosing.py, line 22
class Best(NamedTuple):
    """What was chosen, its name and its score."""

    model: Path
    name: str
    score: float

# couler_py/steps/choosing.py, line 60
def select_best(models: list[Path], names: list[str], scores: list[float], goal: Goal = "maximize") -> Best:
    """Of several files or folders, that of the best score; all three lists are in the same order.

    Raises `ValueError` where the lists differ in length, or no score is a number.

    >>> best = select_best(fitted.model, names, fitted.score)  # doctest: +SKIP
    """
    if len(models) != len(scores):
        raise ValueError(f"there are {len(models)} models and {len(scores)} scores")
    first = places(names, scores, goal)[0]
    log_metric("score", scores[first])
    return Best(models[first], names[first], scores[first])
''',
    "outputs": {"name": str, "score": float},
    "gives": {"model": False},
    "files": ["models"],
    "defaults": {"goal": "maximize"},
}
HTTP = {
    "image": "python:3.11",
    "name": "http",
    "source": '''
# couler_py/steps/web.py, line 6
from pathlib import Path

# couler_py/steps/web.py, line 7
from typing import NamedTuple

# couler_py/steps/web.py, line 5
import os

# couler_py/steps/web.py, line 7
from typing import Literal

# couler_py/steps/web.py, line 7
from typing import Any

# couler_py/steps/web.py, line 41
def send(
    url: str,
    name: str,
    method: str,
    data: bytes | None,
    headers: dict[str, str],
    secret: dict[str, str],
    timeout: float,
) -> tuple[int, str, Path]:
    """One request, whose secret headers follow no redirect. Raises `RuntimeError`, with the name of the URL."""
    import shutil
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    if not url.startswith(("https://", "http://")):
        raise ValueError(f"{name} is no URL of HTTP: it begins with neither https:// nor http://")
    request = Request(url, data=data, method=method, headers={"User-Agent": "couler", **headers})
    for header, value in secret.items():
        request.add_unredirected_header(header, value)
    path = Path("body")
    try:
        with urlopen(request, timeout=timeout) as answer, path.open("wb") as file:
            shutil.copyfileobj(answer, file)
            return answer.status, answer.headers.get_content_type(), path
    except HTTPError as problem:
        with problem, path.open("wb") as file:
            shutil.copyfileobj(problem, file)
        return problem.code, problem.headers.get_content_type(), path
    except (URLError, OSError) as problem:
        raise RuntimeError(f"{name} can't be reached: {getattr(problem, 'reason', problem)}") from None

# couler_py/steps/web.py, line 33
def shown(url: str) -> str:
    """A URL without what may be secret in it: user, password, query."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"

# couler_py/steps/web.py, line 73
def expected(status: int, wanted: list[int] | None, name: str, path: Path) -> None:
    """Raises `RuntimeError`, with the beginning of the answer, for a status that wasn't wanted."""
    if status in wanted if wanted else 200 <= status < 300:
        return
    said = path.read_bytes()[:500].decode("utf-8", "replace").strip()
    raise RuntimeError(f"{name} answered {status}{': ' + said if said else ''}")

# couler_py/steps/web.py, line 14
class Answer(NamedTuple):
    """The status of an answer, its media type, and its body as a file."""

    status: int
    media: str
    body: Path

# couler_py/steps/web.py, line 22
def from_environment(variable: str) -> str:
    """A secret of the step. Raises `ValueError`, naming the variable, where it isn't there."""
    found = os.environ.get(variable, "")
    if not found:
        raise ValueError(
            f"there is no environment variable {variable}; give the step the secret that has it, as "
            f'.with_options(secrets=[couler.secret("web", "{variable}")])'
        )
    return found

# couler_py/steps/web.py, line 11
Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

# couler_py/steps/web.py, line 82
def http(
    url: str,
    method: Method = "GET",
    body: Any = None,
    headers: dict[str, str] | None = None,
    secret_headers: dict[str, str] | None = None,
    expect: list[int] | None = None,
    timeout: float = 30.0,
) -> Answer:
    """Send one request; the answer's status must be one of `expect`, by default 200 to 299.

    `body` is sent as it is where it is text, else as JSON. `secret_headers` names, for each header, the environment
    variable whose value it gets: a key of a secret of the step. `timeout` is in seconds, between two bytes.

    Raises `ValueError` for a URL of another kind or a variable that isn't there, and `RuntimeError` for a server that
    can't be reached or answers otherwise.

    >>> answer = http("https://example.org/api/runs", "POST", {"name": "nightly"})  # doctest: +SKIP
    >>> ask = http.with_options(secrets=[couler.secret("api", "API_TOKEN")])  # doctest: +SKIP
    >>> answer = ask("https://example.org/api", secret_headers={"Authorization": "API_TOKEN"})  # doctest: +SKIP
    """
    import json

    data = None if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
    media = {} if body is None or isinstance(body, str) else {"Content-Type": "application/json"}
    secret = {header: from_environment(variable) for header, variable in (secret_headers or {}).items()}
    status, kind, path = send(url, shown(url), method, data, {**media, **(headers or {})}, secret, timeout)
    expected(status, expect, shown(url), path)
    return Answer(status, kind, path)
''',
    "outputs": {"status": int, "media": str},
    "gives": {"body": False},
    "defaults": {
        "method": "GET",
        "body": None,
        "headers": None,
        "secret_headers": None,
        "expect": None,
        "timeout": 30.0,
    },
    "pod": {
        "spec": {
            "containers": [
                {
                    "name": "base",
                    "env": [
                        {
                            "name": "REGISTRY_TOKEN",
                            "valueFrom": {
                                "secretKeyRef": {
                                    "name": "registry",
                                    "key": "REGISTRY_TOKEN",
                                },
                            },
                        },
                    ],
                },
            ],
        },
    },
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


class FanOut(NamedTuple):
    """Tasks for the items of a list; `each` has their results."""

    start: Any
    each: Any
    end: Any
    batch: int | None = None


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


def fan_out(items, each, *, when=None, most=1000, tolerate=0, batch=None):
    """A task or group for each item. Fails if more items fail than are tolerated.

    With `batch`, each task works on so many items.
    """

    def read():
        proceed(when)
        found = evaluated(items)
        if len(found) > most:
            raise AirflowFailException(f"{len(found)} items, and there may be {most}")
        if batch:
            starts = range(0, len(found), batch)
            return [{"item": found[begin : begin + batch]} for begin in starts]
        return [{"item": item} for item in found]

    def close():
        if xcom(start) is None:
            raise AirflowSkipException("it had nothing to do")
        return {}

    def count():
        check_started(start)
        failed = failed_items(each_end) * (batch or 1)
        if batch:
            failed += sum(found is None for found in results_of(fan))
        check_tolerated(failed, tolerate)
        return {}

    counts = tolerate or batch
    start = PythonOperator(task_id="start", python_callable=read)
    each_end = each(start.output)
    end = PythonOperator(
        task_id="end",
        python_callable=count if counts else close,
        trigger_rule=TriggerRule.ALL_DONE if counts else TriggerRule.NONE_FAILED,
    )
    [start, each_end] >> end
    fan = FanOut(start, each_end, end, batch)
    return fan


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


def results_of(fan):
    """What the items of a fan-out gave, in order; None for those without success."""
    if isinstance(fan.each, list):
        return [xcom(each) for each in fan.each]
    given = xcom(fan.start)
    ti = get_current_context()["ti"]
    indexes = list(range(len(given)))
    pulled = ti.xcom_pull(task_ids=fan.each.task_id, map_indexes=indexes)
    found = [loaded(each) for each in pulled] if given else []
    if fan.batch is None:
        return found
    # A batch that failed as a whole is none of its items: it is counted by its task.
    return [each for batch in found if batch for each in batch["@items"]]


def check_succeeded(fan):
    """Raise `Absent` unless a fan-out succeeded."""
    if xcom(fan.end) is None:
        raise Absent(f"{fan.end.task_id} did not succeed")


def gather(fan, name):
    """An output of a fan-out: the list over the items that succeeded."""
    check_succeeded(fan)
    return [found[name] for found in results_of(fan) if found is not None]


def files_of(fan, name):
    """The files of a fan-out by the number of their item: they become one folder."""
    check_succeeded(fan)
    found = enumerate(results_of(fan))
    return {f"{index:06}": each[name] for index, each in found if each and each[name]}


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


def check_started(start):
    """Skip or fail the end of a group that did not start."""
    if xcom(start) is None:
        if state_of(start) == "Skipped":
            raise AirflowSkipException("it had nothing to do")
        raise AirflowFailException("it did not start")


def check_tolerated(failed, tolerate):
    """Fail if more items failed than are tolerated."""
    if failed > tolerate:
        raise AirflowFailException(f"{failed} items failed, and {tolerate} may")


def failed_items(task):
    """How many items of a fan-out failed."""
    found = states_of([task.task_id]).values()
    return sum(each in ("failed", "upstream_failed") for each in found)


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


def step_of_each(template, inputs, again=None, turns=None, batch=False, **options):
    """For `fan_out`: a step for each item, or for each batch, one pod after another."""

    class Each(Pod):
        work = Work(template, inputs, None, again, turns, batch)

    made = Each.partial(task_id="each", **pod_options(template), **options)
    return made.expand_kwargs


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
    "texts": {
        "function": "texts",
        "returns": "one",
        "future": [],
        "packages": [],
        "inputs": [{"name": "lines", "type": {"type": "scalar", "name": "int"}}],
        "outputs": [{"name": "result", "artifact": True}],
        "decisions": [],
        "pieces": [
            {"file": "examples/fine_tuning.py", "line": 10, "start": 3, "count": 1},
            {"file": "examples/fine_tuning.py", "line": 19, "start": 6, "count": 11},
        ],
    },
    "fine_tune": {
        "function": "fine_tune",
        "returns": "fields",
        "future": ["annotations"],
        "packages": [
            "accelerate>=1.1",
            "peft>=0.13",
            "torch>=2.5",
            "transformers>=4.46",
        ],
        "inputs": [
            {"name": "model", "type": {"type": "scalar", "name": "str"}},
            {"name": "field", "type": {"type": "scalar", "name": "str"}},
            {"name": "epochs", "type": {"type": "scalar", "name": "int"}},
            {"name": "learning_rate", "type": {"type": "scalar", "name": "float"}},
            {"name": "batch", "type": {"type": "scalar", "name": "int"}},
            {"name": "length", "type": {"type": "scalar", "name": "int"}},
            {"name": "lora_rank", "type": {"type": "scalar", "name": "int"}},
            {
                "name": "lora_modules",
                "type": {
                    "type": "union",
                    "options": (
                        {"type": "list", "item": {"type": "scalar", "name": "str"}},
                        {"type": "scalar", "name": "none"},
                    ),
                },
            },
            {"name": "seed", "type": {"type": "scalar", "name": "int"}},
            {"name": "data", "artifact": True},
            {"name": "base", "artifact": True, "optional": True},
        ],
        "outputs": [
            {"name": "loss", "type": {"type": "scalar", "name": "float"}},
            {"name": "tokens", "type": {"type": "scalar", "name": "int"}},
            {"name": "model", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {
                "file": "couler_py/steps/huggingface.py",
                "line": 5,
                "start": 3,
                "count": 1,
            },
            {
                "file": "couler_py/steps/huggingface.py",
                "line": 6,
                "start": 6,
                "count": 1,
            },
            {
                "file": "couler_py/steps/huggingface.py",
                "line": 8,
                "start": 9,
                "count": 1,
            },
            {
                "file": "couler_py/steps/huggingface.py",
                "line": 21,
                "start": 12,
                "count": 20,
            },
            {
                "file": "couler_py/steps/huggingface.py",
                "line": 13,
                "start": 34,
                "count": 6,
            },
            {
                "file": "couler_py/steps/huggingface.py",
                "line": 44,
                "start": 42,
                "count": 69,
            },
        ],
    },
    "select-best": {
        "function": "select_best",
        "returns": "fields",
        "future": ["annotations"],
        "packages": [],
        "inputs": [
            {
                "name": "names",
                "type": {"type": "list", "item": {"type": "scalar", "name": "str"}},
            },
            {
                "name": "scores",
                "type": {"type": "list", "item": {"type": "scalar", "name": "float"}},
            },
            {
                "name": "goal",
                "type": {
                    "type": "choice",
                    "values": ("maximize", "minimize"),
                    "name": "",
                },
            },
            {"name": "models", "artifact": True},
        ],
        "outputs": [
            {"name": "name", "type": {"type": "scalar", "name": "str"}},
            {"name": "score", "type": {"type": "scalar", "name": "float"}},
            {"name": "model", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {"file": "couler_py/steps/choosing.py", "line": 6, "start": 3, "count": 1},
            {"file": "couler_py/steps/choosing.py", "line": 8, "start": 6, "count": 1},
            {"file": "couler_py/steps/choosing.py", "line": 6, "start": 9, "count": 1},
            {"file": "couler_py/steps/choosing.py", "line": 5, "start": 12, "count": 1},
            {
                "file": "couler_py/steps/choosing.py",
                "line": 10,
                "start": 15,
                "count": 1,
            },
            {
                "file": "couler_py/steps/choosing.py",
                "line": 30,
                "start": 18,
                "count": 10,
            },
            {
                "file": "couler_py/steps/choosing.py",
                "line": 22,
                "start": 30,
                "count": 6,
            },
            {
                "file": "couler_py/steps/choosing.py",
                "line": 60,
                "start": 38,
                "count": 12,
            },
        ],
    },
    "http": {
        "function": "http",
        "returns": "fields",
        "future": ["annotations"],
        "packages": [],
        "inputs": [
            {"name": "url", "type": {"type": "scalar", "name": "str"}},
            {
                "name": "method",
                "type": {
                    "type": "choice",
                    "values": ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
                    "name": "",
                },
            },
            {"name": "body", "type": {"type": "scalar", "name": "any"}},
            {
                "name": "headers",
                "type": {
                    "type": "union",
                    "options": (
                        {"type": "dict", "value": {"type": "scalar", "name": "str"}},
                        {"type": "scalar", "name": "none"},
                    ),
                },
            },
            {
                "name": "secret_headers",
                "type": {
                    "type": "union",
                    "options": (
                        {"type": "dict", "value": {"type": "scalar", "name": "str"}},
                        {"type": "scalar", "name": "none"},
                    ),
                },
            },
            {
                "name": "expect",
                "type": {
                    "type": "union",
                    "options": (
                        {"type": "list", "item": {"type": "scalar", "name": "int"}},
                        {"type": "scalar", "name": "none"},
                    ),
                },
            },
            {"name": "timeout", "type": {"type": "scalar", "name": "float"}},
        ],
        "outputs": [
            {"name": "status", "type": {"type": "scalar", "name": "int"}},
            {"name": "media", "type": {"type": "scalar", "name": "str"}},
            {"name": "body", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {"file": "couler_py/steps/web.py", "line": 6, "start": 3, "count": 1},
            {"file": "couler_py/steps/web.py", "line": 7, "start": 6, "count": 1},
            {"file": "couler_py/steps/web.py", "line": 5, "start": 9, "count": 1},
            {"file": "couler_py/steps/web.py", "line": 7, "start": 12, "count": 1},
            {"file": "couler_py/steps/web.py", "line": 7, "start": 15, "count": 1},
            {"file": "couler_py/steps/web.py", "line": 41, "start": 18, "count": 30},
            {"file": "couler_py/steps/web.py", "line": 33, "start": 50, "count": 6},
            {"file": "couler_py/steps/web.py", "line": 73, "start": 58, "count": 6},
            {"file": "couler_py/steps/web.py", "line": 14, "start": 66, "count": 6},
            {"file": "couler_py/steps/web.py", "line": 22, "start": 74, "count": 9},
            {"file": "couler_py/steps/web.py", "line": 11, "start": 85, "count": 1},
            {"file": "couler_py/steps/web.py", "line": 82, "start": 88, "count": 29},
        ],
    },
}

# Reads the inputs of Python steps, and writes their outputs.
RUNNER = "the runner"

INCLUDES = {}

fine_tuning()
