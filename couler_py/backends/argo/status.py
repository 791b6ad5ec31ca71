"""What Argo says of a run, in the IR's words.

A task of the IR may be several nodes on Argo: the templates that emission adds say in an annotation what they are
for, so that a run can be read without the workflow that it was compiled from.
"""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from couler_py.backends.argo.emission import ROLE
from couler_py.backends.argo.emit.document import OUTPUTS, PARAMETERS
from couler_py.backends.argo.emit.template import DISPLAY, TASKS
from couler_py.backends.base import RunPhase, RunStatus, TaskPhase, TaskStatus
from couler_py.ir import wire

JSON = dict[str, Any]
PHASES: dict[str, TaskPhase] = {
    "Pending": "Pending",
    "Running": "Running",
    "Succeeded": "Succeeded",
    "Failed": "Failed",
    "Error": "Failed",
    "Skipped": "Skipped",
    "Omitted": "Blocked",
}
PLAIN = {"type": "scalar", "name": "str"}
"""The type of what the annotations with types leave out."""
_ITEM = re.compile(r"\((\d+):")
_ATTEMPT = re.compile(r"\((\d+)\)")


def run_status(workflow: JSON, run: str = "") -> RunStatus:
    """A run as Argo's Workflow object describes it; `run` is its full name."""
    workflow = unpacked(workflow)
    metadata, status = workflow["metadata"], workflow.get("status", {})
    labels = metadata.get("labels", {})
    return RunStatus(
        run=run or f"argo:{metadata.get('namespace', '')}/{metadata['name']}",
        workflow=labels.get(
            "workflows.argoproj.io/cron-workflow", metadata.get("generateName", metadata["name"])
        ).rstrip("-"),
        status=run_phase(workflow),
        engine="argo",
        started=_instant(status.get("startedAt")),
        finished=_instant(status.get("finishedAt")),
        message=status.get("message", ""),
        tasks=tuple(tasks(workflow)),
        outputs=outputs(workflow),
        parameters={each["name"]: each.get("value") for each in _parameters(workflow["spec"].get("arguments", {}))},
    )


def unpacked(workflow: JSON) -> JSON:
    """The object with its nodes readable: the controller compresses those of a big workflow."""
    status = workflow.get("status", {})
    packed = status.get("compressedNodes")
    if not packed or status.get("nodes"):
        return workflow
    nodes = msgspec.json.decode(gzip.decompress(base64.b64decode(packed)))
    return workflow | {"status": status | {"nodes": nodes}}


def run_phase(workflow: JSON) -> RunPhase:
    """How a run stands."""
    status = workflow.get("status", {})
    phase = status.get("phase", "")
    if phase in ("Failed", "Error"):
        shut = workflow["spec"].get("shutdown")
        return "Stopped" if shut else "Failed"
    if phase == "Succeeded":
        return "Succeeded"
    if phase != "Running":
        return "Pending"
    if workflow["spec"].get("suspend"):
        return "Suspended"
    waiting = [node for node in status.get("nodes", {}).values() if node["phase"] == "Running"]
    pods = [node for node in waiting if node["type"] in ("Pod", "HTTP", "Plugin")]
    return "Suspended" if not pods and any(node["type"] == "Suspend" for node in waiting) else "Running"


def outputs(workflow: JSON) -> dict[str, Any]:
    """The outputs of a finished run, decoded; artifacts are the keys under which they lie."""
    annotations = workflow["metadata"].get("annotations", {}) | workflow["spec"].get("workflowMetadata", {}).get(
        "annotations", {}
    )
    types = msgspec.json.decode(annotations.get(OUTPUTS, "{}"))
    entry = workflow.get("status", {}).get("nodes", {}).get(workflow["metadata"]["name"], {})
    found: dict[str, Any] = {}
    if entry.get("phase") != "Succeeded":
        return found
    given = entry.get("outputs", {})
    by_name = {each["name"]: each["value"] for each in _parameters(given) if "value" in each}
    for name, text in by_name.items():
        found[name] = wire.decode(types.get(name, PLAIN), text)
    for artifact in given.get("artifacts", []):
        if key := artifact_key(artifact):
            found[artifact["name"]] = key
    return found


def artifact_key(artifact: JSON) -> str:
    """Where an artifact lies, as its store names it."""
    for kind in ("s3", "gcs", "oss"):
        if place := artifact.get(kind):
            return str(place["key"])
    if place := artifact.get("azure"):
        return str(place["blob"])
    return str(artifact["hdfs"]["path"]) if "hdfs" in artifact else ""


def _parameters(given: JSON) -> list[JSON]:
    found: list[JSON] = given.get("parameters") or []
    return found


