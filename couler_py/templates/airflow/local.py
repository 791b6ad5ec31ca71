"""Operators that run steps as processes of the worker. See `common.py`."""

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import zlib
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import time
from urllib.parse import quote

from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import get_current_context
from airflow.sdk.exceptions import AirflowException, AirflowFailException
from fsspec.core import url_to_fs

from couler_py.templates.airflow.common import evaluated, fact, kept, proceed

STORE = "/tmp/couler"
RUNNER = ""


def step(task_id, template, inputs=dict, when=None, again=None, **options):
    """A step as a process of its own. `inputs` are values, or how they are read."""

    def perform():
        proceed(when)
        given = evaluated(inputs)
        return kept(run_attempt(template, given, again))

    options = template.get("options", {}) | options
    return PythonOperator(task_id=task_id, python_callable=perform, **options)


def step_of_each(template, inputs, again=None, **options):
    """For `fan_out`: a step for each item."""

    def perform(item):
        given = evaluated(inputs, item)
        return kept(run_attempt(template, given, again))

    options = template.get("options", {}) | options
    mapped = PythonOperator.partial(task_id="each", python_callable=perform, **options)
    return lambda items: mapped.expand(op_kwargs=items)


class StepFailed(AirflowException):
    """A step that ended with an exit code other than 0."""

    def __init__(self, message, exit_code=None, seconds=0.0):
        super().__init__(message)
        self.exit_code, self.seconds = exit_code, seconds


def run_attempt(template, given, again):
    """One attempt; `again` says of a failure whether another one is worth it."""
    try:
        return run_step(template, given)
    except StepFailed as error:
        if again is not None and not evaluated(again, error):
            raise AirflowFailException(str(error)) from error
        raise


def run_step(template, given):
    """Run a step with inputs and give its outputs."""
    given = template.get("defaults", {}) | given
    if "cache" in template:
        return run_cached(template, given)
    if "source" in template:
        return run_python(template, given)
    if "command" in template:
        return run_command(template, given)
    return {}


def run_python(template, given):
    """Run a Python function: the runner reads the inputs and writes the outputs."""
    with tempfile.TemporaryDirectory(prefix="couler-") as name:
        folder = Path(name)
        for each in ("inputs", "outputs", "work"):
            (folder / each).mkdir()
        program = folder / "step.py"
        program.write_text(
            f"{template['start']}\n{template['source']}", encoding="utf-8"
        )
        variables = environment_of(template, given) | {
            "COULER_RUNNER": zlib.decompress(base64.b85decode(RUNNER)).decode(),
            "COULER_INPUTS": str(folder / "inputs"),
            "COULER_OUTPUTS": str(folder / "outputs"),
            "PYTHONUNBUFFERED": "1",
        }
        for each, value in given.items():
            if each in template.get("files", ()):
                get_file(value, folder / "inputs" / each)
                continue
            data = base64.b64encode(b"couler:json:" + json.dumps(value).encode())
            variables[variable_of(each)] = data.decode()
        run_process([sys.executable, "-P", str(program)], variables, folder / "work")
        return outputs_of(template, lambda each: folder / "outputs" / each)


def run_command(template, given):
    """Run a container's command, with the programs of this machine."""
    with tempfile.TemporaryDirectory(prefix="couler-") as name:
        folder = Path(name)
        places = {
            each: folder / place for each, place in template.get("paths", {}).items()
        }
        words = [*evaluated(template["command"], given)]
        if "script" in template:
            script = folder / ".script"
            script.write_text(evaluated(template["script"], given), encoding="utf-8")
            script.chmod(0o700)
            words.append(str(script))
        try:
            for place in places.values():
                remove_path(place)
                place.parent.mkdir(parents=True, exist_ok=True)
            for each in template.get("files", ()):
                if each in places:
                    get_file(given.get(each), places[each])
            printed = folder / ".stdout" if "stdout" in template else None
            if "stdout" in template:
                places[template["stdout"]] = printed
            directory = folder / template.get("directory", "")
            run_process(words, environment_of(template, given), directory, printed)
            return outputs_of(template, places.get, chomp=True)
        finally:
            for place in places.values():
                remove_path(place)


