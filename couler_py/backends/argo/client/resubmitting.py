"""A new run from an old one: its spec, labels and annotations, without what belonged to that run alone."""

from __future__ import annotations

from couler_py.backends.argo.client.request import JSON
from couler_py.backends.argo.client.submission import SUBMISSION

PREFIX = "workflows.argoproj.io/"
OF_THE_RUN = frozenset(
    {
        f"{PREFIX}{name}"
        for name in (
            "creator",
            "creator-email",
            "creator-preferred-username",
            "phase",
            "completed",
            "workflow-archiving-status",
        )
    }
)
PREVIOUS = f"{PREFIX}resubmitted-from-workflow"


def copy_of(workflow: JSON) -> JSON:
    """The document of a new run like this one."""
    metadata = workflow["metadata"]
    labels = {key: value for key, value in metadata.get("labels", {}).items() if key not in OF_THE_RUN}
    annotations = {key: value for key, value in metadata.get("annotations", {}).items() if key != SUBMISSION}
    made: JSON = {
        "generateName": metadata.get("generateName") or f"{metadata['name']}-",
        "namespace": metadata["namespace"],
        "labels": labels | {PREVIOUS: metadata["name"]},
        "annotations": annotations,
    }
    if owners := metadata.get("ownerReferences"):
        made["ownerReferences"] = owners
    spec = {key: value for key, value in workflow["spec"].items() if key not in ("shutdown", "suspend")}
    if spec.get("activeDeadlineSeconds") == 0:
        del spec["activeDeadlineSeconds"]
    return {"apiVersion": workflow["apiVersion"], "kind": workflow["kind"], "metadata": made, "spec": spec}
