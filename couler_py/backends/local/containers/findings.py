"""What stands in the way of steps that run in containers here, said before anything starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from couler_py.backends.local.containers import security
from couler_py.ir.diagnostics import Diagnostic, error
from couler_py.ir.model import ContainerSet, Template, Workflow

FOLDER_VOLUMES = ("emptyDir", "persistentVolumeClaim", "secret", "configMap", "hostPath")
MEANT = frozenset(
    {
        "securityContext",
        "ports",
        "readinessProbe",
        "livenessProbe",
        "startupProbe",
        "stdin",
        "tty",
        "terminationMessagePath",
        "terminationMessagePolicy",
        *security.NAMESPACES,
    }
)
"""Further fields of pods and containers that are heeded here, or change nothing about what a step does."""


def of_template(template: Template, workflow: Workflow, *, allow_host: bool) -> Iterator[Diagnostic]:
    """What this machine's containers can't do of a step, or may not."""
    place: dict[str, Any] = {"source": template.source, "step": template.display or template.name}
    if not allow_host:
        for what in security.of_the_host(workflow, template):
            yield error(
                "CLR620",
                f"it asks for {what}",
                why="a step could change this machine by that, and read what is yours",
                help="leave it out; or, for a workflow that you trust, say --allow-host",
                **place,
            )
    yield from _volumes(template, workflow, place)
    body = template.body
    if isinstance(body, ContainerSet):
        yield from _set(template, body, place)
    ignored = sorted(
        {
            field
            for fields in (security.pod_fields(workflow, template), *map(_extra, security.containers(template)))
            for field in fields
            if field not in MEANT
        }
    )
    if ignored:
        yield Diagnostic("CLR610", "note", f"not used in containers of one machine: {', '.join(ignored)}", **place)


def _extra(body: security.Body) -> dict[str, object]:
    return security.plain(body.extra)


def _volumes(template: Template, workflow: Workflow, place: dict[str, Any]) -> Iterator[Diagnostic]:
    volumes = {volume.name: volume for volume in (*workflow.volumes, *template.pod.volumes)}
    claims = {claim.name for claim in workflow.volume_claims}
    wanted = [mount.name for body in security.containers(template) for mount in body.mounts]
    if isinstance(template.body, ContainerSet):
        wanted += [mount.name for mount in template.body.mounts]
    for name in dict.fromkeys(wanted):
        kind = next(iter(volumes[name].source.value), "") if name in volumes else ""
        if name not in claims and kind not in FOLDER_VOLUMES:
            yield error(
                "CLR606",
                f"the volume {name!r} ({kind or 'unknown'}) can't be a folder of this machine",
                help=f"use one of {', '.join(FOLDER_VOLUMES)}",
                **place,
            )


def _set(template: Template, body: ContainerSet, place: dict[str, Any]) -> Iterator[Diagnostic]:
    named = [each.name for each in body.containers]
    outputs = [*template.outputs.parameters, *template.outputs.artifacts]
    if outputs and "main" not in named:
        yield error(
            "CLR622",
            "its outputs have no container",
            why="the outputs of a set are those of its container called main, as on Argo",
            help="call the container that writes them main",
            **place,
        )
    waits = dict(body.dependencies)
    left = set(named)
    while ready := {name for name in left if not set(waits.get(name, ())) & left}:
        left -= ready
    unknown = {each for name in named for each in waits.get(name, ())} - set(named)
    if left or unknown:
        what = f"wait for each other: {', '.join(sorted(left))}"
        if unknown:
            what = f"wait for {', '.join(sorted(unknown))}, which isn't there"
        yield error("CLR622", f"its containers {what}", help="give each the names of containers before it", **place)