def tasks(workflow: JSON) -> Iterator[TaskStatus]:
    """The tasks of a run by their paths, as `RunStatus` names them."""
    workflow = unpacked(workflow)
    yield from _Reader(workflow).all()


def paths(workflow: JSON) -> Iterator[tuple[str, int, JSON]]:
    """The nodes that tasks are made of, each with the path of its task and the number of its attempt, from 0."""
    reader = _Reader(unpacked(workflow))
    reader.seen = {}
    list(reader.all())
    for path, node in reader.seen.items():
        attempts = reader.attempts(node)
        if node["type"] == "Retry" and attempts:
            yield from ((path, number, each) for number, each in enumerate(attempts))
        else:
            yield path, 0, node


class _Reader:
    """Reads the nodes of one run."""

    def __init__(self, workflow: JSON):
        status = workflow.get("status", {})
        self.name: str = workflow["metadata"]["name"]
        nodes = status.get("nodes", {})
        self.seen: dict[str, JSON] = {}
        self.by_name: dict[str, JSON] = {node["name"]: node for node in nodes.values()}
        self.inside: dict[str, list[JSON]] = {}
        for node in nodes.values():
            self.inside.setdefault(node.get("boundaryID", ""), []).append(node)
        spec = status.get("storedWorkflowTemplateSpec") or workflow["spec"]
        self.roles: dict[str, str] = {}
        self.displays: dict[str, str] = {}
        self.names: dict[str, dict[str, str]] = {}
        self.modules: dict[str, list[JSON]] = {}
        for template in spec.get("templates", []):
            annotations = template.get("metadata", {}).get("annotations", {})
            self.roles[template["name"]] = annotations.get(ROLE, "")
            self.displays[template["name"]] = annotations.get(DISPLAY, "")
            if TASKS in annotations:
                self.names[template["name"]] = msgspec.json.decode(annotations[TASKS])
            if annotations.get(ROLE) == "module":
                self.modules[template["name"]] = template["dag"]["tasks"]
        for stored in status.get("storedTemplates", {}).values():
            annotations = stored.get("metadata", {}).get("annotations", {})
            self.roles.setdefault(stored.get("name", ""), annotations.get(ROLE, ""))

    def all(self) -> Iterator[TaskStatus]:
        root = self.by_name.get(self.name)
        if root is not None:
            if self.children(root):
                yield from self.graph(root, "")
            elif root["type"] not in ("DAG", "Steps"):
                yield self.task(root, root["displayName"])
        handlers = self.by_name.get(f"{self.name}.onExit")
        if handlers is not None:
            yield from self.graph(handlers, "onExit/")

    def children(self, node: JSON) -> list[JSON]:
        """The tasks directly inside a graph, without those that emission added."""
        return [
            each
            for each in self.inside.get(node["id"], [])
            if each["type"] not in ("StepGroup", "Retry")
            and self.role(each) != "helper"
            and not each.get("nodeFlag", {}).get("retried")
            and not each.get("nodeFlag", {}).get("hooked")
        ] + [each for each in self.inside.get(node["id"], []) if each["type"] == "Retry"]

    def role(self, node: JSON) -> str:
        return self.roles.get(node.get("templateName", ""), "")

    def graph(self, node: JSON, prefix: str) -> Iterator[TaskStatus]:
        names = self.names.get(node.get("templateName", ""), {})
        for each in sorted(self.children(self.last(node)), key=lambda node: node.get("startedAt") or ""):
            if each["displayName"] == each["name"] or each["type"] == "StepGroup":
                continue
            name = _short(each)
            if each.get("templateName", "") in self.modules:
                yield from self.module(each, prefix)
            else:
                yield from self.one(each, prefix + names.get(name, name))

    def module(self, node: JSON, prefix: str) -> Iterator[TaskStatus]:
        """The tasks of a graph that is nested only for its size, as if they stood in the graph around it."""
        if node["phase"] not in ("Skipped", "Omitted"):
            yield from self.graph(node, prefix)
            return
        names = self.names.get(node["templateName"], {})
        for task in self.modules[node["templateName"]]:
            if task["template"] in self.modules:
                yield from self.module(node | {"templateName": task["template"]}, prefix)
            else:
                name = str(task["name"])
                yield TaskStatus(prefix + names.get(name, name), PHASES[node["phase"]])

    def last(self, node: JSON) -> JSON:
        """The node of the last attempt, where there were several."""
        attempts = self.attempts(node)
        return attempts[-1] if attempts else node

    def attempts(self, node: JSON) -> list[JSON]:
        """The nodes of the attempts of a node that is retried."""
        if node["type"] != "Retry":
            return []
        found = [self.by_name.get(f"{node['name']}({index})") for index in range(len(node.get("children", [])) + 1)]
        return [each for each in found if each is not None]

    def one(self, node: JSON, path: str) -> Iterator[TaskStatus]:
        role = self.role(node)
        yield self.task(node, path)
        yield from self.below(self.last(node), path, role)

    def below(self, node: JSON, path: str, role: str) -> Iterator[TaskStatus]:
        """What is inside a task, under its path."""
        if role == "nothing":
            return
        if role == "tolerant":
            inner = self.by_name.get(f"{node['name']}.map")
            if inner is not None:
                yield from self.below(inner, path, "fan-out")
        elif role == "fan-out":
            yield from self.items(node, path)
        elif role == "item":
            inner = self.by_name.get(f"{node['name']}.run")
            if inner is not None:
                yield from self.below(self.last(inner), path, self.role(inner))
        elif role == "loop":
            yield from self.iterations(node, path)
        elif node["type"] in ("DAG", "Steps"):
            yield from self.graph(node, f"{path}/")

    def items(self, node: JSON, path: str) -> Iterator[TaskStatus]:
        found: dict[int, JSON] = {}
        for each in self.inside.get(node["id"], []):
            match = _ITEM.match(each["name"], len(f"{node['name']}.{_task_of(each)}"))
            flags = each.get("nodeFlag", {})
            if match and not flags.get("retried") and not flags.get("hooked"):
                found[int(match[1])] = each
        for index in sorted(found):
            item = found[index]
            status = self.task(item, f"{path}[{index}]")
            if status.status == "Succeeded" and _absent(item):
                status = msgspec.structs.replace(status, status="Skipped")
            yield status
            yield from self.below(self.last(item), f"{path}[{index}]", self.role(item))

    def iterations(self, node: JSON, path: str) -> Iterator[TaskStatus]:
        name, count = node["name"], 0
        while (run := self.by_name.get(f"{name}.run")) is not None:
            count += 1
            yield self.task(run, f"{path}#{count}")
            yield from self.below(self.last(run), f"{path}#{count}", self.role(run))
            name += ".again"

    def task(self, node: JSON, path: str) -> TaskStatus:
        self.seen[path] = node
        if self.role(node) == "item" and (inner := self.by_name.get(f"{node['name']}.run")) is not None:
            self.seen[path] = inner
        started, finished = _instant(node.get("startedAt")), _instant(node.get("finishedAt"))
        phase = PHASES.get(node["phase"], "Pending")
        ran = phase not in ("Skipped", "Blocked", "Pending")
        if phase == "Running" and node["type"] == "Suspend":
            phase = "Suspended"
        attempts = 0
        if ran:
            attempts = max(1, len(node.get("children", []))) if node["type"] == "Retry" else 1
        memoized = node.get("memoizationStatus") or {}
        return TaskStatus(
            name=path,
            status=phase,
            attempts=attempts,
            seconds=finished - started if ran and started is not None and finished is not None else None,
            message=node.get("message", ""),
            display=self.displays.get(node.get("templateName", ""), ""),
            cached=bool(memoized.get("hit")),
            started=started if ran else None,
            finished=finished if ran else None,
        )


