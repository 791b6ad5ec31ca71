"""Events as OpenLineage has them (https://openlineage.io/spec/2-0-2/OpenLineage.json).

A run is a run of the job WORKFLOW, a task one of the job WORKFLOW.PATH with the run as its parent. What a task makes is
the dataset WORKFLOW/PATH/NAME, its version the sha256 of its content; what it reads of other tasks are these datasets,
and what it reads from and writes to stores are datasets of these.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Any

from couler_py import __version__
from couler_py.events.model import NAMESPACE, Event, timestamp
from couler_py.ir.expr import Expr, TaskArtifact
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Graph, Inline, Task, Template, Workflow
from couler_py.passes.policy.pods import address_of
from couler_py.passes.policy.views import HOLE, artifact_of

PRODUCER = f"https://pypi.org/project/couler-py/{__version__}/"
SPEC = "https://openlineage.io/spec"
TYPES = {"started": "START", "succeeded": "COMPLETE", "failed": "FAIL", "stopped": "ABORT"}
_INDEX = re.compile(r"(\[[^\]]*\]|~\d+)+$")


class Translator:
    """Events of one run, in the namespace of the settings."""

    def __init__(self, workflow: Workflow, namespace: str):
        self._workflow = workflow
        self._namespace = namespace
        self._templates = templates_by_name(workflow)
        self._versions: dict[str, str] = {}

    def __call__(self, event: Event) -> dict[str, Any] | None:
        """An event in OpenLineage's words; None for what has none there."""
        if event.kind not in TYPES:
            return None
        facets: dict[str, Any] = {}
        if event.task:
            parent = {"run": {"runId": _run_id(event.run, "")}, "job": self._job(event.workflow, "")}
            facets["parent"] = _facet("1-0-1", "ParentRunFacet", parent)
        elif event.scheduled is not None:
            nominal = {"nominalStartTime": timestamp(event.scheduled)}
            facets["nominalTime"] = _facet("1-0-1", "NominalTimeRunFacet", nominal)
        if event.kind == "failed":
            error = {"message": event.message, "programmingLanguage": "PYTHON"}
            facets["errorMessage"] = _facet("1-0-1", "ErrorMessageRunFacet", error)
        return {
            "eventType": TYPES[event.kind],
            "eventTime": timestamp(event.time),
            "run": {"runId": _run_id(event.run, event.task), "facets": facets},
            "job": self._job(event.workflow, event.task) | {"facets": {"jobType": _job_type(event)}},
            "inputs": list(self._inputs(event)),
            "outputs": list(self._outputs(event)),
            "producer": PRODUCER,
            "schemaURL": f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        }

    def _job(self, workflow: str, task: str) -> dict[str, str]:
        return {"namespace": self._namespace, "name": f"{workflow}.{_plain(task)}" if task else workflow}

    def _outputs(self, event: Event) -> Iterator[dict[str, Any]]:
        for artifact in event.artifacts:
            name = f"{event.workflow}/{_plain(event.task)}/{artifact.name}"
            self._versions[name] = artifact.digest
            yield self._dataset(name)
        template = self._templates.get(event.template)
        if event.kind == "succeeded" and template is not None:
            yield from _stored(template, "outputs")

    def _inputs(self, event: Event) -> Iterator[dict[str, Any]]:
        template = self._templates.get(event.template)
        if template is not None:
            yield from _stored(template, "inputs")
        around = event.task.rpartition("/")[0]
        task = self._task(event.task)
        for argument in task.artifacts if task is not None else ():
            for ref in _artifacts(argument.value):
                inner = f"{_plain(around)}/{ref.task}" if around else ref.task
                yield self._dataset(f"{event.workflow}/{inner}/{ref.name}")

    def _dataset(self, name: str) -> dict[str, Any]:
        version = self._versions.get(name)
        if version is None:
            return {"namespace": self._namespace, "name": name}
        facet = _facet("1-0-1", "DatasetVersionDatasetFacet", {"datasetVersion": f"sha256:{version}"})
        return {"namespace": self._namespace, "name": name, "facets": {"version": facet}}

    def _task(self, path: str) -> Task | None:
        """The call that a path leads to, through the graphs around it."""
        template: Template | None = self._templates.get(self._workflow.entrypoint)
        found: Task | None = None
        for part in _plain(path).split("/"):
            if template is None or not isinstance(template.body, Graph):
                return None
            found = next((task for task in template.body.tasks if task.name == part), None)
            if found is None:
                return None
            call = found.call
            template = (
                call.template
                if isinstance(call, Inline)
                else self._templates.get(call)
                if isinstance(call, str)
                else None
            )
        return found


def _artifacts(value: Any) -> Iterator[TaskArtifact]:
    if isinstance(value, TaskArtifact):
        yield value
    elif isinstance(value, Expr):
        for name in value.__struct_fields__:
            yield from _artifacts(getattr(value, name))
    elif isinstance(value, tuple):
        for each in value:
            yield from _artifacts(each)


def _stored(template: Template, side: str) -> Iterator[dict[str, Any]]:
    """The datasets at places of their own: those that are known before the step runs."""
    for artifact in getattr(template, side).artifacts:
        address = address_of(artifact_of(artifact.storage))
        if address and HOLE not in address:
            scheme, mark, rest = address.partition("://")
            host, _, name = rest.partition("/")
            yield {"namespace": f"{scheme}{mark}{host.rpartition('@')[2]}", "name": name.partition("?")[0] or "/"}


def _facet(version: str, name: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"_producer": PRODUCER, "_schemaURL": f"{SPEC}/facets/{version}/{name}.json#/$defs/{name}"} | content


def _job_type(event: Event) -> dict[str, Any]:
    content = {"processingType": "BATCH", "integration": "COULER", "jobType": "TASK" if event.task else "DAG"}
    return _facet("2-0-2", "JobTypeJobFacet", content)


def _run_id(run: str, task: str) -> str:
    return str(uuid.uuid5(NAMESPACE, f"{run}/{task}"))


def _plain(path: str) -> str:
    """A path without the numbers of items and attempts: those are runs of one job."""
    return "/".join(_INDEX.sub("", part) for part in path.split("/"))