def environment_of(template, given):
    """What the process of a step finds in its environment."""
    facts = ("id", "name", "namespace", "scheduled_time", "start", "attempt")
    found = {f"COULER_RUN_{name.upper()}": str(fact(name)) for name in facts}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return (
        os.environ | {"PATH": path} | found | evaluated(template.get("env", {}), given)
    )


def run_process(words, variables, directory, printed=None):
    """Run a program to its end, which is also that of the task. Raises `StepFailed`."""
    began = time()
    output = printed.open("wb") if printed else None
    try:
        running = subprocess.Popen(
            words, env=variables, cwd=directory, stdout=output, start_new_session=True
        )
    except (OSError, ValueError) as error:
        raise StepFailed(f"{words[0]} can't be started: {error}") from error
    try:
        code = running.wait()
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        raise
    finally:
        if output:
            output.close()
            sys.stdout.write(printed.read_text(encoding="utf-8", errors="replace"))
    if code != 0:
        raise StepFailed(f"exit code {code}", code, time() - began)


def outputs_of(template, place, chomp=False):
    """The outputs that a step left: values as JSON or text, files as where they are kept."""
    found = {}
    for name, form in template.get("outputs", {}).items():
        path = place(name)
        if not path.exists():
            if name in template.get("otherwise", {}):
                found[name] = template["otherwise"][name]
                continue
            raise StepFailed(f"the step left no output {name}")
        written = path.read_bytes().decode()
        found[name] = value_of(
            name, form, written.removesuffix("\n") if chomp else written
        )
    for name, optional in template.get("gives", {}).items():
        path = place(name)
        if path.exists():
            found[name] = keep_file(name, path)
        elif optional:
            found[name] = None
        else:
            raise StepFailed(f"the step left no file {name}")
    return found


def value_of(name, form, written):
    """An output as it was written."""
    if written.startswith("couler:json:"):
        return json.loads(written.removeprefix("couler:json:"))
    if form is str:
        return written
    try:
        value = json.loads(written)
    except ValueError as error:
        if form is object:
            return written
        raise StepFailed(f"the output {name} is not JSON: {error}") from error
    fits = isinstance(value, form) and not (
        form in (int, float) and value in (True, False)
    )
    fits = fits or form is float and type(value) is int
    if not fits and type(value) is not form and form is not object:
        raise StepFailed(f"the output {name} is not {form.__name__}: {written[:60]}")
    return value


def variable_of(name):
    """The environment variable with an input of a Python function."""
    return "COULER_INPUT_" + (name if name.isascii() else "0" + name.encode().hex())


def remove_path(path):
    """Remove a file or folder that may be there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


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


def keep_file(name, path):
    """Keep a file or folder; gives where."""
    place = address_of(name)
    store, target = url_to_fs(place)
    store.makedirs(store._parent(target), exist_ok=True)
    store.put(str(path), target, recursive=path.is_dir())
    return place


def get_file(place, path):
    """Get a file or folder that was kept; of a fan-out, all of them, as one folder."""
    if place is None:
        return
    if isinstance(place, dict):
        path.mkdir()
        for name, each in place.items():
            get_file(each, path / name)
        return
    store, source = url_to_fs(place)
    store.get(source, str(path), recursive=store.isdir(source))


def run_cached(template, given):
    """The outputs of an earlier success with the same program and inputs, if there is one."""
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
    rest = {name: value for name, value in template.items() if name != "cache"}
    found = run_step(rest, given)
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
    found = {
        each[len(path) :]: sha256(store.cat_file(each)).hexdigest()
        for each in sorted(store.find(path))
    }
    return found