def _task_of(node: JSON) -> str:
    """The name of the task that a node is of, without item and attempt."""
    name: str = node["displayName"]
    return name.split("(", 1)[0]


def _short(node: JSON) -> str:
    return _ATTEMPT.sub("", str(node["displayName"]))


def _absent(item: JSON) -> bool:
    """Whether a mapped graph ended without its results: present ones begin with a quote."""
    values = [each.get("value") for each in _parameters(item.get("outputs", {}))]
    return "null" in values


def _instant(text: str | None) -> float | None:
    return datetime.fromisoformat(text).timestamp() if text else None


def with_parameters(workflow: JSON, given: Mapping[str, Any]) -> JSON:
    """A document with other parameters for one run, encoded as its steps read them.

    Raises `ValueError` for a parameter that it doesn't have.
    """
    spec = workflow["spec"]
    known = _parameters(spec.get("arguments", {}))
    unknown = sorted(set(given) - {each["name"] for each in known})
    if unknown:
        names = ", ".join(each["name"] for each in known) or "none"
        raise ValueError(f"the workflow has no parameter {unknown[0]!r}; its parameters are {names}")
    types = msgspec.json.decode(workflow["metadata"].get("annotations", {}).get(PARAMETERS, "{}"))
    parameters = [
        each | {"value": wire.encode(types.get(each["name"], PLAIN), given[each["name"]])}
        if each["name"] in given
        else each
        for each in known
    ]
    return workflow | {"spec": spec | {"arguments": spec.get("arguments", {}) | {"parameters": parameters}}}
