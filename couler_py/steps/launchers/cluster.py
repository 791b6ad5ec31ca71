"""Jobs of several nodes on a cluster: a service that gives a name, the job itself, and a report of what came of it.

The three are steps in a graph that stands where the job stood: Kubernetes objects as `Resource`, so that every engine
which has these runs jobs too. All that belongs to a job bears the name that the cluster made for its service, so runs,
items and attempts never meet.
"""

from __future__ import annotations

import json
from importlib import resources

import msgspec

from couler_py.ir.diagnostics import Diagnostic, error
from couler_py.ir.expr import Input, Literal, OrElse, TaskOutput, TaskStatus, Text
from couler_py.ir.model import (
    After,
    Argument,
    DistributedJob,
    Graph,
    Inputs,
    OutputParameter,
    Outputs,
    Parameter,
    Resource,
    Script,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.names import legal_name
from couler_py.ir.pod import EnvVar, PodSettings
from couler_py.ir.types import STR
from couler_py.kubernetes import pod_fields, volume
from couler_py.kubernetes.jobs import LAUNCHERS, SELECTOR, Launcher, Marks, Plan, service
from couler_py.passes.defaults import mapped_image
from couler_py.passes.situation import Situation

PREFIX = 30
"""Characters of a name that a cluster completes by five, and which host names of 63 are made of."""
PYTHON = "python:3.11"


def launcher_of(job: DistributedJob) -> str:
    """The launcher that a job names, or the one that fits."""
    return job.launcher or ("mpijob" if job.framework == "mpi" else "indexed-job")


def problems(workflow: Workflow, template: Template) -> list[Diagnostic]:
    """What a launcher can't do of a job."""
    job = template.body
    assert isinstance(job, DistributedJob)
    name = launcher_of(job)
    launcher = LAUNCHERS.get(name)
    found: list[tuple[str, str]] = []
    if launcher is None:
        return [_problem(template, f"there is no launcher {name!r}", f"write one of {', '.join(LAUNCHERS)}")]
    if job.framework not in launcher.frameworks:
        fitting = [each.name for each in LAUNCHERS.values() if job.framework in each.frameworks]
        found.append((f"{name} doesn't run jobs of {job.framework}", f"launcher={' or '.join(map(repr, fitting))}"))
    if job.elastic is not None and not (launcher.elastic and job.framework in ("torch", "generic")):
        found.append((f"{name} runs a fixed number of nodes", "leave elastic= out"))
    found += _roles(launcher, job)
    if own := launcher.problem(job):
        found.append(own)
    if template.inputs.artifacts or template.outputs.artifacts:
        found.append(("files don't go to or from the pods of a job", "mount a volume that they share: volumes="))
    if any(each.stdout for each in template.outputs.parameters):
        found.append(("several processes print", "leave outputs in /tmp/couler/outputs/NAME"))
    if template.outputs.parameters and not launcher.reports:
        found.append((f"{name} says nothing of what its processes leave", "write values to a place that others read"))
    claims = {claim.name for claim in workflow.volume_claims}
    if claims & {mount.name for mount in job.container.mounts}:
        found.append(("a claim that is made with the run is mounted", "make it before: couler.existing_claim"))
    return [_problem(template, what, help_) for what, help_ in found]


def _roles(launcher: Launcher, job: DistributedJob) -> list[tuple[str, str]]:
    """What a launcher can't do of the roles of a job."""
    found: list[tuple[str, str]] = []
    apart = [each.name for each in LAUNCHERS.values() if each.apart and job.framework in each.frameworks]
    way = f"launcher={' or '.join(map(repr, apart))}" if apart else "leave roles= out"
    if unknown := [role.name for role in job.roles if role.name not in launcher.roles]:
        found.append((f"{launcher.name} has no role {' and no '.join(unknown)}", way))
    elif len(job.containers) > 1 and not launcher.apart:
        found.append((f"{launcher.name} gives all nodes the same image, command and resources", way))
    if (job.clean_pods or any(role.restart for role in job.roles)) and not launcher.policies:
        found.append((f"{launcher.name} has no word for what becomes of pods that have ended", way))
    return found


def _problem(template: Template, what: str, help_: str) -> Diagnostic:
    step = template.display or template.name
    return error("CLR286", f"{step}: {what}", source=template.source, step=step, help=help_)


def lowered(workflow: Workflow, template: Template, situation: Situation) -> tuple[Template, ...]:
    """The graph that stands for a job, and the templates of its three steps."""
    job = template.body
    assert isinstance(job, DistributedJob)
    launcher = LAUNCHERS[launcher_of(job)]
    owned = situation.engine == "argo"
    given = tuple(Argument(each.name, Input(each.name)) for each in template.inputs.parameters)
    taken = {each.name for each in template.inputs.parameters}
    handed = "job" if "job" not in taken else "couler-job"
    names = {each: f"{template.name}-{each}" for each in ("service", "job", "report")}
    name = Argument(handed, TaskOutput("service", "name"))
    tasks = (
        Task("service", names["service"]),
        Task("job", names["job"], (*given, name)),
        Task(
            "report",
            names["report"],
            (Argument("job", OrElse(TaskOutput("service", "name"), Literal(""))), Argument("state", TaskStatus("job"))),
            after=(After("job", "always"),),
        ),
    )
    passed = tuple(
        msgspec.structs.replace(each, path="", value=TaskOutput("report", each.name))
        for each in template.outputs.parameters
    )
    whole = msgspec.structs.replace(
        template,
        body=Graph(tasks),
        inputs=Inputs(tuple(template.inputs.parameters)),
        outputs=Outputs(passed),
        timeout=None,
        pod=PodSettings(),
    )
    prefix = legal_name("kubernetes", "label", template.name)[:PREFIX].strip("-")
    return (
        whole,
        _service(names["service"], prefix, template, owned),
        _job(workflow, template, launcher, names["job"], prefix, handed, owned),
        _report(template, launcher, names["report"], situation),
    )


def _service(name: str, prefix: str, template: Template, owned: bool) -> Template:
    body = Resource("create", Marks().templated(service(prefix)), set_owner_reference=owned)
    output = OutputParameter("name", STR, json_path="{.metadata.name}")
    return Template(name, body, outputs=Outputs((output,)), source=template.source)


def _job(
    workflow: Workflow, template: Template, launcher: Launcher, name: str, prefix: str, handed: str, owned: bool
) -> Template:
    job = template.body
    assert isinstance(job, DistributedJob)
    marks = Marks()
    settings = (workflow.pod, template.pod)
    pod = {key: value for each in settings for key, value in pod_fields(each, marks.render).items()}
    mounted = {mount.name for mount in job.container.mounts}
    volumes = [volume(each, marks.render) for each in (*workflow.volumes, *workflow.pod.volumes, *template.pod.volumes)]
    if used := [each for each in volumes if each["name"] in mounted]:
        pod["volumes"] = used
    plan = Plan(
        job,
        marks.render(Text((Input(handed),))),
        prefix,
        marks.render,
        pod,
        {key: marks.render(value) for each in settings for key, value in each.labels},
        {key: marks.render(value) for each in settings for key, value in each.annotations},
        template.timeout,
    )
    body = Resource(
        "create",
        marks.templated(launcher.manifest(plan)),
        launcher.succeeds,
        launcher.fails,
        set_owner_reference=owned,
    )
    inputs = Inputs((*(Parameter(each.name, each.type) for each in template.inputs.parameters), Parameter(handed, STR)))
    return Template(name, body, inputs, timeout=template.timeout, source=template.source)


def _report(template: Template, launcher: Launcher, name: str, situation: Situation) -> Template:
    job = template.body
    assert isinstance(job, DistributedJob)
    wanted = [each.name for each in template.outputs.parameters]
    env = (
        EnvVar("COULER_JOB", Text((Input("job"),))),
        EnvVar("COULER_STATE", Text((Input("state"),))),
        EnvVar(SELECTOR, launcher.label),
        EnvVar("COULER_WANTED", json.dumps(wanted)),
    )
    image = mapped_image(PYTHON, situation.settings.images)
    text = resources.files("couler_py.steps.launchers").joinpath("report.py").read_text(encoding="utf-8")
    outputs = tuple(
        msgspec.structs.replace(each, path=f"/tmp/couler/outputs/{each.name}")  # noqa: S108
        for each in template.outputs.parameters
    )
    return Template(
        name,
        Script(image, text, ("python3",), env),
        Inputs((Parameter("job", STR), Parameter("state", STR))),
        Outputs(outputs),
        pod=PodSettings(service_account=template.pod.service_account),
        source=template.source,
    )
