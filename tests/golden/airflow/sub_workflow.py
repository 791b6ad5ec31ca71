"""The workflow sub_workflow.

Written by couler-py: change the program that it was made from, not this file.
"""

import base64
import json
import shlex
import zlib
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from time import time
from typing import Any, NamedTuple
from urllib.parse import quote

from airflow import __version__ as airflow_version
from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import DAG, Param, TaskGroup, TriggerRule, get_current_context
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
)
from fsspec.core import url_to_fs

if tuple(map(int, airflow_version.split(".")[:2])) < (3, 1):
    raise RuntimeError(f"this DAG needs Airflow 3.1 or later, not {airflow_version}")


class Group(NamedTuple):
    """A graph in the DAG: who waits for it waits for `end`, which has its outputs."""

    start: Any
    end: Any


def begin(inputs=dict, when=None, item=None):
    """The first task of a graph: it reads the condition and the graph's inputs."""

    def read(*items):
        proceed(when)
        return kept(evaluated(inputs, *items))

    items = [] if item is None else [item]
    return PythonOperator(task_id="start", python_callable=read, op_args=items)


def finish(start, before, outputs=dict):
    """The last task of a graph that forgives no failure: it gives the outputs."""

    def give():
        if xcom(start) is None:
            raise AirflowSkipException("the graph did not start")
        return kept(given_back(outputs))

    end = PythonOperator(
        task_id="end", python_callable=give, trigger_rule=TriggerRule.NONE_FAILED
    )
    [start, *before] >> end
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


def step(task_id, template, inputs=dict, when=None, again=None, turns=None, **options):
    """A step as a pod of its own. `inputs` are values, or how they are read."""
    made = pod_of(template, inputs, when, again, turns)
    return made(task_id=task_id, **pod_options(template), **options)


def pod_options(template):
    """What the operator of a step is given."""
    return {
        "image": template["image"],
        "do_xcom_push": bool(template.get("outputs") or template.get("gives")),
        **template.get("options", {}),
    }


def pod_of(template, inputs, when, again, turns, batch=False):
    """The operator of a step: it reads the inputs when it starts, and Jinja nothing."""

    class Pod(KubernetesPodOperator):
        template_fields = ()

        def __init__(self, *, item=None, **options):
            super().__init__(**options)
            self.item = item

        def execute(self, context):
            proceed(when)
            if batch:
                one = partial(self.run_once, context)
                found = run_batch(one, self.item, 1 + self.retries)
            else:
                given = () if self.item is None else (self.item,)
                found = kept(self.run_once(context, *given))
            if not self.do_xcom_push:
                context["ti"].xcom_push(key="return_value", value=found)
            return found

        def run_once(self, context, *item):
            given = template.get("defaults", {}) | evaluated(inputs, *item)
            run = partial(self.run_pod, context)
            if "cache" in template:
                run = partial(run_cached, template, run=run)
            return run_attempt(run, given, again, turns)

        def run_pod(self, context, given):
            describe(self, template, given)
            self.pod = self.pod_request_obj = self.remote_pod = None
            try:
                written = super().execute(context)
            except AirflowException as error:
                raise StepFailed(str(error), exit_code_of(self.remote_pod)) from error
            return read_outputs(template, written or {})

    return Pod


SQUARE = {
    "image": "python:3.11",
    "name": "square",
    "source": """
# examples/sub_workflow.py, line 7
def square(x: int) -> int:
    return x * x
""",
    "outputs": {"result": int},
    "pod": {"spec": {"containers": [{"name": "base"}]}},
}
ADD = {
    "image": "python:3.11",
    "name": "add",
    "source": """
# examples/sub_workflow.py, line 12
def add(x: int, y: int) -> int:
    return x + y
""",
    "outputs": {"result": int},
    "pod": {"spec": {"containers": [{"name": "base"}]}},
}


def sum_of_squares_2(inputs=dict, when=None, item=None):
    start = begin(inputs, when, item)
    square = step("square", SQUARE, lambda: {"x": out(start, "x")})
    square_2 = step("square-2", SQUARE, lambda: {"x": out(start, "y")})
    add = step(
        "add", ADD, lambda: {"x": out(square, "result"), "y": out(square_2, "result")}
    )
    start >> [square, square_2]
    [square, square_2] >> add
    return finish(start, [add], lambda: {"result": out(add, "result")})


