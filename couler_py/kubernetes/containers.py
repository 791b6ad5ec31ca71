"""Containers and their environment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from couler_py.ir.model import Function, Script
from couler_py.ir.pod import ConfigMapRef, Container, EnvFrom, EnvVar, FieldRef, VolumeMount
from couler_py.ir.storage import SecretRef
from couler_py.kubernetes.resources import resources
from couler_py.kubernetes.templated import Render, templated


def env(variables: Iterable[EnvVar], render: Render) -> list[dict[str, Any]]:
    """The `env` of a container. Secrets stay references; their values are never here."""
    return [_variable(variable, render) for variable in variables]


def _variable(variable: EnvVar, render: Render) -> dict[str, Any]:
    value = variable.value
    if isinstance(value, SecretRef):
        return {"name": variable.name, "valueFrom": {"secretKeyRef": secret_key(value)}}
    if isinstance(value, ConfigMapRef):
        return {"name": variable.name, "valueFrom": {"configMapKeyRef": config_map_key(value, render)}}
    if isinstance(value, FieldRef):
        return {"name": variable.name, "valueFrom": {"fieldRef": {"fieldPath": value.path}}}
    return {"name": variable.name, "value": render(value)}


def secret_key(ref: SecretRef) -> dict[str, Any]:
    """A `secretKeyRef`."""
    found: dict[str, Any] = {"name": ref.name, "key": ref.key}
    return found | ({"optional": True} if ref.optional else {})


def config_map_key(ref: ConfigMapRef, render: Render) -> dict[str, Any]:
    """A `configMapKeyRef`."""
    found: dict[str, Any] = {"name": render(ref.name), "key": render(ref.key)}
    return found | ({"optional": True} if ref.optional else {})


def env_from(sources: Iterable[EnvFrom]) -> list[dict[str, Any]]:
    """The `envFrom` of a container."""
    found = []
    for source in sources:
        ref: dict[str, Any] = {"name": source.name}
        if source.optional:
            ref["optional"] = True
        entry: dict[str, Any] = {"prefix": source.prefix} if source.prefix else {}
        entry["secretRef" if source.kind == "secret" else "configMapRef"] = ref
        found.append(entry)
    return found


def mounts(given: Iterable[VolumeMount], render: Render) -> list[dict[str, Any]]:
    """The `volumeMounts` of a container."""
    found = []
    for mount in given:
        entry: dict[str, Any] = {"name": mount.name, "mountPath": mount.path}
        if mount.sub_path:
            entry["subPath"] = render(mount.sub_path)
        if mount.read_only:
            entry["readOnly"] = True
        found.append(entry)
    return found


def container(given: Container, render: Render, render_command: Render | None = None) -> dict[str, Any]:
    """A container that runs a command.

    `render_command` is for what Kubernetes itself expands `$(NAME)` in: command, arguments and environment.
    """
    expanded = render_command or render
    found: dict[str, Any] = {"name": given.name} if given.name else {}
    found["image"] = render(given.image)
    if given.command:
        found["command"] = [expanded(part) for part in given.command]
    if given.args:
        found["args"] = [expanded(part) for part in given.args]
    if given.working_dir:
        found["workingDir"] = render(given.working_dir)
    return found | container_fields(given, render, expanded)


def container_fields(given: Container | Script | Function, render: Render, render_command: Render) -> dict[str, Any]:
    """What all kinds of containers have: environment, mounts, resources, pull policy, and further fields as given."""
    found: dict[str, Any] = {}
    if given.env:
        found["env"] = env(given.env, render_command)
    if given.env_from:
        found["envFrom"] = env_from(given.env_from)
    if given.pull_policy:
        found["imagePullPolicy"] = given.pull_policy
    if asked := resources(given.resources):
        found["resources"] = asked
    if given.mounts:
        found["volumeMounts"] = mounts(given.mounts, render)
    if given.extra is not None:
        found |= templated(given.extra, render)
    return found
