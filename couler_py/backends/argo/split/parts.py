"""Parts taken out of the document of the whole: the WorkflowTemplate of each, and what creates a run of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from couler_py.backends.argo.emission import ROLE, RUNNER
from couler_py.backends.argo.emit.literals import string, tag
from couler_py.backends.argo.emit.values import quoted_json
from couler_py.backends.argo.split.facts import told
from couler_py.backends.argo.vocabulary import API
from couler_py.ir.names import legal_name

JSON = dict[str, Any]
PARENT = "couler.dev/parent"
"""The label of the run of a part: the name of the run that it is a part of."""
PART = "couler.dev/part"
"""The label of the run of a part, and of its WorkflowTemplate: the part."""
PARTS = "couler.dev/parts"
"""The annotation of a run whose parts run as runs of their own: their names."""

CREATING = "run"
"""The task that creates the run of a part, in the graph that stands for the part."""

OF_THE_RUN = ("entrypoint", "arguments", "onExit", "hooks", "templates", "synchronization", "ttlStrategy")
"""What a part has not from the whole: its own, or what holds for the run once."""
GIVEN = "given"
"""The output of the task that runs a part: by name, all that the part gave out, as it travels."""
KEYS: Mapping[str, tuple[str, str]] = {
    "s3": ("s3", "key"),
    "gcs": ("gcs", "key"),
    "oss": ("oss", "key"),
    "azure": ("azure", "blob"),
    "hdfs": ("hdfs", "path"),
}
"""Where an artifact says what it is called in its store, by the kind of store."""
NOWHERE = "couler/nothing-is-here"
"""The key of a file that wasn't made. Nobody writes there, and who reads it need not find it."""


class PartDocument(msgspec.Struct, frozen=True):
    """The WorkflowTemplate of a part, and by parameter the facts of the whole run that it is told."""

    document: JSON
    facts: dict[str, str]

    @property
    def name(self) -> str:
        return str(self.document["metadata"]["name"])


def part_document(whole: JSON, spec: JSON, template: JSON, part: str, name: str, namespace: str) -> PartDocument:
    """The WorkflowTemplate of a part: `template` and what it calls, out of the `spec` of the whole.

    Its name ends in a digest of what it says, so that an edit elsewhere changes nothing, and a run that began before
    an edit goes on with the parts that it began with.
    """
    facts: dict[str, str] = {}
    needed = closure(spec, [template["name"]])
    inside = told([each for each in spec["templates"] if each["name"] in needed], facts)
    arguments: JSON = {}
    parameters = [{"name": each["name"]} for each in spec.get("arguments", {}).get("parameters", [])]
    parameters += [{"name": each["name"]} for each in template.get("inputs", {}).get("parameters", [])]
    parameters += [{"name": each} for each in facts]
    if parameters:
        arguments["parameters"] = parameters
    entry = _entry(template, part)
    found: JSON = {"entrypoint": entry["name"]}
    if arguments:
        found["arguments"] = arguments
    found |= {key: value for key, value in spec.items() if key not in OF_THE_RUN and key != "workflowMetadata"}
    found["templates"] = [entry] + [_published(each) if each["name"] == template["name"] else each for each in inside]
    if "workflowMetadata" in spec:
        found["workflowMetadata"] = spec["workflowMetadata"]
    found = without_runner(found)
    content = hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:8]
    stem = legal_name("argo", "workflow", f"{name[:26]}-{part.removeprefix('part-')[:26]}".strip("-"))
    metadata: JSON = {"name": f"{stem[:48].rstrip('-')}-{content}"}
    if namespace:
        metadata["namespace"] = namespace
    metadata["labels"] = {**whole["metadata"].get("labels", {}), PART: label(part)}
    document = {"apiVersion": API, "kind": "WorkflowTemplate", "metadata": metadata, "spec": found}
    return PartDocument(document, facts)