with DAG(
    "sub_workflow",
    schedule=None,
    start_date=datetime(2024, 1, 1, tzinfo=UTC),
    catchup=False,
    params={"a": Param(3, type="integer")},
    default_args={"namespace": "default"},
    doc_md=__doc__,
):
    with TaskGroup("sum_of_squares"):
        sum_of_squares = sum_of_squares_2(lambda: {"x": param("a"), "y": 4})
    with TaskGroup("sum_of_squares-2"):
        sum_of_squares_2_2 = sum_of_squares_2(
            lambda: {"x": out(sum_of_squares.end, "result"), "y": 5}
        )
    sum_of_squares.end >> sum_of_squares_2_2.start
    result_of_run(
        [sum_of_squares_2_2.end],
        lambda: {"result": out(sum_of_squares_2_2.end, "result")},
    )

# ---- what the workers use

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


STORE = "/files"


class StepFailed(AirflowException):
    """A step that ended with an exit code other than 0."""

    def __init__(self, message, exit_code=None, seconds=0.0):
        super().__init__(message)
        self.exit_code, self.seconds = exit_code, seconds


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
    return f"{RUNNER_CALLS[template['name']]}\n{template['source']}"


def runner_text():
    """The program that reads the inputs of Python steps and writes their outputs."""
    return zlib.decompress(base64.b85decode(RUNNER)).decode()


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
    """The outputs of an earlier success with the same program and inputs, or new."""
    contents = {
        name: digest_of(value) if name in template.get("files", ()) else value
        for name, value in given.items()
    }
    identity = [template.get("source"), template["cache"]["version"], contents]
    key = sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
    store, path = url_to_fs(f"{STORE}/cache/{key}.json")
    if store.exists(path):
        record = json.loads(store.cat_file(path))
        age = time() - record["time"]
        if template["cache"]["seconds"] is None or age < template["cache"]["seconds"]:
            return record["outputs"]
    found = run(given)
    store.makedirs(store._parent(path), exist_ok=True)
    store.pipe_file(path, json.dumps({"time": time(), "outputs": found}).encode())
    return found


def digest_of(place):
    """A digest of what is in a kept file or folder."""
    if place is None:
        return None
    if isinstance(place, dict):
        return {name: digest_of(each) for name, each in place.items()}
    store, path = url_to_fs(place)
    return {
        each[len(path) :]: sha256(store.cat_file(each)).hexdigest()
        for each in sorted(store.find(path))
    }


CLAIM = "files"

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
    for name, place in json.loads(os.environ.pop("COULER_PLACES", "{}")).items():
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
finally:
    if os.path.isdir("/airflow/xcom"):
        with open("/airflow/xcom/return.json", "w") as file:
            json.dump(found, file)
