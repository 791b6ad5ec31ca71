"""Templates and cron workflows on a cluster."""

from __future__ import annotations

from collections.abc import Sequence

from couler_py.backends.argo.client.applying import apply
from couler_py.backends.argo.client.door import Door
from couler_py.backends.base import OptionError
from couler_py.backends.rest.request import JSON


class Stored:
    """The objects of one kind: `WorkflowTemplate`, `ClusterWorkflowTemplate` or `CronWorkflow`."""

    def __init__(self, kind: str, door: Door, namespace: str):
        self.kind = kind
        self._door = door
        self._namespace = namespace

    def all(self, labels: str = "") -> Sequence[JSON]:
        """Those of the namespace, by name; `labels` is a label selector."""
        return sorted(
            self._door.list(self.kind, self._namespace, labels), key=lambda each: str(each["metadata"]["name"])
        )

    def get(self, name: str) -> JSON:
        """One as the cluster has it. Raises `MissingError`."""
        return self._door.get(self.kind, self._namespace, name)

    def create(self, document: JSON) -> str:
        """Make one; gives its name. Raises `ConflictError` where there is one of this name."""
        made = self._door.create(self.kind, self._of_here(document), document) or document
        return str(made["metadata"]["name"])

    def apply(self, document: JSON) -> str:
        """Make one, or replace the one of this name whole; gives its name."""
        return str(apply(self._door, self._of_here(document), document)["metadata"]["name"])

    def delete(self, name: str) -> None:
        """Take one away. Raises `MissingError`."""
        self._door.delete(self.kind, self._namespace, name)

    def suspend(self, name: str) -> None:
        """Let a cron workflow start no runs."""
        self._door.pause_cron(self._namespace, name, paused=True)

    def resume(self, name: str) -> None:
        """Let a cron workflow start runs again."""
        self._door.pause_cron(self._namespace, name, paused=False)

    def _of_here(self, document: JSON) -> str:
        if document.get("kind") != self.kind:
            raise OptionError(f"argo: the document is a {document.get('kind')}, not a {self.kind}")
        return str(document["metadata"].get("namespace") or self._namespace)
