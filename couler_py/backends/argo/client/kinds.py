"""The kinds that are sent, and where the Kubernetes API and the Argo server have them."""

from __future__ import annotations

import msgspec

from couler_py.backends.base import NotOffered


class Kind(msgspec.Struct, frozen=True):
    """`group` and `plural` are Kubernetes'; `server` is the Argo server's path and `field` its name for a document.

    A kind without `server` is none of Argo's, and its server can't make it.
    """

    group: str
    plural: str
    server: str = ""
    field: str = ""
    namespaced: bool = True


ARGO = "apis/argoproj.io/v1alpha1"
KINDS: dict[str, Kind] = {
    "Workflow": Kind(ARGO, "workflows", "workflows", "workflow"),
    "WorkflowTemplate": Kind(ARGO, "workflowtemplates", "workflow-templates", "template"),
    "ClusterWorkflowTemplate": Kind(
        ARGO, "clusterworkflowtemplates", "cluster-workflow-templates", "template", namespaced=False
    ),
    "CronWorkflow": Kind(ARGO, "cronworkflows", "cron-workflows", "cronWorkflow"),
    "ConfigMap": Kind("api/v1", "configmaps"),
    "Secret": Kind("api/v1", "secrets"),
}


def kind(name: str) -> Kind:
    """What is known of a kind. Raises `NotOffered` for one that isn't sent."""
    if name not in KINDS:
        raise NotOffered(f"documents of kind {name!r} aren't sent to a cluster by couler: use `kubectl apply`")
    return KINDS[name]
