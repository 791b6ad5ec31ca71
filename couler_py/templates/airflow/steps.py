"""What the operators of all kinds share: attempts, outputs, files."""

import base64
import json
from hashlib import sha256
from time import time
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import get_current_context
from airflow.sdk.exceptions import AirflowException, AirflowFailException
from fsspec.core import url_to_fs

from couler_py.templates.airflow.values import evaluated, kept, param, proceed

STORE = "/tmp/couler"
SPECS = {}
RUNNER = ""
INCLUDES = {}


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


def do_nothing(task_id, when=None, turns=None, **options):
    """A step without a program: it ends at once."""

    def perform():
        proceed(when)
        return {} if turns is None else kept(turns(lambda given: {}, {}))

    return PythonOperator(task_id=task_id, python_callable=perform, **options)


def turns(until, carry, most, outputs):
    """Runs a step again and again in one task, until a condition holds."""

    def repeat(run, given):
        for _ in range(most):
            last = run(given)
            if evaluated(until, last):
                return evaluated(outputs, last)
            given |= {name: last[output] for name, output in carry.items()}
        raise AirflowFailException(f"the condition did not hold after {most} turns")

    return repeat


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


# ---- files, in a folder or behind a URI


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


def keep_file(place, path):
    """Keep a file or folder; gives where."""
    store, target = store_of(place)
    store.makedirs(store._parent(target), exist_ok=True)
    store.put(str(path), target, recursive=path.is_dir())
    return place


def get_file(place, path):
    """Get a file or folder that was kept; of a fan-out, all of them, as one folder."""
    if place is None:
        return
    if is_folder(place):
        path.mkdir()
        for name, each in place.items():
            get_file(each, path / name)
        return
    store, source = store_of(place)
    store.get(source, str(path), recursive=store.isdir(source))


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
