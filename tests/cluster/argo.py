"""One namespace of a Kubernetes with Argo, as tests use it: submit documents, wait for workflows, read their logs."""

from __future__ import annotations

import base64
import gzip
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml
from kubernetes import client, utils, watch

from couler_py.ir.diagnostics import CoulerError

GROUP, VERSION = "argoproj.io", "v1alpha1"
PLURALS = {
    "Workflow": "workflows",
    "WorkflowTemplate": "workflowtemplates",
    "ClusterWorkflowTemplate": "clusterworkflowtemplates",
    "CronWorkflow": "cronworkflows",
}
ENDED = ("Succeeded", "Failed", "Error")

Document = dict[str, Any]


class Namespace:
    """A namespace that belongs to one test run."""

    def __init__(self, name: str, api: client.ApiClient) -> None:
        self.name = name
        self.api = api
        self.core = client.CoreV1Api(api)
        self.custom = client.CustomObjectsApi(api)

    def submit(self, *documents: Document | str) -> list[str]:
        """Create documents, given as mappings or as YAML text, and return the names that the API server gave them.

        Raises kubernetes.client.ApiException, with the server's words, for a document that it refuses.
        """
        return [self._create(document) for given in documents for document in parsed(given)]

    def _create(self, document: Document) -> str:
        if document["kind"] == "ClusterWorkflowTemplate":
            created = self.custom.create_cluster_custom_object(GROUP, VERSION, PLURALS[document["kind"]], document)
        elif document["kind"] in PLURALS:
            created = self.custom.create_namespaced_custom_object(
                GROUP, VERSION, self.name, PLURALS[document["kind"]], document
            )
        else:
            return str(utils.create_from_dict(self.api, document, namespace=self.name)[0].metadata.name)
        return str(created["metadata"]["name"])

    def get(self, kind: str, name: str) -> Document:
        """One of Argo's documents as it stands now."""
        return readable(self.custom.get_namespaced_custom_object(GROUP, VERSION, self.name, PLURALS[kind], name))

    def run(self, document: Document | str, seconds: float = 120) -> Document:
        """Submit one workflow and return it when it has ended."""
        (name,) = self.submit(document)
        return self.wait_for([name], seconds)[name]

    def wait_for(self, names: Iterable[str], seconds: float = 120) -> dict[str, Document]:
        """The workflows of these names, each as it was at its end; submit many and wait once: they run side by side.

        Raises TimeoutError that tells how far each of the others is.
        """
        missing = dict.fromkeys(names, "not seen")
        ended: dict[str, Document] = {}
        deadline = time.monotonic() + seconds
        for workflow in self._changes(deadline):
            name, status = workflow["metadata"]["name"], workflow.get("status", {})
            if name not in missing:
                continue
            missing[name] = f"{status.get('phase') or 'not begun'} {status.get('message', '')}".strip()
            if status.get("phase") in ENDED:
                ended[name] = readable(workflow)
                del missing[name]
                if not missing:
                    return ended
        if not missing:
            return ended
        raise TimeoutError(f"after {seconds} s: " + "; ".join(f"{name}: {state}" for name, state in missing.items()))

    def run_all(
        self,
        documents: Mapping[str, Iterable[Document]],
        at_once: int,
        seconds: float,
        submit: Callable[[Sequence[Document]], str] | None = None,
    ) -> dict[str, Document | Exception]:
        """Submit the documents under each key, the last of them a workflow; by key the workflows at their end.

        `submit` sends the documents of one key and gives the workflow's name, by default `Namespace.submit`.

        At most `at_once` of them run at the same time: more pods side by side than processors can start take longer
        than one after the other. Of documents that the server refuses, and of what hasn't ended in time, the error.
        """
        waiting = list(documents.items())[::-1]
        running: dict[str, str] = {}
        ended: dict[str, Document | Exception] = {}

        def fill() -> None:
            while waiting and len(running) < at_once:
                key, given = waiting.pop()
                try:
                    name = submit(list(given)) if submit is not None else self.submit(*given)[-1]
                except (client.ApiException, CoulerError) as error:
                    ended[key] = error
                else:
                    running[name] = key

        fill()
        for workflow in self._changes(time.monotonic() + seconds) if running else ():
            name = workflow["metadata"]["name"]
            if name in running and workflow.get("status", {}).get("phase") in ENDED:
                ended[running.pop(name)] = readable(workflow)
                fill()
                if not running:
                    break
        late = TimeoutError(f"not ended after {seconds} s")
        return {**ended, **dict.fromkeys(running.values(), late), **{key: late for key, _ in waiting}}

    def _changes(self, deadline: float) -> Iterator[Document]:
        """All workflows, and then each again when it changes, until the deadline."""
        where = (GROUP, VERSION, self.name, PLURALS["Workflow"])
        while (left := deadline - time.monotonic()) > 0:
            listed = self.custom.list_namespaced_custom_object(*where)
            yield from listed["items"]
            try:
                for event in watch.Watch().stream(
                    self.custom.list_namespaced_custom_object,
                    *where,
                    resource_version=listed["metadata"]["resourceVersion"],
                    timeout_seconds=max(1, int(left)),
                ):
                    yield event["raw_object"]
            except client.ApiException as error:
                if error.status != 410:  # the version that we watch from is forgotten: list again
                    raise

    def logs(self, workflow: str, container: str = "main") -> dict[str, str]:
        """What each pod of a workflow printed, by the pod's name."""
        pods = self.core.list_namespaced_pod(self.name, label_selector=f"workflows.argoproj.io/workflow={workflow}")
        return {
            pod.metadata.name: self.core.read_namespaced_pod_log(pod.metadata.name, self.name, container=container)
            for pod in pods.items
        }


def parsed(given: Document | str) -> list[Document]:
    """The documents of a YAML text; a mapping is one already."""
    if isinstance(given, dict):
        return [given]
    return [document for document in yaml.load_all(given, Loader=yaml.CSafeLoader) if document]


def readable(workflow: Document) -> Document:
    """Undo the compression that the controller applies to the nodes of a big workflow."""
    status = workflow.get("status", {})
    if packed := status.pop("compressedNodes", None):
        status["nodes"] = json.loads(gzip.decompress(base64.b64decode(packed)))
    return workflow


def node(workflow: Document, display_name: str) -> Document:
    """The one node of a workflow that is shown under this name; KeyError names those there are."""
    nodes = workflow["status"].get("nodes", {}).values()
    found = [each for each in nodes if each["displayName"] == display_name]
    if len(found) != 1:
        raise KeyError(f"{len(found)} nodes {display_name!r} among {sorted(each['displayName'] for each in nodes)}")
    return found[0]  # type: ignore[no-any-return]


def outputs(node: Document) -> dict[str, str]:
    """A node's output parameters by name."""
    return {each["name"]: each["value"] for each in node.get("outputs", {}).get("parameters", []) if "value" in each}
