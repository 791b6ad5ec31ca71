"""A new run from an old one: its spec, labels and annotations, without what belonged to that run alone."""

from __future__ import annotations

from collections.abc import Mapping

from couler_py.backends.argo.client.parameters import with_texts
from couler_py.backends.argo.client.submission import SUBMISSION
from couler_py.backends.rest.request import JSON

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
GRAPHS = frozenset({"DAG", "Steps", "TaskGroup"})
PREVIOUS = f"{PREFIX}resubmitted-from-workflow"


def repeated_for_ever(workflow: JSON) -> str:
    """A graph within the graph of a run that a memoized copy of it would wait for without end; "" for none.

    Argo 4.0 copies a graph that succeeded as one that is pending, with its tasks done, and never looks at it again.
    """
    run = workflow["metadata"]["name"]
    nodes = (workflow.get("status") or {}).get("nodes") or {}
    for node in nodes.values():
        copied = not node["name"].startswith(f"{run}.onExit")  # the handlers of its end aren't
        if copied and node["name"] != run and node["type"] in GRAPHS and node.get("phase") == "Succeeded":
            return str(node["displayName"])
    return ""


def copy_of(workflow: JSON, parameters: Mapping[str, str]) -> JSON:
    """The document of a new run like this one, with these values of its parameters."""
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
    copy = {"apiVersion": workflow["apiVersion"], "kind": workflow["kind"], "metadata": made, "spec": spec}
    return with_texts(copy, parameters)
