"""The workflow ray_program: code → ray-submit → read.

Written by couler-py: change the program that it was made from, not this file.
"""

from datetime import UTC, datetime

from airflow import __version__ as airflow_version
from airflow.sdk import Param, dag

if tuple(map(int, airflow_version.split(".")[:2])) < (3, 1):
    raise RuntimeError(f"this DAG needs Airflow 3.1 or later, not {airflow_version}")


@dag(
    "ray_program",
    schedule=None,
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    catchup=False,
    params={"tasks": Param(16, type="integer"), "address": Param("", type="string")},
    doc_md=__doc__,
)
def ray_program():
    code = step("code", CODE)
    ray_submit = step(
        "ray-submit",
        RAY_SUBMIT,
        lambda: {
            "entrypoint": joined("python pi.py ", param("tasks")),
            "address": param("address"),
            "working_dir": out(code, "result"),
        },
    )
    read = step("read", READ, lambda: {"log": out(ray_submit, "log")})
    code >> ray_submit
    ray_submit >> read
    result_of_run([read], lambda: {"pi": out(read, "result")})


CODE = {
    "image": "python:3.11",
    "name": "code",
    "source": r'''
# examples/ray_program.py, line 10
from pathlib import Path

# examples/ray_program.py, line 15
PROGRAM = '\nimport random\nimport sys\n\nimport ray\n\ntasks, darts = int(sys.argv[1]), 100_000\n\n\n@ray.remote\ndef hits(seed):\n    throw = random.Random(seed).random\n    return sum(throw() ** 2 + throw() ** 2 <= 1 for _ in range(darts))\n\n\nray.init()\nprint("pi", 4 * sum(ray.get([hits.remote(seed) for seed in range(tasks)])) / (tasks * darts))\n'

# examples/ray_program.py, line 36
def code() -> Path:
    """The folder that Ray hands to all its nodes."""
    folder = Path("code")
    folder.mkdir()
    (folder / "pi.py").write_text(PROGRAM)
    return folder
''',
    "gives": {"result": False},
}
RAY_SUBMIT = {
    "image": "python:3.11",
    "name": "ray-submit",
    "source": r'''
# couler_py/steps/ray/step.py, line 5
from pathlib import Path

# couler_py/steps/ray/step.py, line 6
from typing import NamedTuple

# couler_py/steps/ray/step.py, line 11
class Submitted(NamedTuple):
    """The id of the job, and all that it printed."""

    job: str
    log: Path

# couler_py/steps/ray/step.py, line 19
def submit(
    entrypoint: str,
    address: str = "",
    working_dir: Path | None = None,
    packages: list[str] | None = None,
    variables: dict[str, str] | None = None,
    cpus: float = 0.0,
    gpus: float = 0.0,
    poll: float = 2.0,
) -> Submitted:
    """Submit a program to a cluster of Ray (`address`, as "http://head:8265"), and wait until it has ended.

    Without an address a cluster is started on the step's own machine, and stopped after it. The `entrypoint` is a
    command line, run in `working_dir`, with `packages` and `variables`; `cpus` and `gpus` are what the program itself
    takes, beside its tasks. A step that is stopped stops its job. `poll` is in seconds.

    Raises `RuntimeError`, with the end of the log, where the program fails, and `ConnectionError` where nothing
    answers.

    >>> done = ray.submit("python train.py", "http://ray-head:8265", working_dir=code)  # doctest: +SKIP
    """
    import os
    import signal
    import sys
    import time

    from ray.job_submission import JobStatus, JobSubmissionClient

    started: Any = None
    known = dict(variables or {})
    if not address:
        import ray

        started = ray.init(include_dashboard=True, log_to_driver=False, dashboard_port=0)
        address = f"http://{started.dashboard_url}"
        known.setdefault(
            "PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        )
    environment: dict[str, Any] = {"env_vars": known}
    if working_dir is not None:
        environment["working_dir"] = str(working_dir.resolve())
    if packages:
        environment["pip"] = packages

    def stopped(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, stopped)
    try:
        client = JobSubmissionClient(address)
        job = client.submit_job(
            entrypoint=entrypoint, runtime_env=environment, entrypoint_num_cpus=cpus, entrypoint_num_gpus=gpus
        )
        status = client.get_job_status(job)
        try:
            while not status.is_terminal():
                time.sleep(poll)
                status = client.get_job_status(job)
        except BaseException:
            client.stop_job(job)
            raise
        log = Path("job.log")
        text = client.get_job_logs(job)
        log.write_text(text, encoding="utf-8")
        if status != JobStatus.SUCCEEDED:
            why = client.get_job_info(job).message or ""
            raise RuntimeError(f"the job {job} on {address} ended as {status}: {why}\n{text[-2000:]}")
        return Submitted(job, log)
    finally:
        signal.signal(signal.SIGTERM, before)
        if started is not None:
            ray.shutdown()
''',
    "outputs": {"job": str},
    "gives": {"log": False},
    "files": ["working_dir"],
    "defaults": {
        "address": "",
        "packages": None,
        "variables": None,
        "cpus": 0.0,
        "gpus": 0.0,
        "poll": 2.0,
    },
    "env": {"COULER_INSTALL": "1"},
}
READ = {
    "image": "python:3.11",
    "name": "read",
    "source": '''
# examples/ray_program.py, line 10
from pathlib import Path

# examples/ray_program.py, line 45
def read(log: Path) -> float:
    """What the program has printed, among what Ray itself says."""
    words = [line.split() for line in log.read_text().splitlines()]
    return next(float(said[1]) for said in words if said[:1] == ["pi"])
''',
    "outputs": {"result": float},
    "files": ["log"],
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
    "code": {
        "function": "code",
        "returns": "one",
        "future": [],
        "packages": [],
        "inputs": [],
        "outputs": [{"name": "result", "artifact": True}],
        "decisions": [],
        "pieces": [
            {"file": "examples/ray_program.py", "line": 10, "start": 3, "count": 1},
            {"file": "examples/ray_program.py", "line": 15, "start": 6, "count": 1},
            {"file": "examples/ray_program.py", "line": 36, "start": 9, "count": 6},
        ],
    },
    "ray-submit": {
        "function": "submit",
        "returns": "fields",
        "future": ["annotations"],
        "packages": ["ray[default]>=2.40"],
        "inputs": [
            {"name": "entrypoint", "type": {"type": "scalar", "name": "str"}},
            {"name": "address", "type": {"type": "scalar", "name": "str"}},
            {
                "name": "packages",
                "type": {
                    "type": "union",
                    "options": (
                        {"type": "list", "item": {"type": "scalar", "name": "str"}},
                        {"type": "scalar", "name": "none"},
                    ),
                },
            },
            {
                "name": "variables",
                "type": {
                    "type": "union",
                    "options": (
                        {"type": "dict", "value": {"type": "scalar", "name": "str"}},
                        {"type": "scalar", "name": "none"},
                    ),
                },
            },
            {"name": "cpus", "type": {"type": "scalar", "name": "float"}},
            {"name": "gpus", "type": {"type": "scalar", "name": "float"}},
            {"name": "poll", "type": {"type": "scalar", "name": "float"}},
            {"name": "working_dir", "artifact": True, "optional": True},
        ],
        "outputs": [
            {"name": "job", "type": {"type": "scalar", "name": "str"}},
            {"name": "log", "artifact": True},
        ],
        "decisions": [],
        "pieces": [
            {"file": "couler_py/steps/ray/step.py", "line": 5, "start": 3, "count": 1},
            {"file": "couler_py/steps/ray/step.py", "line": 6, "start": 6, "count": 1},
            {"file": "couler_py/steps/ray/step.py", "line": 11, "start": 9, "count": 5},
            {
                "file": "couler_py/steps/ray/step.py",
                "line": 19,
                "start": 16,
                "count": 72,
            },
        ],
    },
    "read": {
        "function": "read",
        "returns": "one",
        "future": [],
        "packages": [],
        "inputs": [{"name": "log", "artifact": True}],
        "outputs": [{"name": "result", "type": {"type": "scalar", "name": "float"}}],
        "decisions": [],
        "pieces": [
            {"file": "examples/ray_program.py", "line": 10, "start": 3, "count": 1},
            {"file": "examples/ray_program.py", "line": 45, "start": 6, "count": 4},
        ],
    },
}

# Reads the inputs of Python steps, and writes their outputs.
RUNNER = "the runner"

INCLUDES = {}

ray_program()
