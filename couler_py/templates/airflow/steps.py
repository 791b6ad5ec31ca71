"""What the operators of all kinds share: attempts, outputs, files."""

import base64
import json
import zlib
from hashlib import sha256
from time import time
from urllib.parse import quote

from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import get_current_context
from airflow.sdk.exceptions import AirflowException, AirflowFailException
from fsspec.core import url_to_fs

from couler_py.templates.airflow.values import evaluated, kept, proceed

STORE = "/tmp/couler"
RUNNER_CALLS = {}
RUNNER = ""
INCLUDES = {}


class StepFailed(AirflowException):
    """A step that ended with an exit code other than 0."""

    def __init__(self, message, exit_code=None, seconds=0.0):
        super().__init__(message)
        self.exit_code, self.seconds = exit_code, seconds


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


# ---- files, in a folder or behind a URI


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
