"""Operators that run steps as pods."""

import json
from functools import partial

from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.sdk.exceptions import AirflowException

from couler_py.templates.airflow.containers import (
    Files,
    program_in_container,
    read_outputs,
)
from couler_py.templates.airflow.steps import (
    STORE,
    StepFailed,
    Work,
    all_inputs,
    is_folder,
    place_of,
    run_attempt,
    run_batch,
    run_cached,
)
from couler_py.templates.airflow.values import evaluated, kept, proceed

CLAIM = ""
STORE_SECRET = ""
RUNNER_IMAGE = ""
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