def _entry(template: JSON, part: str) -> JSON:
    """The graph that the run of a part starts with: it calls the part with all that the run was given."""
    found: JSON = {"name": f"{template['name']}-run"}
    task: JSON = {"name": legal_name("argo", "task", part), "template": template["name"]}
    names = [each["name"] for each in template.get("inputs", {}).get("parameters", [])]
    files = [each["name"] for each in template.get("inputs", {}).get("artifacts", [])]
    given: JSON = {}
    if names:
        given["parameters"] = [{"name": each} for each in names]
        task["arguments"] = {"parameters": _passed(names)}
    if files:
        given["artifacts"] = [{"name": each, "optional": True} for each in files]
        references = [{"name": each, "from": f"{{{{inputs.artifacts.{each}}}}}", "optional": True} for each in files]
        task["arguments"] = task.get("arguments", {}) | {"artifacts": references}
    if given:
        found["inputs"] = given
    if made := template.get("outputs", {}).get("artifacts"):
        source = "{{tasks." + task["name"] + ".outputs.artifacts."
        artifacts = [{"name": each["name"], "from": source + each["name"] + "}}", "optional": True} for each in made]
        found["outputs"] = {"artifacts": artifacts}
    return found | {"dag": {"failFast": False, "tasks": [task]}}


def _passed(names: Iterable[str]) -> list[JSON]:
    """Arguments by which a graph hands on what it was given."""
    return [{"name": each, "value": f"{{{{inputs.parameters.{each}}}}}"} for each in names]


def _published(template: JSON) -> JSON:
    """The template whose values stand in the status of a run beside its nodes, which may be compressed.

    They do for what a graph calls, not for what a run starts with. Files never do.
    """
    outputs = template.get("outputs", {})
    if "parameters" not in outputs:
        return template
    parameters = [each | {"globalName": each["name"]} for each in outputs["parameters"]]
    return template | {"outputs": outputs | {"parameters": parameters}}


def label(part: str) -> str:
    """The part's name as the value of a label."""
    return legal_name("argo", "label", part)


def closure(spec: JSON, names: Iterable[str]) -> set[str]:
    """The templates that those of these names call, directly or through others; they themselves too."""
    calls = {each["name"]: [*_called(each)] for each in spec["templates"]}
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found and name in calls:
            found.add(name)
            waiting += calls[name]
    return found


def _called(template: JSON) -> Iterable[str]:
    tasks = [*template.get("dag", {}).get("tasks", ()), *(each for g in template.get("steps", ()) for each in g)]
    for task in tasks:
        if "template" in task:
            yield task["template"]
        for hook in task.get("hooks", {}).values():
            yield hook["template"]


def without_runner(spec: JSON) -> JSON:
    """The spec without the runner, where none of its templates reads it."""
    metadata = spec.get("workflowMetadata", {})
    if RUNNER not in metadata.get("annotations", {}) or f"'{RUNNER}'" in json.dumps(spec["templates"]):
        return spec
    annotations = {key: value for key, value in metadata["annotations"].items() if key != RUNNER}
    left = {key: value for key, value in metadata.items() if key != "annotations"}
    left |= {"annotations": annotations} if annotations else {}
    smaller = {key: value for key, value in spec.items() if key != "workflowMetadata"}
    return smaller | ({"workflowMetadata": left} if left else {})