sys.exit(code)
"""


def describe(operator, template, given):
    """Give the operator the command, the environment and the volume of its pod."""
    facts = ("id", "name", "namespace", "scheduled_time", "start", "attempt")
    env = {f"COULER_RUN_{name.upper()}": str(fact(name)) for name in facts}
    env |= evaluated(template.get("env", {}), given)
    operator.pod_template_dict = with_files(template, evaluated(template["pod"], given))
    if "source" in template:
        env |= python_environment(template, given)
        operator.cmds = template.get("python", ["python"])
        operator.arguments = ["-c", escaped(PYTHON_STEP)]
    else:
        if "script" in template:
            env["COULER_SCRIPT"] = evaluated(template["script"], given)
        words = [escaped(each) for each in command_of(template, given)]
        operator.cmds, operator.arguments = words[:1], words[1:]
    operator.env_vars = {name: escaped(value) for name, value in env.items()}


def escaped(text):
    """A text in which Kubernetes expands nothing."""
    return text.replace("$", "$$")


def python_environment(template, given):
    """What the runner of a Python function finds in its environment."""
    found = {
        "COULER_RUNNER": runner_text(),
        "COULER_STEP": program_of(template),
        "COULER_KEEP": json.dumps(
            {
                "values": list(template.get("outputs", ())),
                "files": {each: address_of(each) for each in template.get("gives", ())},
                "include": [INCLUDES[each] for each in template.get("include", ())],
            }
        ),
        "PYTHONUNBUFFERED": "1",
    }
    places = {}
    for name, value in given.items():
        if name in template.get("files", ()):
            places[name] = value
        else:
            found[variable_of(name)] = encoded(value)
    if places:
        found["COULER_PLACES"] = json.dumps(places)
    return found


def command_of(template, given):
    """The words of a container's command, in a shell that keeps its outputs."""
    words = [*evaluated(template["command"], given)]
    paths = template.get("paths", {})
    before, after = [], []
    if "script" in template:
        words.append("/tmp/couler-script")
        before.append('printf %s "$COULER_SCRIPT" > /tmp/couler-script')
        before.append("chmod 700 /tmp/couler-script; unset COULER_SCRIPT")
    for name in template.get("files", ()):
        before += copied(given.get(name), paths[name])
    for name in template.get("outputs", {}):
        path = shlex.quote(paths.get(name, "/tmp/.couler-stdout"))
        read = f"base64 < {path} | tr -d '\\n'"
        after.append(
            f'[ ! -e {path} ] || add {shlex.quote(json.dumps(name))} "$({read})"'
        )
    for name in template.get("gives", ()):
        path, place = shlex.quote(paths[name]), shlex.quote(address_of(name))
        folder = shlex.quote(address_of(name).rpartition("/")[0])
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
    lines = [
        "found='{'; comma=''",
        """add() { found="$found$comma$1:\\"$2\\""; comma=,; }""",
        "[ ! -d /airflow/xcom ] || echo '{}' > /airflow/xcom/return.json",
        *before,
        run,
        "[ $code = 0 ] || exit $code",
        *after,
        "[ ! -d /airflow/xcom ] || printf '%s}' \"$found\" > /airflow/xcom/return.json",
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


def with_files(template, pod):
    """The pod, with the volume in which files are kept where it reads or leaves any."""
    if not template.get("files") and not template.get("gives"):
        return pod
    spec = dict(pod["spec"])
    mount = {"name": "couler-files", "mountPath": STORE}
    claim = {"name": "couler-files", "persistentVolumeClaim": {"claimName": CLAIM}}
    base, *others = spec["containers"]
    mounted = base | {"volumeMounts": [*base.get("volumeMounts", []), mount]}
    spec["containers"] = [mounted, *others]
    spec["volumes"] = [*spec.get("volumes", []), claim]
    return {**pod, "spec": spec}


def read_outputs(template, written):
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
        found[name] = address_of(name) if name in written else None
    return found


def exit_code_of(pod):
    """The exit code of the step in a pod that failed, None where the pod itself did."""
    for each in (pod.status.container_statuses or []) if pod else []:
        if each.name == "base" and each.state.terminated:
            return each.state.terminated.exit_code
    return None


RUNNER_CALLS = {
    "square": 'SPEC = __import__(\'json\').loads(\'{"function":"square","returns":"one","future":[],"packages":[],"inputs":[{"name":"x","type":{"type":"scalar","name":"int"}}],"outputs":[{"name":"result","type":{"type":"scalar","name":"int"}}],"decisions":[],"pieces":[{"file":"examples/sub_workflow.py","line":7,"start":3,"count":2}]}\'); exec(__import__(\'os\').environ.pop(\'COULER_RUNNER\'))',
    "add": 'SPEC = __import__(\'json\').loads(\'{"function":"add","returns":"one","future":[],"packages":[],"inputs":[{"name":"x","type":{"type":"scalar","name":"int"}},{"name":"y","type":{"type":"scalar","name":"int"}}],"outputs":[{"name":"result","type":{"type":"scalar","name":"int"}}],"decisions":[],"pieces":[{"file":"examples/sub_workflow.py","line":12,"start":3,"count":2}]}\'); exec(__import__(\'os\').environ.pop(\'COULER_RUNNER\'))',
}

# Reads the inputs of Python steps and writes their outputs.
RUNNER = "the runner"

INCLUDES = {}
