"""Containers and pods: images, environment, mounts, quantities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from couler_py.ir.expr import Text
from couler_py.ir.model import ContainerSet, DistributedJob, Function, Script, Template, Workflow
from couler_py.ir.pod import QUANTITY, Container, EnvVar, Resources, VolumeMount
from couler_py.passes.check.findings import Findings, Place
from couler_py.passes.check.references import suggest

Runs: TypeAlias = Container | Script | Function

_SECRET_WORDS = frozenset({"PASSWORD", "PASSWD", "SECRET", "TOKEN", "APIKEY", "CREDENTIAL", "CREDENTIALS"})
_NOT_SECRET_ENDS = frozenset({"FILE", "PATH", "DIR", "NAME", "URL", "URI", "TTL", "ID", "LENGTH", "COUNT", "LIMIT"})
_NO_RESOURCES = Resources()


def check_pod(template: Template, workflow: Workflow, findings: Findings, place: Place) -> None:
    """The containers of a template."""
    containers = list(_containers(template))
    if not containers:
        return
    names = [container.name for container in containers if isinstance(container, Container) and container.name]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        findings.error("CLR205", f"two containers of the name {name!r}", place)
    for container in containers:
        if not container.image:
            findings.error("CLR295", "the container has no image", place)
        _check_nul(container, findings, place)
        if container.env:
            _check_env(container.env, findings, place)
        if container.mounts:
            _check_mounts(container.mounts, template, workflow, findings, place)
        if container.resources != _NO_RESOURCES:
            _check_resources(container.resources, findings, place)
    if isinstance(template.body, ContainerSet):
        if template.body.mounts:
            _check_mounts(template.body.mounts, template, workflow, findings, place)
        known = {container.name for container in template.body.containers}
        for name, waits in template.body.dependencies:
            for other in (name, *waits):
                if other not in known:
                    findings.error("CLR220", f"{other} is no container of this set", place, help=suggest(other, known))
    if isinstance(template.body, Function):
        included = {archive.digest for archive in workflow.includes}
        for digest in template.body.include:
            if digest not in included:
                findings.error("CLR298", f"the archive {digest} isn't among the files of the workflow", place)
    if isinstance(template.body, DistributedJob):
        _check_job(template.body, findings, place)


def check_volumes(workflow: Workflow, findings: Findings) -> None:
    """The volumes that the workflow asks for."""
    place = Place(workflow.name, workflow.source)
    for claim in workflow.volume_claims:
        _check_quantity(f"the size of the volume {claim.name}", claim.size, findings, place)


def _containers(template: Template) -> Iterator[Runs]:
    body = template.body
    if isinstance(body, Container | Script | Function):
        yield body
    elif isinstance(body, DistributedJob | ContainerSet):
        yield from body.containers
    yield from template.pod.init_containers
    yield from template.pod.sidecars


def _check_nul(container: Runs, findings: Findings, place: Place) -> None:
    texts: list[object] = [container.image, *container.command]
    if isinstance(container, Container):
        texts += container.args
    texts += [variable.value for variable in container.env]
    if "\0" in "".join(map(_plain, texts)):
        findings.error("CLR229", "no program can be started with a NUL in its arguments or environment", place)


def _plain(text: object) -> str:
    if isinstance(text, str):
        return text
    return "".join([part for part in text.parts if isinstance(part, str)]) if isinstance(text, Text) else ""


def _check_env(env: tuple[EnvVar, ...], findings: Findings, place: Place) -> None:
    seen: set[str] = set()
    for variable in env:
        name = variable.name
        if not name or "=" in name or not name.isprintable():
            findings.error("CLR203", f"{name!r} can't be the name of an environment variable", place)
        if name in seen:
            findings.error("CLR293", f"the environment variable {name} is set twice", place)
        seen.add(name)
        if isinstance(variable.value, str) and variable.value and _sounds_secret(name):
            findings.warning(
                "CLR294",
                f"the environment variable {name} sounds like a secret, and its value stands in the workflow",
                place,
                help="make a secret (couler.create_secret), and refer to it by couler.secret(name, key)",
            )


def _sounds_secret(name: str) -> bool:
    words = name.upper().split("_")
    if words[-1] in _NOT_SECRET_ENDS:
        return False
    return not _SECRET_WORDS.isdisjoint(words) or name.upper().endswith(("API_KEY", "ACCESS_KEY", "PRIVATE_KEY"))


def _check_mounts(
    mounts: tuple[VolumeMount, ...], template: Template, workflow: Workflow, findings: Findings, place: Place
) -> None:
    volumes = (*workflow.volumes, *workflow.pod.volumes, *template.pod.volumes)
    declared = {volume.name for volume in volumes} | {claim.name for claim in workflow.volume_claims}
    paths: dict[str, str] = {artifact.path.rstrip("/"): artifact.name for artifact in template.inputs.artifacts}
    for mount in mounts:
        if mount.name not in declared:
            findings.error(
                "CLR291",
                f"the volume {mount.name} is mounted, and there is none",
                place,
                help=suggest(mount.name, declared),
            )
        path = mount.path.rstrip("/")
        if not mount.path.startswith("/"):
            findings.error("CLR296", f"the volume {mount.name} is mounted at {mount.path!r}, not a full path", place)
        elif path in paths:
            findings.error("CLR292", f"{paths[path]} and {mount.name} are both mounted at {mount.path}", place)
        paths[path] = mount.name


def _check_resources(resources: Resources, findings: Findings, place: Place) -> None:
    if resources.gpu < 0:
        findings.error("CLR299", f"{resources.gpu} GPUs can't be had", place)
    asked = [
        ("cpu", resources.cpu),
        ("memory", resources.memory),
        ("cpu_limit", resources.cpu_limit),
        ("memory_limit", resources.memory_limit),
        ("ephemeral_storage", resources.ephemeral_storage),
        *resources.extra,
    ]
    for name, quantity in asked:
        if quantity:
            _check_quantity(name, quantity, findings, place)


def _check_quantity(name: str, quantity: str, findings: Findings, place: Place) -> None:
    if QUANTITY.fullmatch(quantity) is None:
        findings.error(
            "CLR299", f"{name}={quantity!r} is no quantity", place, help='write "2", "500m" (half a core), "4Gi"'
        )
    elif quantity.startswith("-"):
        findings.error("CLR299", f"{name}={quantity!r} is less than nothing", place)


def _check_job(job: DistributedJob, findings: Findings, place: Place) -> None:
    for name, number in (("nodes", job.nodes), ("processes_per_node", job.processes_per_node)):
        if number < 1:
            findings.error("CLR285", f"{name} is {number}, and must be at least 1", place)
    for role in job.roles:
        if role.nodes < 1:
            findings.error("CLR285", f"the {role.name} has {role.nodes} nodes, and must have at least 1", place)
    if job.roles and (count := sum(role.nodes for role in job.roles if role.name != "launcher")) != job.nodes:
        findings.error("CLR285", f"nodes is {job.nodes}, and the roles of the job have {count}", place)
    if job.max_restarts < 0:
        findings.error("CLR280", f"max_restarts is {job.max_restarts}, and can't be negative", place)
    if job.elastic is not None and not 1 <= job.elastic[0] <= job.elastic[1]:
        findings.error("CLR285", f"a job can't have from {job.elastic[0]} to {job.elastic[1]} nodes", place)
    if job.elastic is not None and job.framework in ("tensorflow", "mpi"):
        message = f"nothing runs a job of {job.framework} with fewer nodes than it began with"
        findings.error("CLR285", message, place, help="leave elastic= out, or write the job for torch")
