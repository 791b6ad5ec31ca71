"""The settings that Couler's verbs share, read into the IR; what can't be honoured raises where it is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from couler_py.dsl.durations import seconds
from couler_py.dsl.options import quantity
from couler_py.dsl.problems import fail, problem
from couler_py.dsl.verbs.inputs import CallInputs
from couler_py.dsl.verbs.pods import ImagePullPolicy, VolumeMount
from couler_py.dsl.verbs.secrets import Secret
from couler_py.dsl.verbs.state import state
from couler_py.ir import model, pod
from couler_py.ir.storage import SecretRef


class Cache(msgspec.Struct, frozen=True):
    """Reuse the outputs of an earlier success under the same `key`, not older than `max_age` ("60s", "1h").

    `name` is the ConfigMap that Argo keeps them in; other engines have their own store.
    """

    name: str
    key: Any
    max_age: str = ""


class Policies(msgspec.Struct, frozen=True):
    """What stands on the template itself."""

    retry: model.RetryPolicy | None
    timeout: float | None
    cache: model.Cache | None


def policies(inputs: CallInputs, *, retry: Any, timeout: Any, cache: Any) -> Policies:
    """Retry, time limit and cache. Raises `RecordingError` for what isn't one."""
    return Policies(_retry(retry), _timeout(timeout), _cache(cache, inputs))


def refuse(*, pool: Any = None, parallelism: Any = None) -> None:
    """Raise for what stands on a step in Couler and can't be honoured there."""
    if pool is not None:
        fail(
            "CLR185",
            f"pool={pool!r} has no meaning here",
            why="in Couler only a cluster config file read it",
            help="say where the step runs by node_selector=, or by couler.add_toleration",
        )
    if parallelism is not None:
        fail(
            "CLR185",
            "a step that runs one container has no parallelism",
            why="Argo refuses it there; it counts the tasks of a graph",
            help="give couler.config_workflow(parallelism=...), or couler.map(..., parallel=...)",
        )


def environment(inputs: CallInputs, env: Any, secret: Any) -> tuple[pod.EnvVar, ...]:
    """Environment variables: those of `env`, then every key of `secret`.

    Values may be outputs of steps, keys of secrets or ConfigMaps, texts and numbers; booleans become "true"
    and "false". Couler's `env={"secrets": [...]}` holds entries in Kubernetes' own words.
    """
    if env is not None and not isinstance(env, Mapping):
        fail("CLR181", f"env is a dict, not a {type(env).__name__}")
    found: dict[str, pod.EnvVar] = {}
    for name, value in (env or {}).items():
        if name == "secrets" and isinstance(value, list):
            for entry in value:
                variable = _entry(entry)
                found[variable.name] = variable
            continue
        if not isinstance(name, str) or not pod.ENV_NAME.fullmatch(name):
            fail("CLR181", f"{name!r} is not the name of an environment variable")
        if isinstance(value, SecretRef | pod.ConfigMapRef | pod.FieldRef):
            found[name] = pod.EnvVar(name, value)
        elif value is None:
            fail("CLR181", f"the environment variable {name!r} is None", help='leave it out, or give ""')
        else:
            found[name] = pod.EnvVar(name, inputs.text(value, f"env-{name}"))
    if isinstance(secret, Secret):
        found.update({variable.name: variable for variable in secret.env()})
    return tuple(found.values())


def environment_from(env_from: Any, secret: Any) -> tuple[pod.EnvFrom, ...]:
    """Whole secrets and ConfigMaps as environment variables: in Kubernetes' own words, or `EnvFrom`."""
    entries = [] if env_from is None else env_from if isinstance(env_from, list | tuple) else [env_from]
    found = [entry if isinstance(entry, pod.EnvFrom) else _source(entry) for entry in entries]
    if secret is not None and not isinstance(secret, Secret):
        if not isinstance(secret, str):
            fail("CLR181", f"secret is what create_secret returns, not a {type(secret).__name__}")
        found.append(pod.EnvFrom(secret, "secret"))
    return tuple(found)


def resources(given: Any) -> pod.Resources:
    """A dict such as {"cpu": 2, "memory": "4Gi", "nvidia.com/gpu": 1}: requests and limits at once.

    Raises `RecordingError` for what isn't a quantity, and for two kinds of GPU.
    """
    if given is None:
        return pod.Resources()
    if isinstance(given, pod.Resources):
        return given
    if not isinstance(given, Mapping):
        fail("CLR181", f"resources is a dict, not a {type(given).__name__}", help='as in {"cpu": 1, "memory": "2Gi"}')
    plain: dict[str, str] = {}
    gpus: dict[str, int] = {}
    extra: list[tuple[str, str]] = []
    for name, value in given.items():
        text = quantity(value)
        if not text:
            fail(
                "CLR181",
                f"{value!r} is not a quantity of {name!r}",
                help='write 0.5 or "500m", and "2Gi"',
            )
        if name in ("cpu", "memory"):
            plain[name] = text
        elif name == "ephemeral-storage":
            plain["ephemeral_storage"] = text
        elif "gpu" in name.lower():
            if not text.isdigit():
                fail("CLR181", f"{value!r} is not a number of {name!r}")
            gpus["nvidia.com/gpu" if name.lower() == "gpu" else name] = int(text)
        else:
            extra.append((name, text))
    if len(gpus) > 1:
        fail("CLR181", f"resources names {len(gpus)} kinds of GPU: {', '.join(gpus)}", help="name one")
    kind, count = next(iter(gpus.items()), ("nvidia.com/gpu", 0))
    return pod.Resources(**plain, gpu=count, gpu_type=kind, extra=tuple(extra))


