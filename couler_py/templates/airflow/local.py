"""Operators that run steps as processes of the worker."""

import base64
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from time import time

from airflow.providers.standard.operators.python import PythonOperator

from couler_py.templates.airflow.steps import (
    INCLUDES,
    StepFailed,
    all_inputs,
    encoded,
    get_file,
    keep_file,
    place_of,
    program_of,
    run_attempt,
    run_batch,
    run_cached,
    RUNNER,
    value_of,
    variable_of,
)
from couler_py.templates.airflow.values import evaluated, fact, kept, proceed


def step(task_id, template, inputs=dict, when=None, again=None, turns=None, **options):
    """A step as a process of its own. `inputs` are values, or how they are read."""

    def perform():
        proceed(when)
        given = evaluated(inputs)
        return kept(run_attempt(partial(run_step, template), given, again, turns))

    options = template.get("options", {}) | options
    return PythonOperator(task_id=task_id, python_callable=perform, **options)


def step_of_each(template, inputs, again=None, turns=None, batch=False, **options):
    """For `fan_out`: a step for each item, or each batch of items."""

    def one(item):
        given = evaluated(inputs, item)
        return run_attempt(partial(run_step, template), given, again, turns)

    def perform(item):
        if batch:
            return run_batch(one, item, 1 + options.get("retries", 0))
        return kept(one(item))

    options = template.get("options", {}) | options
    mapped = PythonOperator.partial(task_id="each", python_callable=perform, **options)
    return lambda items: mapped.expand(op_kwargs=items)


def run_step(template, given):
    """Run a step with inputs and give its outputs."""
    given = all_inputs(template, given)
    run = partial(run_python if "source" in template else run_command, template)
    return run_cached(template, given, run) if "cache" in template else run(given)


def run_python(template, given):
    """Run a Python function: the runner reads the inputs and writes the outputs."""
    with tempfile.TemporaryDirectory(prefix="couler-") as name:
        folder = Path(name)
        for each in ("inputs", "outputs", "work"):
            (folder / each).mkdir()
        program = folder / "step.py"
        program.write_text(program_of(template), encoding="utf-8")
        variables = environment_of(template, given) | {
            "COULER_RUNNER": RUNNER,
            "COULER_INPUTS": str(folder / "inputs"),
            "COULER_OUTPUTS": str(folder / "outputs"),
            "PYTHONUNBUFFERED": "1",
        }
        for each in template.get("include", ()):
            (folder / f"{each}.tar.gz").write_bytes(base64.b85decode(INCLUDES[each]))
        archives = [
            str(folder / f"{each}.tar.gz") for each in template.get("include", ())
        ]
        variables["COULER_INCLUDE"] = os.pathsep.join(archives)
        for each, value in given.items():
            if each in template.get("files", ()):
                get_file(value, folder / "inputs" / each)
                continue
            variables[variable_of(each)] = encoded(value)
        run_process([sys.executable, "-P", str(program)], variables, folder / "work")
        return outputs_of(template, given, lambda each: folder / "outputs" / each)


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
        files = {
            each: folder / place for each, place in template.get("files", {}).items()
        }
        try:
            for place in (*places.values(), *files.values()):
                remove_path(place)
                place.parent.mkdir(parents=True, exist_ok=True)
            for each, place in files.items():
                get_file(given.get(each), place)
            printed = folder / ".stdout" if "stdout" in template else None
            if "stdout" in template:
                places[template["stdout"]] = printed
            directory = folder / evaluated(template.get("directory", ""), given)
            run_process(words, environment_of(template, given), directory, printed)
            return outputs_of(template, given, places.get)
        finally:
            for place in (*places.values(), *files.values()):
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
        with killed_with_task(running):
            code = running.wait()
    except BaseException:
        kill(running)
        running.wait()
        raise
    finally:
        if output:
            output.close()
            sys.stdout.write(printed.read_text(encoding="utf-8", errors="replace"))
    if code != 0:
        raise StepFailed(f"exit code {code}", code, time() - began)


def kill(running):
    """End a program with all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)


@contextmanager
def killed_with_task(running):
    """Airflow ends a task by SIGTERM: its program must not go on alone."""
    before = signal.getsignal(signal.SIGTERM)
    if not callable(before):
        yield
        return

    def end(number, frame):
        kill(running)
        before(number, frame)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def outputs_of(template, given, place):
    """The outputs that a step left: values, and where its files are kept."""
    found = {}
    for name, form in template.get("outputs", {}).items():
        path = place(name)
        if not path.exists():
            if name in template.get("otherwise", {}):
                found[name] = template["otherwise"][name]
                continue
            raise StepFailed(f"the step left no output {name}")
        written = path.read_bytes().decode()
        found[name] = value_of(name, form, written, "source" in template)
    for name, optional in template.get("gives", {}).items():
        path = place(name)
        if path.exists():
            found[name] = keep_file(place_of(template, name, given), path)
        elif optional:
            found[name] = None
        else:
            raise StepFailed(f"the step left no file {name}")
    return found


def remove_path(path):
    """Remove a file or folder that may be there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
