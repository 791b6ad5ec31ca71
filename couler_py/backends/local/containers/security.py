"""What a container may do: no new privileges, no capabilities beyond one, nothing of the host unless allowed.

Kubernetes' `securityContext` of pods and containers is read here, in its own words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from couler_py.ir.model import ContainerSet, Function, Script, Template, Workflow
from couler_py.ir.pod import Container, Templated

HARMLESS = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
"""Capabilities that a container may be given without `--allow-host`: of those that docker gives every container."""
NAMESPACES = {"hostNetwork": "network", "hostPID": "pid", "hostIPC": "ipc"}
Body = Container | Script | Function


class Security(msgspec.Struct, frozen=True):
    """How one container is bound."""

    user: str = ""
    capabilities: tuple[str, ...] = ()
    privileged: bool = False
    read_only: bool = False
    not_root: bool = False


def plain(extra: Templated | None) -> dict[str, Any]:
    """Further fields in Kubernetes' words; nothing where they aren't an object."""
    value = None if extra is None else extra.value
    return value if isinstance(value, dict) else {}


def pod_fields(workflow: Workflow, template: Template) -> dict[str, Any]:
    """The further fields of a step's pod: the template's own before the workflow's."""
    return plain(workflow.pod.extra) | plain(template.pod.extra)


def security(pod: dict[str, Any], container: dict[str, Any]) -> Security:
    """The bounds of a container, from the fields of its pod and its own."""
    context = (pod.get("securityContext") or {}) | (container.get("securityContext") or {})
    user = "" if context.get("runAsUser") is None else str(context["runAsUser"])
    if context.get("runAsGroup") is not None:
        user = f"{user or '0'}:{context['runAsGroup']}"
    added = (context.get("capabilities") or {}).get("add") or ()
    return Security(
        user,
        tuple(dict.fromkeys(str(name).upper().removeprefix("CAP_") for name in added)),
        bool(context.get("privileged")),
        bool(context.get("readOnlyRootFilesystem")),
        bool(context.get("runAsNonRoot")),
    )


def host_ports(container: dict[str, Any]) -> list[str]:
    """The ports of this machine that lead into a container, as the runtimes write them."""
    found = []
    for port in container.get("ports") or ():
        if port.get("hostPort"):
            where = f"{port['hostIP']}:" if port.get("hostIP") else ""
            found.append(f"{where}{port['hostPort']}:{port['containerPort']}/{port.get('protocol', 'TCP').lower()}")
    return found


def namespaces(workflow: Workflow, template: Template) -> list[str]:
    """The namespaces of this machine that a step's pod shares."""
    pod = pod_fields(workflow, template)
    own = template.pod.host_network if template.pod.host_network is not None else workflow.pod.host_network
    if own is not None:
        pod = pod | {"hostNetwork": own}
    return [name for field, name in NAMESPACES.items() if pod.get(field)]


def containers(template: Template) -> list[Body]:
    """All containers of a step's pod."""
    body = template.body
    main: tuple[Body, ...] = ()
    if isinstance(body, ContainerSet):
        main = body.containers
    elif isinstance(body, Container | Script | Function):
        main = (body,)
    return [*template.pod.init_containers, *template.pod.sidecars, *main]


def of_the_host(workflow: Workflow, template: Template) -> Iterator[str]:
    """All that a step wants of this machine itself, in words."""
    for name in namespaces(workflow, template):
        yield f"the {name} namespace of this machine"
    volumes = {volume.name: volume for volume in (*workflow.volumes, *template.pod.volumes)}
    mounted = {mount.name for body in containers(template) for mount in body.mounts}
    for name in sorted(mounted & volumes.keys()):
        source = volumes[name].source.value.get("hostPath")
        if source is not None:
            yield f"the path {source.get('path')} of this machine"
    pod = pod_fields(workflow, template)
    for body in containers(template):
        fields = plain(body.extra)
        bounds = security(pod, fields)
        if bounds.privileged:
            yield "to be privileged"
        for name in bounds.capabilities:
            if name not in HARMLESS:
                yield f"the capability {name}"
        for port in fields.get("ports") or ():
            if port.get("hostPort"):
                yield f"the port {port['hostPort']} of this machine"
