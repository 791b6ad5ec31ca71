"""What the real servers say of documents: Argo's own lint, and the API server's dry run; many at a time."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import urllib3
from kubernetes import client

from tests.cluster.argo import GROUP, PLURALS, VERSION, Namespace

JSON = dict[str, Any]
_LINT = {
    "Workflow": ("workflows/{}/lint", "workflow"),
    "WorkflowTemplate": ("workflow-templates/{}/lint", "template"),
    "ClusterWorkflowTemplate": ("cluster-workflow-templates/lint", "template"),
    "CronWorkflow": ("cron-workflows/{}/lint", "cronWorkflow"),
}
AT_ONCE = 8


class Said(NamedTuple):
    """Why each of the two refuses a document; "" where it doesn't."""

    argo: str
    kubernetes: str

    @property
    def refused(self) -> bool:
        return bool(self.argo or self.kubernetes)


class Oracle:
    """The servers of one namespace."""

    def __init__(self, argo_server: str, namespace: Namespace) -> None:
        configuration = namespace.api.configuration
        self._namespace = namespace
        self._argo = f"{argo_server}/api/v1/"
        self._kubernetes = f"{configuration.host}/apis/{GROUP}/{VERSION}/"
        self._headers = {"Content-Type": "application/json", "Authorization": _token(namespace.api)}
        self._pool = urllib3.PoolManager(maxsize=AT_ONCE, ca_certs=configuration.ssl_ca_cert, timeout=60)

    def ask(self, documents: Sequence[JSON]) -> list[Said]:
        """What both say of each document, in their order."""
        with ThreadPoolExecutor(AT_ONCE) as threads:
            return list(threads.map(self._said, documents))

    def know(self, templates: Iterable[JSON]) -> list[JSON]:
        """Create template objects, as far as there are none of their names, and give those that were created.

        Returns when Argo's server has seen them, since its lint looks references up in what it has seen.
        """
        made = []
        for template in templates:
            try:
                self._namespace.submit(template)
            except client.ApiException as error:
                if error.status != 409:
                    raise
            else:
                made.append(template)
        for template in made:
            self._wait_until_seen(template)
        return made

    def forget(self, templates: Iterable[JSON]) -> None:
        """Delete the templates of the whole cluster among these; the others go with their namespace."""
        for template in templates:
            if template["kind"] == "ClusterWorkflowTemplate":
                name, plural = template["metadata"]["name"], PLURALS[template["kind"]]
                self._namespace.custom.delete_cluster_custom_object(GROUP, VERSION, plural, name)

    def _wait_until_seen(self, template: JSON) -> None:
        reference = {
            "name": template["metadata"]["name"],
            "template": template["spec"]["templates"][0]["name"],
            "clusterScope": template["kind"] == "ClusterWorkflowTemplate",
        }
        asking = {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Workflow",
            "metadata": {"generateName": "asking-"},
            "spec": {
                "entrypoint": "m",
                "templates": [{"name": "m", "steps": [[{"name": "a", "templateRef": reference}]]}],
            },
        }
        deadline = time.monotonic() + 30
        while "not found" in self._said(asking).argo:
            if time.monotonic() > deadline:
                raise TimeoutError(f"Argo's server doesn't see {reference['name']}")

    def _said(self, document: JSON) -> Said:
        kind = document["kind"]
        path, field = _LINT[kind]
        name = self._namespace.name
        if not kind.startswith("Cluster") and isinstance(document.get("metadata"), dict):
            # Argo's lint looks references up in the namespace that the document names.
            document = {**document, "metadata": {**document["metadata"], "namespace": name}}
        argo = self._refusal(self._argo + path.format(name), {field: document, "namespace": name})
        where = PLURALS[kind] if kind.startswith("Cluster") else f"namespaces/{name}/{PLURALS[kind]}"
        query = "?dryRun=All&fieldValidation=Strict"
        return Said(argo, self._refusal(f"{self._kubernetes}{where}{query}", document))

    def _refusal(self, url: str, body: JSON) -> str:
        response = self._pool.request("POST", url, body=json.dumps(body), headers=self._headers)
        if response.status < 300 or (response.status == 409 and b"AlreadyExists" in response.data):
            return ""  # that a name is taken is said last of all
        if response.status in (401, 403, 429) or response.status > 500:
            raise RuntimeError(f"{url}: {response.status} {response.data[:300]!r}")
        return str(json.loads(response.data).get("message", "refused"))


def _token(api: client.ApiClient) -> str:
    return str(api.configuration.auth_settings()["BearerToken"]["value"])