def running(spec: JSON, template: JSON, part: PartDocument, store: tuple[str, str]) -> list[JSON]:
    """Two templates in the place of a part's: a graph that takes and gives the same, and in it the task that creates
    the part's run, waits for its end, and reads all that it gave out at once.

    What the part gives and takes as files comes and goes as their keys in the store.
    """
    inner = f"{template['name']}-run"
    inputs = [*template.get("inputs", {}).get("parameters", [])]
    files = template.get("inputs", {}).get("artifacts", [])
    taken = [each["name"] for each in inputs] + [file_slot(each["name"]) for each in files]
    outer: JSON = {key: value for key, value in template.items() if key in ("name", "metadata")}
    task: JSON = {"name": CREATING, "template": inner}
    if taken:
        outer["inputs"] = {"parameters": [{"name": each} for each in taken]}
        task["arguments"] = {"parameters": _passed(taken)}
    given = [each["name"] for each in template.get("outputs", {}).get("parameters", [])]
    given += [file_slot(each["name"]) for each in template.get("outputs", {}).get("artifacts", [])]
    if given:
        source = f"fromJSON(tasks.{CREATING}.outputs.parameters.{GIVEN})"
        outer["outputs"] = {
            "parameters": [
                {"name": each, "valueFrom": {"expression": f"{source}[{string(each)}] ?? {string(NOWHERE)}"}}
                for each in given
            ]
        }
    outer["dag"] = {"failFast": False, "tasks": [task]}
    creating: JSON = {"name": inner, "metadata": {"annotations": {ROLE: "helper"}}}
    if taken:
        creating["inputs"] = outer["inputs"]
    if given:
        creating["outputs"] = {"parameters": [{"name": GIVEN, "valueFrom": {"jqFilter": _query(template, store)}}]}
    creating["resource"] = {
        "action": "create",
        "setOwnerReference": True,
        "successCondition": "status.phase == Succeeded",
        "failureCondition": "status.phase in (Failed, Error)",
        "manifest": _manifest(spec, template, part, store),
    }
    return [outer, creating]


def file_slot(name: str) -> str:
    """The parameter that a file's key travels in."""
    return f"file--{name}"


def _query(template: JSON, store: tuple[str, str]) -> str:
    """What a part gave out, as one JSON object; files by their keys, from the node that the run started with."""
    kind, key = store
    values = '[.status.outputs.parameters[]?|{key:.name,value:(.value//"")}]'
    if template.get("outputs", {}).get("artifacts"):
        node = ".status.nodes[.metadata.name].outputs.artifacts[]?"
        values += f'+[{node}|{{key:("file--"+.name),value:(.{kind}.{key}//"{NOWHERE}")}}]'
    return f"{values}|from_entries|tojson"


def _manifest(spec: JSON, template: JSON, part: PartDocument, store: tuple[str, str]) -> str:
    """The run of a part as JSON text. A value is an expression that gives its JSON text, so none can end a string."""
    values = [
        (each["name"], quoted_json(f"workflow.parameters[{string(each['name'])}]"))
        for each in spec.get("arguments", {}).get("parameters", [])
    ]
    values += [
        (each["name"], quoted_json(f"inputs.parameters[{string(each['name'])}]"))
        for each in template.get("inputs", {}).get("parameters", [])
    ]
    parameters = [{"name": each, "value": f"\0{number}\0"} for number, (each, _) in enumerate(values)]
    parameters += [{"name": name, "value": f"{{{{{fact}}}}}"} for name, fact in part.facts.items()]
    arguments: JSON = {"parameters": parameters}
    kind, key = store
    files = [each["name"] for each in template.get("inputs", {}).get("artifacts", [])]
    if files:
        slots = [f"{{{{inputs.parameters.{file_slot(each)}}}}}" for each in files]
        arguments["artifacts"] = [
            {"name": each, kind: {key: slot}, "optional": True} for each, slot in zip(files, slots, strict=True)
        ]
    labels = {**part.document["metadata"]["labels"], PARENT: "{{workflow.name}}"}
    run: JSON = {
        "apiVersion": API,
        "kind": "Workflow",
        "metadata": {"generateName": f"{part.name}-", "labels": labels},
        "spec": {"workflowTemplateRef": {"name": part.name}},
    }
    if parameters or files:
        run["spec"]["arguments"] = {name: each for name, each in arguments.items() if each}
    text = json.dumps(run, ensure_ascii=False, indent=2)
    for number, (_, expression) in enumerate(values):
        text = text.replace(f'"\\u0000{number}\\u0000"', tag(expression))
    return text