def pull_policy(given: Any) -> pod.PullPolicy | None:
    """Couler's `ImagePullPolicy`, or its text."""
    if given is None:
        return None
    if isinstance(given, str) and ImagePullPolicy.valid(given):
        given = ImagePullPolicy(given)
    if not isinstance(given, ImagePullPolicy):
        fail("CLR181", f"{given!r} is no image pull policy", help=f"use one of {', '.join(ImagePullPolicy.values())}")
    return given.value


def mounts(given: Any) -> tuple[pod.VolumeMount, ...]:
    """Where volumes stand. One that the workflow doesn't have (yet) is an empty folder, as in Couler."""
    here = state()
    found = []
    for mount in given or ():
        made = mount.to_ir() if isinstance(mount, VolumeMount) else mount
        if not isinstance(made, pod.VolumeMount):
            fail("CLR181", f"volume_mounts holds a {type(mount).__name__}", help="give VolumeMount(name, mount_path)")
        if made.name not in here.recorder.volumes and made.name not in here.recorder.claims:
            here.assumed.add(made.name)
            here.recorder.volumes[made.name] = pod.Volume(made.name, pod.Templated({"emptyDir": {}}))
        found.append(made)
    return tuple(found)


def pod_settings(inputs: CallInputs, node_selector: Any) -> pod.PodSettings:
    """Where the pod runs."""
    if node_selector is None:
        return pod.PodSettings()
    if not isinstance(node_selector, Mapping):
        fail("CLR181", f"node_selector is a dict, not a {type(node_selector).__name__}")
    pairs = ((str(key), inputs.text(value, f"node-{key}")) for key, value in node_selector.items())
    return pod.PodSettings(node_selector=tuple(pairs))


def _retry(given: Any) -> model.RetryPolicy | None:
    if given is None or isinstance(given, model.RetryPolicy):
        return given
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        fail("CLR181", f"retry={given!r} is not a number of further attempts", help="give 0 or more")
    return model.RetryPolicy(given) if given else None


def _timeout(given: Any) -> float | None:
    if given is None:
        return None
    try:
        return seconds(given)
    except ValueError as wrong:
        fail("CLR181", f"timeout: {wrong}")


def _cache(given: Any, inputs: CallInputs) -> model.Cache | None:
    if given is None or isinstance(given, model.Cache):
        return given
    if not isinstance(given, Cache):
        fail("CLR181", f"cache={given!r} is no Cache", help='give Cache(name="results", key="...", max_age="1h")')
    try:
        age = seconds(given.max_age) if given.max_age else None
    except ValueError as wrong:
        fail("CLR181", f"max_age: {wrong}")
    return model.Cache(max_age=age, key=inputs.text(given.key, "cache-key"), store=given.name)


def _entry(entry: Any) -> pod.EnvVar:
    match entry:
        case pod.EnvVar():
            return entry
        case {"name": str(name), "value": str(value)}:
            return pod.EnvVar(name, value)
        case {"name": str(name), "valueFrom": {"secretKeyRef": {"name": str(secret), "key": str(key), **rest}}}:
            return pod.EnvVar(name, SecretRef(secret, key, bool(rest.get("optional", False))))
        case {"name": str(name), "valueFrom": {"configMapKeyRef": {"name": str(config), "key": str(key), **rest}}}:
            return pod.EnvVar(name, pod.ConfigMapRef(config, key, bool(rest.get("optional", False))))
        case {"name": str(name), "valueFrom": {"fieldRef": {"fieldPath": str(path)}}}:
            return pod.EnvVar(name, pod.FieldRef(path))
    raise problem(
        "CLR181",
        "an entry of env={'secrets': [...]} can't be read",
        help="write it as Kubernetes does: name, valueFrom",
    )


def _source(entry: Any) -> pod.EnvFrom:
    prefix = entry.get("prefix", "") if isinstance(entry, Mapping) else ""
    match entry:
        case {"secretRef": {"name": str(name), **rest}}:
            return pod.EnvFrom(name, "secret", prefix, bool(rest.get("optional", False)))
        case {"configMapRef": {"name": str(name), **rest}}:
            return pod.EnvFrom(name, "config_map", prefix, bool(rest.get("optional", False)))
    raise problem(
        "CLR181", f"env_from can't be read: {entry!r}", help='write it as {"secretRef": {"name": "x"}} or configMapRef'
    )
