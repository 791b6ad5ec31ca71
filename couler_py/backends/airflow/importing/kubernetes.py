"""Kubernetes' objects in the words of its YAML, as the IR has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from couler_py.backends.airflow.importing.unsayable import UnsayableError
from couler_py.ir.expr import TextLike
from couler_py.ir.pod import (
    ConfigMapRef,
    Container,
    EnvFrom,
    EnvVar,
    FieldRef,
    Resources,
    Toleration,
    Volume,
    VolumeMount,
)
from couler_py.ir.storage import SecretRef
from couler_py.ir.templated import Templated

JSON = Mapping[str, Any]
Text = Callable[[str], TextLike]
DEVICES = ("nvidia.com/gpu", "amd.com/gpu")


def variable(given: JSON, text: Text) -> EnvVar:
    """An environment variable. Raises `UnsayableError` for a source that the IR has no word for."""
    source = given.get("valueFrom")
    if not source:
        return EnvVar(given["name"], text(given.get("value", "")))
    match source:
        case {"secretKeyRef": ref}:
            return EnvVar(given["name"], SecretRef(ref["name"], ref["key"], bool(ref.get("optional", False))))
        case {"configMapKeyRef": ref}:
            return EnvVar(given["name"], ConfigMapRef(ref["name"], ref["key"], bool(ref.get("optional", False))))
        case {"fieldRef": {"fieldPath": path}}:
            return EnvVar(given["name"], FieldRef(path))
    raise UnsayableError(f"the environment variable {given['name']} comes from {', '.join(source)}")


def env_source(given: JSON) -> EnvFrom:
    """All keys of a secret or ConfigMap."""
    prefix = given.get("prefix") or ""
    if ref := given.get("secretRef"):
        return EnvFrom(ref["name"], "secret", prefix, bool(ref.get("optional", False)))
    ref = given["configMapRef"]
    return EnvFrom(ref["name"], "config_map", prefix, bool(ref.get("optional", False)))


def mount(given: JSON) -> VolumeMount:
    """Where a container finds a volume."""
    return VolumeMount(
        given["name"], given["mountPath"], given.get("subPath") or "", bool(given.get("readOnly", False))
    )


def volume(given: JSON) -> Volume:
    """A volume of a pod."""
    return Volume(given["name"], Templated({key: value for key, value in given.items() if key != "name"}))


def toleration(given: JSON) -> Toleration:
    """A taint that a pod may run in spite of."""
    return Toleration(
        given.get("key") or "",
        given.get("operator") or "",
        given.get("value") or "",
        given.get("effect") or "",
        given.get("tolerationSeconds"),
    )


def resources(given: JSON) -> Resources:
    """What a container asks for. A limit beside no request is the request too, as in Kubernetes."""
    requests, limits = dict(given.get("requests") or {}), dict(given.get("limits") or {})
    requests = {**limits, **requests}
    found: dict[str, Any] = {}
    for ours, theirs in (("cpu", "cpu"), ("memory", "memory")):
        request, limit = str(requests.pop(theirs, "")), str(limits.pop(theirs, ""))
        found[ours] = request
        if limit != request:
            found[f"{ours}_limit"] = limit
    found["ephemeral_storage"] = str(requests.pop("ephemeral-storage", ""))
    for device in DEVICES:
        if device in requests and str(requests[device]).isdigit():
            found |= {"gpu": int(requests.pop(device)), "gpu_type": device}
            break
    found["extra"] = tuple((name, str(quantity)) for name, quantity in sorted(requests.items()))
    return Resources(**found)


def container(given: JSON, text: Text) -> Container:
    """A container beside a step, or before it."""
    known = ("name", "image", "command", "args", "env", "envFrom", "workingDir", "imagePullPolicy", "volumeMounts")
    rest = {key: value for key, value in given.items() if key not in (*known, "resources") and value is not None}
    return Container(
        image=text(given.get("image", "")),
        command=tuple(text(each) for each in given.get("command") or ()),
        args=tuple(text(each) for each in given.get("args") or ()),
        name=given.get("name", ""),
        env=tuple(variable(each, text) for each in given.get("env") or ()),
        env_from=tuple(env_source(each) for each in given.get("envFrom") or ()),
        working_dir=given.get("workingDir") or "",
        pull_policy=given.get("imagePullPolicy"),
        mounts=tuple(mount(each) for each in given.get("volumeMounts") or ()),
        resources=resources(given.get("resources") or {}),
        extra=Templated(rest) if rest else None,
    )
