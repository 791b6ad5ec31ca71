"""The names of runs, `argo:NAMESPACE/NAME`, and of the pods of their nodes."""

from __future__ import annotations

from collections.abc import Iterator

from couler_py.backends.argo.status import paths
from couler_py.backends.base import RunNotFoundError
from couler_py.backends.rest.request import JSON

LONGEST_POD, HASH = 253, 10
FORMAT = "workflows.argoproj.io/pod-name-format"


def split(run: str) -> tuple[str, str]:
    """Namespace and name of a run `argo:NAMESPACE/NAME`. Raises `RunNotFoundError` for another form."""
    engine, _, rest = run.partition(":")
    namespace, _, name = rest.partition("/")
    if engine != "argo" or not namespace or not name or "/" in name:
        raise RunNotFoundError(f"{run!r} is no run on Argo: those are named argo:NAMESPACE/NAME")
    return namespace, name


def called(document: JSON) -> str:
    """How a document is called in words: by its name, or by what the cluster makes one from, as "hello-…"."""
    metadata = document["metadata"]
    return str(metadata.get("name") or f"{metadata.get('generateName', '')}…")


def pods(workflow: JSON) -> Iterator[tuple[str, int, str, JSON]]:
    """The pods of a run: path of the task, attempt, name, and the node."""
    for path, attempt, node in paths(workflow):
        if node["type"] == "Pod":
            yield path, attempt, pod_name(workflow, node), node


def pod_name(workflow: JSON, node: JSON) -> str:
    """The name that the controller gives the pod of a node.

    The run's name, the template's, and a hash of the node's name; the node's id where the run says format v1.
    """
    metadata = workflow["metadata"]
    run, name = str(metadata["name"]), str(node["name"])
    if (metadata.get("annotations") or {}).get(FORMAT) == "v1":
        return str(node["id"])
    if name == run:
        return run
    template = (node.get("templateRef") or {}).get("template") or node.get("templateName", "")
    prefix = f"{run}-{template}" if template else run
    return f"{prefix[: LONGEST_POD - HASH - 1]}-{fnv32a(name)}"


def fnv32a(text: str) -> int:
    """The hash FNV-1a of 32 bits."""
    found = 0x811C9DC5
    for byte in text.encode():
        found = (found ^ byte) * 0x01000193 & 0xFFFFFFFF
    return found
