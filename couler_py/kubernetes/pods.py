"""Placement and surroundings of a pod, in the fields that a pod spec and an Argo template share."""

from __future__ import annotations

from typing import Any

from couler_py.ir.pod import Dns, PodSettings, Toleration
from couler_py.kubernetes.templated import Render


def toleration(given: Toleration) -> dict[str, Any]:
    """One toleration; `operator` may be left out, Kubernetes then compares for equality."""
    found: dict[str, Any] = {}
    for name, value in (
        ("key", given.key),
        ("operator", given.operator),
        ("value", given.value),
        ("effect", given.effect),
    ):
        if value:
            found[name] = value
    if given.seconds is not None:
        found["tolerationSeconds"] = given.seconds
    return found


def dns(given: Dns) -> dict[str, Any]:
    """`dnsPolicy` and `dnsConfig`."""
    found: dict[str, Any] = {"dnsPolicy": given.policy} if given.policy else {}
    config: dict[str, Any] = {}
    if given.nameservers:
        config["nameservers"] = list(given.nameservers)
    if given.searches:
        config["searches"] = list(given.searches)
    if given.options:
        config["options"] = [
            {"name": option.name} | ({} if option.value is None else {"value": option.value})
            for option in given.options
        ]
    if config:
        found["dnsConfig"] = config
    return found


def pod_fields(given: PodSettings, render: Render) -> dict[str, Any]:
    """Node selector, tolerations, service account, scheduler and priority class."""
    found: dict[str, Any] = {}
    if given.node_selector:
        found["nodeSelector"] = {key: render(value) for key, value in given.node_selector}
    if given.tolerations:
        found["tolerations"] = [toleration(each) for each in given.tolerations]
    if given.service_account:
        found["serviceAccountName"] = given.service_account
    if given.scheduler:
        found["schedulerName"] = given.scheduler
    if given.priority_class:
        found["priorityClassName"] = given.priority_class
    return found
