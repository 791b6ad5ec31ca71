"""`KubernetesPodOperator` as a container and the settings of its pod."""

from __future__ import annotations

from typing import Any

from couler_py.backends.airflow.importing import facts, kubernetes
from couler_py.backends.airflow.importing.facts import marked
from couler_py.backends.airflow.importing.made import Made, Slots, at
from couler_py.backends.airflow.importing.unsayable import UnsayableError
from couler_py.backends.airflow.importing.values import Values
from couler_py.ir.expr import TextLike
from couler_py.ir.model import Outputs
from couler_py.ir.pod import Container, EnvFrom, EnvVar, PodSettings, Volume, VolumeMount
from couler_py.ir.storage import SecretRef
from couler_py.ir.templated import Templated

XCOM = "/airflow/xcom/return.json"
WHOLE = ("pod_template_file", "full_pod_spec", "pod_template_dict")
LEFT_OUT = ("hostname", "subdomain", "dnspolicy", "dns_config", "ports", "callbacks", "termination_message_policy")
"""Settings without a word here. How Airflow watches a pod is no part of a workflow, and isn't mentioned."""


def pod(task: facts.Task, values: Values, pulled: bool) -> Made:
    """The container of a pod. Raises `UnsayableError` for a pod whose spec is somewhere else."""
    given = task.given
    for name in WHOLE:
        if given.get(name):
            raise UnsayableError(f"a pod by {name} can't be taken apart", "write its image and command into the DAG")
    slots = Slots(types=values.types)

    def text(value: Any) -> TextLike:
        return slots.text(values.text(value))

    env, env_from, volumes, mounts = _environment(given, values, text)
    body = Container(
        image=text(given.get("image", "")),
        command=tuple(text(each) for each in values.sequence(given.get("cmds"), "cmds")),
        args=tuple(text(each) for each in values.sequence(given.get("arguments"), "arguments")),
        env=env,
        env_from=env_from,
        pull_policy=given.get("image_pull_policy"),
        mounts=(*mounts, *(kubernetes.mount(each) for each in _objects(given.get("volume_mounts")))),
        resources=kubernetes.resources(_object(given.get("container_resources"))),
        extra=_extra({"securityContext": _object(given.get("container_security_context"))}),
    )
    settings = PodSettings(
        labels=_pairs(given.get("labels"), values, text),
        annotations=_pairs(given.get("annotations"), values, text),
        node_selector=_pairs(given.get("node_selector"), values, text),
        tolerations=tuple(kubernetes.toleration(each) for each in _objects(given.get("tolerations"))),
        service_account=given.get("service_account_name") or "",
        image_pull_secrets=_names(given.get("image_pull_secrets")),
        host_network=given.get("hostnetwork") or None,
        priority_class=given.get("priority_class_name") or "",
        scheduler=given.get("schedulername") or "",
        volumes=(*volumes, *(kubernetes.volume(each) for each in _objects(given.get("volumes")))),
        init_containers=tuple(kubernetes.container(each, text) for each in _objects(given.get("init_containers"))),
        extra=_extra(
            {
                "affinity": _object(given.get("affinity")),
                "securityContext": _object(given.get("security_context")),
                "activeDeadlineSeconds": given.get("active_deadline_seconds"),
            }
        ),
    )
    gives = pulled or bool(given.get("do_xcom_push"))
    about = tuple(
        ("CLR535", f"the setting {name} was left out", "say it on the step, if it is needed")
        for name in LEFT_OUT
        if given.get(name)
    )
    return Made(body, slots.inputs, at(XCOM) if gives else Outputs(), slots.arguments, settings, about=about)


def _environment(
    given: dict[str, Any], values: Values, text: Any
) -> tuple[tuple[EnvVar, ...], tuple[EnvFrom, ...], list[Volume], list[VolumeMount]]:
    told = given.get("env_vars")
    if isinstance(told, list):
        env = [kubernetes.variable(each, text) for each in _objects(told)]
    else:
        env = [EnvVar(name, text(value)) for name, value in values.mapping(told, "env_vars").items()]
    sources = [kubernetes.env_source(each) for each in _objects(given.get("env_from"))]
    sources += [EnvFrom(each, "config_map") for each in given.get("configmaps") or ()]
    volumes: list[Volume] = []
    mounts: list[VolumeMount] = []
    for each in given.get("secrets") or ():
        target, secret, key = each.get("deploy_target"), each.get("secret"), each.get("key")
        if each.get("deploy_type") == "volume":
            name = f"secret-{secret}"
            mounts.append(VolumeMount(name, target, read_only=True))
            volumes.append(Volume(name, Templated({"secret": {"secretName": secret}})))
        elif key is None:
            sources.append(EnvFrom(secret, "secret"))
        else:
            env.append(EnvVar(target, SecretRef(secret, key)))
    return tuple(env), tuple(sources), volumes, mounts


def _object(value: Any) -> dict[str, Any]:
    if not value:
        return {}
    if marked(value) == "kubernetes":
        return dict(value["value"] or {})
    if isinstance(value, dict) and not marked(value):
        return value
    raise UnsayableError("a setting of the pod isn't known before the run", "write it into the DAG")


def _objects(value: Any) -> list[dict[str, Any]]:
    return [_object(each) for each in value or ()]


def _pairs(value: Any, values: Values, text: Any) -> tuple[tuple[str, TextLike], ...]:
    return tuple((name, text(each)) for name, each in values.mapping(value, "a setting of the pod").items())


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(name.strip() for name in value.split(",") if name.strip())
    return tuple(each["name"] for each in _objects(value))


def _extra(found: dict[str, Any]) -> Templated | None:
    kept = {name: value for name, value in found.items() if value}
    return Templated(kept) if kept else None
