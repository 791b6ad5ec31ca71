"""Operators that run steps as pods."""

import base64
import json
import shlex
from functools import partial

from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.sdk.exceptions import AirflowException

from couler_py.templates.airflow.steps import (
    INCLUDES,
    STORE,
    StepFailed,
    address_of,
    encoded,
    program_of,
    run_attempt,
    run_batch,
    run_cached,
    runner_text,
    value_of,
    variable_of,
)
from couler_py.templates.airflow.values import evaluated, fact, kept, proceed

CLAIM = ""
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


def step(task_id, template, inputs=dict, when=None, again=None, turns=None, **options):
    """A step as a pod of its own. `inputs` are values, or how they are read."""
    made = pod_of(template, inputs, when, again, turns)
    return made(task_id=task_id, **pod_options(template), **options)


def step_of_each(template, inputs, again=None, turns=None, batch=False, **options):
    """For `fan_out`: a step for each item, or for each batch, one pod after another."""
    made = pod_of(template, inputs, None, again, turns, batch)
    mapped = made.partial(task_id="each", **pod_options(template), **options)
    return mapped.expand_kwargs


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
