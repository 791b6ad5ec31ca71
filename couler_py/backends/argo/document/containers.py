"""Containers, scripts, their environment, mounts and resources."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.document.lens import (
    JSON,
    Field,
    Table,
    as_it_is,
    flag_field,
    one_of,
    strings,
    text_field,
    word_field,
    written_strings,
)
from couler_py.backends.argo.document.quantities import quantities
from couler_py.backends.argo.document.texts import UNSAID, Root, text, word, written
from couler_py.ir.model import Script
from couler_py.ir.pod import ConfigMapRef, Container, EnvFrom, EnvVar, FieldRef, Resources, VolumeMount
from couler_py.ir.storage import SecretRef
from couler_py.kubernetes import env, env_from, mounts, resources
from couler_py.kubernetes.containers import config_map_key, secret_key

_SECRET = Table(SecretRef, word_field("name", "name"), word_field("key", "key"), flag_field("optional", "optional"))
_CONFIG_MAP = Table(
    ConfigMapRef, text_field("name", "name"), text_field("key", "key"), flag_field("optional", "optional")
)


def _ref(table: Table[Any]) -> Any:
    def read(value: Any, root: Root) -> Any:
        if not isinstance(value, dict):
            return UNSAID
        attributes, rest = table.taken(value, root)
        return UNSAID if rest or not {"name", "key"} <= attributes.keys() else table.struct(**attributes)

    return read


secret = _ref(_SECRET)
"""A key of a secret, where that is all that is said."""

config_map = _ref(_CONFIG_MAP)
"""A key of a ConfigMap, where that is all that is said."""


def written_secret(value: SecretRef, root: Root) -> JSON:
    """The reference again."""
    return secret_key(value)


def written_config_map(value: ConfigMapRef, root: Root) -> JSON:
    """The reference again."""
    return config_map_key(value, lambda each: written(each, root))


def secret_field(key: str, attribute: str) -> Field:
    """A field that names a key of a secret."""
    return Field(key, attribute, secret, written_secret)


def each_of(one: Any) -> Any:
    """A list of which the IR can say every element, or nothing."""

    def read(value: Any, root: Root) -> Any:
        if not isinstance(value, list):
            return UNSAID
        found = tuple(one(item, root) if isinstance(item, dict) else UNSAID for item in value)
        return UNSAID if any(item is UNSAID for item in found) else found

    return read


def exactly(table: Table[Any], *needed: str) -> Any:
    """An object of which the IR can say every field, and that has the needed attributes."""

    def read(value: JSON, root: Root) -> Any:
        attributes, rest = table.taken(value, root)
        return UNSAID if rest or not attributes.keys() >= set(needed) else table.struct(**attributes)

    return read


# ---- environment


def _variable(given: JSON, root: Root) -> Any:
    name = word(given.get("name"), root)
    if isinstance(name, str) and given.keys() <= {"name", "value"}:
        value = text(given.get("value", ""), root)
        return UNSAID if value is UNSAID else EnvVar(name, value)  # type: ignore[arg-type]
    source = given.get("valueFrom")
    if not isinstance(name, str) or given.keys() != {"name", "valueFrom"} or not isinstance(source, dict):
        return UNSAID
    if len(source) != 1:
        return UNSAID
    [(kind, ref)] = source.items()
    found: Any = UNSAID
    if kind == "secretKeyRef":
        found = secret(ref, root)
    elif kind == "configMapKeyRef":
        found = config_map(ref, root)
    elif kind == "fieldRef" and isinstance(ref, dict) and ref.keys() == {"fieldPath"}:
        path = word(ref["fieldPath"], root)
        found = FieldRef(path) if isinstance(path, str) else UNSAID
    return UNSAID if found is UNSAID else EnvVar(name, found)


def _env_source(given: JSON, root: Root) -> Any:
    kinds = given.keys() - {"prefix"}
    kind = {"secretRef": "secret", "configMapRef": "config_map"}.get(next(iter(kinds), ""))
    ref = given[next(iter(kinds))] if len(kinds) == 1 else None
    prefix = word(given.get("prefix", ""), root)
    if kind is None or not isinstance(ref, dict) or not ref.keys() <= {"name", "optional"}:
        return UNSAID
    name, optional = word(ref.get("name"), root), ref.get("optional", False)
    if not isinstance(name, str) or not isinstance(prefix, str) or type(optional) is not bool:
        return UNSAID
    return EnvFrom(name, kind, prefix, optional)  # type: ignore[arg-type]


_MOUNT = Table(
    VolumeMount,
    word_field("name", "name"),
    word_field("mountPath", "path"),
    text_field("subPath", "sub_path"),
    flag_field("readOnly", "read_only"),
)

read_mounts = each_of(exactly(_MOUNT, "name", "path"))
"""The `volumeMounts` of a container, where the IR can say them all."""


def written_mounts(value: Any, root: Root) -> list[JSON]:
    """The mounts again."""
    return mounts(value, lambda each: written(each, root))


# ---- containers

_COMMON = (
    Field("env", "env", each_of(_variable), lambda value, root: env(value, lambda each: written(each, root)), ()),
    Field("envFrom", "env_from", each_of(_env_source), lambda value, root: env_from(value), ()),
    Field("imagePullPolicy", "pull_policy", one_of("Always", "IfNotPresent", "Never"), as_it_is),
    Field("resources", "resources", quantities, lambda value, root: resources(value), Resources()),
    Field("volumeMounts", "mounts", read_mounts, written_mounts, ()),
)

CONTAINER = Table(
    Container,
    word_field("name", "name"),
    text_field("image", "image"),
    Field("command", "command", strings(), written_strings, ()),
    Field("args", "args", strings(), written_strings, ()),
    text_field("workingDir", "working_dir"),
    *_COMMON,
)

SCRIPT = Table(
    Script,
    text_field("image", "image"),
    Field("command", "command", strings(), written_strings, ()),
    text_field("workingDir", "working_dir"),
    *_COMMON,
    text_field("source", "source"),
)


def container(given: JSON, root: Root) -> Container:
    """A container: a template's own, one of a set, a sidecar or an init container."""
    return CONTAINER.read(given, root, image="")


def script(given: JSON, root: Root) -> Script:
    """A script. Without a command it has none: Argo then runs the image's own."""
    return SCRIPT.read(given, root, image="", source="", command=())


def containers(value: Any, root: Root) -> Any:
    """Containers beside a step, or before it."""
    return tuple(container(each, root) for each in value)


def written_containers(value: Any, root: Root) -> list[JSON]:
    """The containers again."""
    return [CONTAINER.write_all(each, root) for each in value]
