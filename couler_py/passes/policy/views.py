"""Templates of the IR as Argo would write them, as far as policies look: so that there is one reader of facts."""

from __future__ import annotations

from typing import Any, TypeAlias

from couler_py.ir.expr import TextLike
from couler_py.ir.model import (
    ContainerSet,
    Data,
    DistributedJob,
    Function,
    Http,
    Plugin,
    Resource,
    Script,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container, PodSettings, Resources, Volume
from couler_py.ir.storage import GCS, HDFS, OSS, S3, Azure, Git, HTTPLocation, Storage

JSON: TypeAlias = dict[str, Any]
HOLE = "\0"
"""Stands for a value in a text: it can be anything, so only a pattern's `*` fits it."""


def spec_of(workflow: Workflow) -> JSON:
    """What holds for all pods of a workflow."""
    return {
        "volumes": [_volume(each) for each in workflow.volumes],
        "podMetadata": {"labels": dict(workflow.pod.labels)},
    } | _pod(workflow.pod)


def template_of(template: Template) -> JSON:
    """One template."""
    view = _body(template) | {"name": template.name, "daemon": template.daemon} | _pod(template.pod)
    view["inputs"] = {"artifacts": [artifact_of(each.storage) for each in template.inputs.artifacts]}
    view["outputs"] = {"artifacts": [artifact_of(each.storage) for each in template.outputs.artifacts]}
    return view


def _body(template: Template) -> JSON:
    match template.body:
        case Container() as body:
            return {"container": _container(body)}
        case Script() | Function() as body:
            return {"script": _container(body)}
        case DistributedJob() as body if body.roles:
            return {"containerSet": {"containers": [_container(each) for each in body.containers]}}
        case DistributedJob() as body:
            return {"container": _container(body.container)}
        case ContainerSet() as body:
            return {"containerSet": {"containers": [_container(each) for each in body.containers]}}
        case Resource() as body:
            return {"resource": {"action": body.action, "manifest": body.manifest.value}}
        case Http() as body:
            return {"http": {"url": plain(body.url), "insecureSkipVerify": body.insecure}}
        case Plugin():
            return {"plugin": {}}
        case Data():
            return {"data": {}}
    return {}


def _container(body: Container | Script | Function) -> JSON:
    extra = body.extra.value if body.extra is not None and isinstance(body.extra.value, dict) else {}
    name = body.name if isinstance(body, Container) else ""
    view = {"name": name, "image": plain(body.image), "resources": _resources(body.resources)}
    return extra | view


def _resources(given: Resources) -> JSON:
    limits = {
        "cpu": given.cpu if given.cpu_limit is None else given.cpu_limit,
        "memory": given.memory if given.memory_limit is None else given.memory_limit,
    }
    requests = {"cpu": given.cpu, "memory": given.memory}
    devices = dict(given.extra) | ({given.gpu_type: str(given.gpu)} if given.gpu else {})
    return {
        "requests": {name: value for name, value in requests.items() if value},
        "limits": {name: value for name, value in limits.items() if value} | devices,
    }


def _pod(pod: PodSettings) -> JSON:
    extra = pod.extra.value if pod.extra is not None and isinstance(pod.extra.value, dict) else {}
    view: JSON = {
        "initContainers": [_container(each) for each in pod.init_containers],
        "sidecars": [_container(each) for each in pod.sidecars],
    }
    if pod.volumes:
        view["volumes"] = [_volume(each) for each in pod.volumes]
    if pod.host_network is not None:
        view["hostNetwork"] = pod.host_network
    if pod.service_account:
        view["serviceAccountName"] = pod.service_account
    if pod.patch:
        view["podSpecPatch"] = plain(pod.patch)
    return _joined(extra, view)


def _joined(one: JSON, other: JSON) -> JSON:
    lists = {key: [*one[key], *value] for key, value in other.items() if isinstance(value, list) and key in one}
    return one | other | lists


def _volume(given: Volume) -> JSON:
    source = given.source.value
    return {"name": given.name} | (source if isinstance(source, dict) else {})


def artifact_of(storage: Storage | None) -> JSON:
    """A place of an artifact."""
    match storage:
        case S3():
            found = {"endpoint": storage.endpoint, "bucket": storage.bucket, "insecure": storage.insecure}
            return {"s3": found | {"key": plain(storage.key)}}
        case GCS():
            return {"gcs": {"bucket": storage.bucket, "key": plain(storage.key)}}
        case OSS():
            return {"oss": {"endpoint": storage.endpoint, "bucket": storage.bucket, "key": plain(storage.key)}}
        case Azure():
            place = {"endpoint": storage.endpoint, "container": storage.container}
            return {"azure": place | {"blob": plain(storage.blob)}}
        case HDFS():
            return {"hdfs": {"addresses": list(storage.addresses), "path": plain(storage.path)}}
        case Git():
            return {
                "git": {"repo": plain(storage.repo), "insecureIgnoreHostKey": storage.insecure_ignore_host_key},
            }
        case HTTPLocation():
            return {"http": {"url": plain(storage.url)}}
    return {}


def plain(text: TextLike) -> str:
    """A text with a hole for each value in it."""
    if isinstance(text, str):
        return text
    return "".join(part if isinstance(part, str) else HOLE for part in text.parts)
