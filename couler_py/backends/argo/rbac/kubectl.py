"""What `kubectl` does for a `resource` template, as rules: Argo's executor runs it with the account of the pod."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from couler_py.backends import yaml_reader
from couler_py.backends.argo.rbac.rules import Rule

JSON = dict[str, Any]

VERBS: dict[str, tuple[str, ...]] = {
    "get": ("get",),
    "create": ("create",),
    "apply": ("get", "create", "patch"),  # it looks first, to make or to change
    "patch": ("patch",),
    "replace": ("update",),
    "delete": ("delete",),
}
"""What an action calls, for a manifest in a file. By kind and name in flags, kubectl looks for the object first."""

CLUSTER = frozenset(
    {
        "Namespace",
        "Node",
        "PersistentVolume",
        "ClusterRole",
        "ClusterRoleBinding",
        "StorageClass",
        "PriorityClass",
        "IngressClass",
        "RuntimeClass",
        "CSIDriver",
        "CustomResourceDefinition",
        "APIService",
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "CertificateSigningRequest",
        "FlowSchema",
        "ClusterWorkflowTemplate",
        "ClusterIssuer",
        "ClusterQueue",
    }
)
"""Kinds that belong to no namespace."""

SAME = frozenset({"Endpoints"})
"""Kinds whose plural is their name."""

UNKNOWN, FILLED = "{{", "⟦tag⟧"
"""How a tag begins, and what stands for one while a manifest is read."""
_TAG = re.compile(r"\{\{.*?\}\}", re.DOTALL)


class UnknownError(ValueError):
    """What a template does can't be known from its text; the message says why."""


def rules(template: JSON) -> Iterator[Rule]:
    """The rules that a `resource` template needs.

    Raises `UnknownError`.
    """
    resource = template["resource"]
    action = str(resource.get("action", ""))
    why = f"{action} in template {template.get('name', '')}"
    looks = bool(resource.get("successCondition") or resource.get("failureCondition")) or any(
        {"jsonPath", "jqFilter"} & set(each.get("valueFrom") or {})
        for each in (template.get("outputs") or {}).get("parameters") or []
    )
    flags = [str(each) for each in resource.get("flags") or []]
    by_name = bool(flags) and (not resource.get("manifest") or resource.get("mergeStrategy") == "json")
    verbs = VERBS.get(action)
    if verbs is None:
        raise UnknownError(f"the action {action!r} isn't known")
    if (looks or by_name) and "get" not in verbs:
        verbs = ("get", *verbs)
    namespace = _of_flags(flags)
    if resource.get("manifestFrom"):
        raise UnknownError("its manifest is an artifact")
    targets = [_of_words(flags)] if by_name else _of_manifest(str(resource.get("manifest") or ""))
    for group, kind, own in targets:
        where: str | None = "*" if kind in CLUSTER else (own or namespace)
        yield Rule(group, plural(kind), verbs, namespace=where, why=why)


def _of_manifest(text: str) -> list[tuple[str, str, str | None]]:
    """Group, kind and namespace of each object of a manifest."""
    try:
        # A tag without quotes around it reads as a mapping in a mapping, which YAML can't have as a key.
        found = yaml_reader.load_all(_TAG.sub(FILLED, text))
    except yaml_reader.YamlError as error:
        raise UnknownError(f"its manifest isn't YAML before its tags are filled in ({error.problem})") from None
    objects = [each for each in found if each is not None]
    if not objects:
        raise UnknownError("it has no manifest")
    return [_target(each) for each in objects]


def _target(found: Any) -> tuple[str, str, str | None]:
    if not isinstance(found, dict):
        raise UnknownError("its whole manifest comes from elsewhere")
    kind, version = found.get("kind"), found.get("apiVersion")
    if not isinstance(kind, str) or not isinstance(version, str):
        raise UnknownError("its manifest has no kind or no apiVersion")
    if _tagged(kind) or _tagged(version):
        raise UnknownError("the kind of its manifest is filled in while it runs")
    metadata = found.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    if isinstance(namespace, str) and _tagged(namespace):
        # Nearly always the workflow's own; another one is said to be missing by the cluster.
        namespace = None
    return version.rpartition("/")[0], kind, namespace if isinstance(namespace, str) else None


def _tagged(text: str) -> bool:
    return FILLED in text


def _of_flags(flags: list[str]) -> str | None:
    for place, flag in enumerate(flags):
        name, equals, value = flag.partition("=")
        if name in ("-n", "--namespace"):
            value = value if equals else (flags[place + 1] if place + 1 < len(flags) else "")
            return value if value and UNKNOWN not in value else None
    return None


def _of_words(flags: list[str]) -> tuple[str, str, str | None]:
    """The object that flags name as kubectl's arguments do: `KIND NAME`, `KIND/NAME`, `KIND.VERSION.GROUP/NAME`."""
    words = [flag for flag in flags if not flag.startswith("-")]
    if not words or UNKNOWN in words[0]:
        raise UnknownError("its flags name no kind")
    word = words[0].partition("/")[0]
    kind, _, group = word.partition(".")
    known = {plural(each).lower(): (group_of, each) for each, group_of in KNOWN.items()}
    by_kind = {each.lower(): (group_of, each) for each, group_of in KNOWN.items()}
    short = SHORT.get(kind, kind)
    if group and "." in group and re.match(r"v\d", group):
        group = group.partition(".")[2]
    if found := by_kind.get(short) or known.get(short):
        return (group or found[0], found[1], None)
    if group:
        return (group, kind.removesuffix("s").capitalize(), None)
    raise UnknownError(f"its flags name {word!r}, and only the cluster knows the API group of that")


KNOWN: dict[str, str] = {
    "Pod": "",
    "Service": "",
    "ConfigMap": "",
    "Secret": "",
    "ServiceAccount": "",
    "PersistentVolumeClaim": "",
    "PersistentVolume": "",
    "Namespace": "",
    "Node": "",
    "Event": "",
    "Endpoints": "",
    "Job": "batch",
    "CronJob": "batch",
    "Deployment": "apps",
    "StatefulSet": "apps",
    "DaemonSet": "apps",
    "ReplicaSet": "apps",
    "Ingress": "networking.k8s.io",
    "NetworkPolicy": "networking.k8s.io",
    "Role": "rbac.authorization.k8s.io",
    "RoleBinding": "rbac.authorization.k8s.io",
    "Workflow": "argoproj.io",
    "WorkflowTemplate": "argoproj.io",
    "ClusterWorkflowTemplate": "argoproj.io",
    "CronWorkflow": "argoproj.io",
}
"""Kinds that flags may name without their group, and the group."""

SHORT: dict[str, str] = {
    "po": "pod",
    "svc": "service",
    "cm": "configmap",
    "sa": "serviceaccount",
    "pvc": "persistentvolumeclaim",
    "pv": "persistentvolume",
    "ns": "namespace",
    "no": "node",
    "deploy": "deployment",
    "sts": "statefulset",
    "ds": "daemonset",
    "rs": "replicaset",
    "cj": "cronjob",
    "ing": "ingress",
    "netpol": "networkpolicy",
    "wf": "workflow",
    "wftmpl": "workflowtemplate",
    "cwft": "clusterworkflowtemplate",
    "cwf": "cronworkflow",
}
"""kubectl's short names."""


def plural(kind: str) -> str:
    """The resource of a kind, as Kubernetes and Argo's executor make it: lower case, in the plural of English."""
    word = kind.lower()
    if kind in SAME:
        return word
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"
