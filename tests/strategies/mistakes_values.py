"""Mistakes in parameters and artifacts: without a source, from two, of a sort that can't be there, not supplied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.strategies.mutations import (
    JSON,
    MISSING,
    Change,
    Path,
    called_templates,
    calls,
    graphs,
    items,
    kind,
    leaves,
    spec_of,
    spec_path,
    templates,
)

_PODS = ("container", "script", "containerSet")


def _targets(document: JSON) -> dict[str, JSON]:
    return {template["name"]: template for _, template in templates(document) if "name" in template}


@kind
def input_not_supplied(document: JSON) -> Iterator[Change]:
    known = _targets(document)
    for path, call in calls(document):
        target = known.get(call.get("template", ""), {})
        for at, each in items(call, path, "arguments", "parameters"):
            declared = [p for p in target.get("inputs", {}).get("parameters", ()) if p["name"] == each["name"]]
            if declared and not {"value", "default", "valueFrom"} & declared[0].keys():
                yield Change(at, MISSING, path)


@kind
def input_that_a_hook_forgets(document: JSON) -> Iterator[Change]:
    for _, template in templates(document):
        inputs = template.get("inputs", {}).get("parameters", ())
        needs = any(not {"value", "default", "valueFrom"} & each.keys() for each in inputs)
        for path, call in calls(document) if needs else ():
            if "hooks" not in call and "withItems" not in call:
                yield Change((*path, "hooks"), {"exit": {"template": template["name"]}}, (*path, "hooks", "exit"))


@kind
def text_for_an_artifact(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        for at, each in items(call, path, "arguments", "artifacts"):
            source = str(each.get("from", ""))
            if source.startswith(("{{steps.", "{{tasks.")):
                name = source.strip("{}").split(".")
                yield Change((*at, "from"), "{{" + ".".join(name[:2]) + ".id}}")


@kind
def artifact_not_supplied(document: JSON) -> Iterator[Change]:
    known = _targets(document)
    for path, call in calls(document):
        target = known.get(call.get("template", ""), {})
        for at, each in items(call, path, "arguments", "artifacts"):
            declared = [a for a in target.get("inputs", {}).get("artifacts", ()) if a["name"] == each["name"]]
            if declared and declared[0].keys() <= {"name", "path", "mode"}:
                yield Change(at, MISSING, path)


@kind
def input_that_no_caller_knows(document: JSON) -> Iterator[Change]:
    callers: dict[str, list[Path]] = {}
    for path, call in calls(document):
        callers.setdefault(call.get("template", ""), []).append(path)
    for path, template in templates(document):
        found = callers.get(template.get("name", ""), [])
        if len(found) == 1 and template.get("name") != spec_of(document).get("entrypoint"):
            inputs = template.get("inputs", {})
            more = {**inputs, "parameters": [*inputs.get("parameters", ()), {"name": "more"}]}
            yield Change((*path, "inputs"), more, found[0])


@kind
def entrypoint_that_needs_more(document: JSON) -> Iterator[Change]:
    spec = spec_of(document)
    for path, template in templates(document):
        if template.get("name") == spec.get("entrypoint") and document["kind"] in ("Workflow", "CronWorkflow"):
            inputs = template.get("inputs", {})
            more = {**inputs, "parameters": [*inputs.get("parameters", ()), {"name": "more"}]}
            if not any(call.get("template") == template["name"] for _, call in calls(document)):
                yield Change((*path, "inputs"), more, (*spec_path(document), "entrypoint"))


@kind
def argument_without_a_value(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        for at, each in items(call, path, "arguments", "parameters"):
            if "value" in each:
                yield Change((*at, "value"), MISSING, at)


@kind
def argument_from_a_file(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        for at, each in items(call, path, "arguments", "parameters"):
            yield Change(at, {"name": each["name"], "valueFrom": {"path": "/x"}}, (*at, "valueFrom", "path"))


@kind
def artifact_argument_without_a_source(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        for at, each in items(call, path, "arguments", "artifacts"):
            yield Change(at, {"name": each["name"]})


@kind
def artifact_argument_by_expression(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        for at, each in items(call, path, "arguments", "artifacts"):
            if "from" in each:
                changed = {"name": each["name"], "fromExpression": "tasks.a.outputs.artifacts.x"}
                yield Change(at, changed, (*at, "fromExpression"))


@kind
def value_outside_of_its_enum(document: JSON) -> Iterator[Change]:
    parameters = spec_of(document).get("arguments", {}).get("parameters", ())
    for index, each in enumerate(parameters):
        if "value" in each:
            at = (*spec_path(document), "arguments", "parameters", index)
            yield Change((*at, "enum"), ["one", "other"], (*at, "value"))


@kind
def empty_enum(document: JSON) -> Iterator[Change]:
    parameters = spec_of(document).get("arguments", {}).get("parameters", ())
    for index, _ in enumerate(parameters):
        yield Change((*spec_path(document), "arguments", "parameters", index, "enum"), [])


@kind
def output_without_a_source(document: JSON) -> Iterator[Change]:
    for path, template in called_templates(document):
        for at, each in items(template, path, "outputs", "parameters"):
            yield Change(at, {"name": each["name"]})


@kind
def output_from_nothing(document: JSON) -> Iterator[Change]:
    for path, template in called_templates(document):
        for at, each in items(template, path, "outputs", "parameters"):
            yield Change(at, {"name": each["name"], "valueFrom": {"default": "x"}}, (*at, "valueFrom"))


@kind
def output_from_two_sources(document: JSON) -> Iterator[Change]:
    for path, template in called_templates(document):
        for at, each in items(template, path, "outputs", "parameters"):
            two: JSON = {"path": "/tmp/x", "parameter": "{{inputs.parameters.x}}"}
            yield Change(at, {"name": each["name"], "valueFrom": two}, (*at, "valueFrom", "parameter"))


@kind
def output_of_a_graph_from_a_file(document: JSON) -> Iterator[Change]:
    for path, _ in graphs(document):
        outputs = {"parameters": [{"name": "x", "valueFrom": {"path": "/tmp/x"}}]}
        yield Change((*path, "outputs"), outputs, (*path, "outputs", "parameters", 0, "valueFrom", "path"))


@kind
def output_of_a_pod_from_an_expression(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        if any(what in template for what in _PODS):
            outputs: dict[str, Any] = {"parameters": [{"name": "x", "valueFrom": {"expression": "1"}}]}
            at = (*path, "outputs", "parameters", 0, "valueFrom", "expression")
            yield Change((*path, "outputs"), outputs, at)


@kind
def output_with_value_and_source(document: JSON) -> Iterator[Change]:
    for path, template in called_templates(document):
        for at, each in items(template, path, "outputs", "parameters"):
            if "valueFrom" in each:
                yield Change((*at, "value"), "x", (*at, "valueFrom"))


@kind
def artifact_without_a_path(document: JSON) -> Iterator[Change]:
    for path, template in leaves(document):
        for side in ("inputs", "outputs"):
            for at, each in items(template, path, side, "artifacts"):
                if "path" in each:
                    yield Change((*at, "path"), MISSING, at)


@kind
def artifact_of_a_graph_with_a_path(document: JSON) -> Iterator[Change]:
    for path, template in graphs(document):
        for side in ("inputs", "outputs"):
            for at, _ in items(template, path, side, "artifacts"):
                yield Change((*at, "path"), "/tmp/x")


@kind
def path_that_climbs_out(document: JSON) -> Iterator[Change]:
    for path, template in leaves(document):
        for side in ("inputs", "outputs"):
            for at, _ in items(template, path, side, "artifacts"):
                yield Change((*at, "path"), "/tmp/safe/../../etc/passwd")


@kind
def input_artifact_with_a_from(document: JSON) -> Iterator[Change]:
    for path, template in leaves(document):
        for at, _ in items(template, path, "inputs", "artifacts"):
            yield Change((*at, "from"), "{{workflow.name}}")


@kind
def git_without_a_repository(document: JSON) -> Iterator[Change]:
    for path, template in leaves(document):
        inputs = template.get("inputs", {})
        more = [*inputs.get("artifacts", ()), {"name": "code", "path": "/code", "git": {"revision": "main"}}]
        at = (*path, "inputs", "artifacts", len(more) - 1)
        yield Change((*path, "inputs"), {**inputs, "artifacts": more}, (*at, "git"))


@kind
def two_artifacts_at_one_path(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        if "container" in template:
            inputs = template.get("inputs", {})
            two = [{"name": f"two-{n}", "path": "/the/same", "raw": {"data": "x"}} for n in (1, 2)]
            more = [*inputs.get("artifacts", ()), *two]
            at = (*path, "inputs", "artifacts", len(more) - 1, "path")
            yield Change((*path, "inputs"), {**inputs, "artifacts": more}, at)
