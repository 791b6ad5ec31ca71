"""What operators share that run steps in containers: the container's own part."""

import base64
import json
import shlex
from typing import NamedTuple

from couler_py.templates.airflow.steps import (
    INCLUDES,
    RUNNER,
    StepFailed,
    encoded,
    place_of,
    program_of,
    value_of,
    variable_of,
)
from couler_py.templates.airflow.values import evaluated, fact


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
