"""The documents of a split workflow."""

from __future__ import annotations

from typing import Any

from couler_py.backends import yaml
from couler_py.backends.argo.document.order import arranged
from couler_py.backends.argo.emission import ROLE, Emission
from couler_py.backends.argo.emit.document import documents, run_deadline
from couler_py.backends.argo.emit.literals import string, tag
from couler_py.backends.argo.limits import check_limits
from couler_py.backends.argo.lower import decide_in_steps
from couler_py.backends.argo.names import name_of
from couler_py.backends.argo.numbers import check_numbers
from couler_py.backends.argo.options import Options
from couler_py.backends.argo.split.parts import (
    KEYS,
    PARTS,
    closure,
    file_slot,
    part_document,
    running,
    without_runner,
)
from couler_py.backends.base import Bundle
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Graph, Workflow
from couler_py.ir.names import legal_name
from couler_py.passes.exact import exact_outputs
from couler_py.passes.split.mark import helpers_of, parts_of, unmarked

JSON = dict[str, Any]


def compile_split(workflow: Workflow, options: Options) -> Bundle:
    """Emit the parts of a workflow as WorkflowTemplates, and after them the workflow that runs them.

    Raises `DiagnosticError` as any compilation does.
    """
    from couler_py.backends.argo.backend import in_version

    emission, whole = emitted(workflow, options)
    _say_what_each_part_has(emission, workflow)
    found = [arranged(each) for each in in_version(emission, divided(emission, workflow, whole))]
    for document in found:
        if "spec" in document:
            check_limits(emission, [document])
    if any(each.severity == "error" for each in emission.diagnostics):
        raise DiagnosticError(emission.diagnostics)
    file = f"{name_of(found[-1]['metadata'])}.yaml"
    return Bundle("argo", {file: yaml.dump_all(found)}, tuple(found), tuple(emission.diagnostics), emission.blobs)


def _say_what_each_part_has(emission: Emission, workflow: Workflow) -> None:
    """Warn of limits on the whole run: parts are runs of their own, and each has them for itself."""
    entry = templates_by_name(workflow)[workflow.entrypoint]
    most = min((each for each in (workflow.parallelism, entry.parallelism) if each is not None), default=None)
    said = []
    if most is not None:
        said.append(f"each part may have {most} pods at once, and {most} parts may run side by side")
    if run_deadline(emission) is not None:
        said.append("each part may take as long as the whole run, from its own start")
    for each in said:
        emission.problem(
            "CLR416",
            each,
            severity="warning",
            help="limit the steps: by a lock that counts over all runs, or by timeout=",
            source=entry.source,
        )


def emitted(workflow: Workflow, options: Options) -> tuple[Emission, list[JSON]]:
    """The documents of the whole, a graph of graphs, that the parts are taken out of."""
    simpler = decide_in_steps(unmarked(workflow))
    templates = templates_by_name(workflow)
    emission = Emission(simpler, options, frozenset(), exact_outputs(templates))
    check_numbers(emission, templates)
    return emission, documents(emission)


def divided(emission: Emission, workflow: Workflow, whole: list[JSON]) -> list[JSON]:
    """The documents with the parts as WorkflowTemplates before the main one."""
    *others, main = whole
    spec = main["spec"].get("workflowSpec", main["spec"])
    options, program = emission.options, emission.program
    store = KEYS[options.repository]
    name = legal_name("argo", "workflow", options.name or workflow.name)
    helpers = {program.template_name(each) for each in helpers_of(workflow)}
    spec["templates"] = [_helper(each) if each["name"] in helpers else each for each in spec["templates"]]
    entry = next(each for each in spec["templates"] if each["name"] == spec["entrypoint"])
    graph = templates_by_name(workflow)[workflow.entrypoint].body
    assert isinstance(graph, Graph)
    parts = set(parts_of(workflow))
    called = {
        program.template_name(task.call): task.name
        for task in graph.tasks
        if task.name in parts and isinstance(task.call, str)
    }
    made: list[JSON] = []
    templates: list[JSON] = []
    for template in spec["templates"]:
        if template["name"] not in called:
            templates.append(template)
            continue
        part = part_document(main, spec, template, called[template["name"]], name, options.namespace)
        made.append(part.document)
        templates += running(spec, template, part, store)
    places = {each["name"]: each["template"] for each in entry["dag"]["tasks"]}
    running_ones = {task for task, template in places.items() if template in called}
    templates = [_by_key(each, running_ones, set(called), store) if each is entry else each for each in templates]
    kept = closure({"templates": templates}, [spec["entrypoint"], *_hooked(spec)])
    smaller = spec | {"templates": [each for each in templates if each["name"] in kept]}
    smaller = without_runner(smaller)
    said = {PARTS: " ".join(parts_of(workflow))}
    if main["spec"] is spec:
        return [*others, *made, main | {"metadata": _annotated(main["metadata"], said), "spec": smaller}]
    scheduled = main["spec"] | {"workflowSpec": smaller}
    scheduled["workflowMetadata"] = _annotated(scheduled.get("workflowMetadata", {}), said)
    return [*others, *made, main | {"spec": scheduled}]


def _helper(template: JSON) -> JSON:
    """The template marked as one whose tasks are not shown."""
    return template | {"metadata": _annotated(template.get("metadata", {}), {ROLE: "helper"})}


def _annotated(metadata: JSON, more: dict[str, str]) -> JSON:
    return metadata | {"annotations": metadata.get("annotations", {}) | more}


def _hooked(spec: JSON) -> list[str]:
    found = [spec["onExit"]] if "onExit" in spec else []
    return found + [each["template"] for each in spec.get("hooks", {}).values()]


def _by_key(entry: JSON, parts: set[str], called: set[str], store: tuple[str, str]) -> JSON:
    """The graph that runs the parts, in which their files are handed over by their keys."""
    return entry | {
        "dag": entry["dag"] | {"tasks": [_task(each, parts, called, store) for each in entry["dag"]["tasks"]]}
    }


def _task(task: JSON, parts: set[str], called: set[str], store: tuple[str, str]) -> JSON:
    artifacts = task.get("arguments", {}).get("artifacts")
    if not artifacts:
        return task
    kind, field = store
    keys, kept = [], []
    for each in artifacts:
        key = _key_of(each.get("from", ""), parts)
        if task["template"] in called:
            keys.append({"name": file_slot(each["name"]), "value": key})
        else:
            kept.append({"name": each["name"], kind: {field: key}, "optional": True} if key else each)
    arguments = {name: value for name, value in task["arguments"].items() if name != "artifacts"}
    if keys:
        arguments["parameters"] = [*arguments.get("parameters", []), *keys]
    if kept:
        arguments["artifacts"] = kept
    return task | {"arguments": arguments}


def _key_of(reference: str, parts: set[str]) -> str:
    """The key of the file that a reference names, as a tag; empty where no part made it."""
    names = reference.removeprefix("{{").removesuffix("}}").split(".")
    if len(names) < 5 or names[0] != "tasks" or names[1] not in parts:
        return ""
    slot = file_slot(names[4])
    return tag(f"tasks[{string(names[1])}].outputs.parameters[{string(slot)}]")
