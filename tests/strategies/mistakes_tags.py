"""Mistakes between braces: names that aren't known where they stand, and expressions that can't be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.strategies.mutations import (
    JSON,
    Change,
    Path,
    called_templates,
    calls,
    calls_of,
    graphs,
    items,
    kind,
    leaves,
    templates,
)

_LIBRARIES = ("WorkflowTemplate", "ClusterWorkflowTemplate")


def _strings(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _strings(inner, (*path, key))


def _replaced(document: JSON, wanted: str, other: str) -> Iterator[Change]:
    """Every string of a leaf or a call in which a tag begins so, with another name in its place."""
    for path, template in called_templates(document):
        parts = [(path, template)] if "dag" not in template and "steps" not in template else calls_of(path, template)
        for at, part in parts:
            for where, text in _strings({key: each for key, each in part.items() if key != "inputs"}, at):
                if re.search(wanted, text):
                    yield Change(where, re.sub(wanted, other, text, count=1))


@kind
def unknown_input(document: JSON) -> Iterator[Change]:
    yield from _replaced(document, r"\{\{inputs\.parameters\.[^}]+\}\}", "{{inputs.parameters.nobody-knows}}")


@kind
def unknown_artifact_path(document: JSON) -> Iterator[Change]:
    yield from _replaced(document, r"\{\{inputs\.artifacts\.[^}]+\.path\}\}", "{{inputs.artifacts.nobody-knows.path}}")


@kind
def unknown_parameter_of_the_workflow(document: JSON) -> Iterator[Change]:
    if document["kind"] not in _LIBRARIES:
        yield from _replaced(document, r"\{\{workflow\.parameters\.[^}]+\}\}", "{{workflow.parameters.nobody-knows}}")


@kind
def unknown_name_of_the_workflow(document: JSON) -> Iterator[Change]:
    for path, template in leaves(document):
        if "container" in template:
            yield Change((*path, "container", "args"), ["{{workflow.nam}}"], (*path, "container", "args", 0))


@kind
def unknown_label(document: JSON) -> Iterator[Change]:
    for path, template in leaves(document):
        if "container" in template:
            text = "{{workflow.labels.nobody-knows}}"
            yield Change((*path, "container", "args"), [text], (*path, "container", "args", 0))


@kind
def failures_before_the_end(document: JSON) -> Iterator[Change]:
    for path, template in called_templates(document):
        if "container" in template and document["kind"] == "Workflow":
            yield Change((*path, "container", "args"), ["{{workflow.failures}}"], (*path, "container", "args", 0))


@kind
def unknown_call(document: JSON) -> Iterator[Change]:
    yield from _replaced(document, r"\{\{(steps|tasks)\.[^.}]+\.outputs", r"{{\1.nobody-knows.outputs")


@kind
def unknown_output(document: JSON) -> Iterator[Change]:
    wanted = r"\{\{(steps|tasks)\.([^.}]+)\.outputs\.(parameters|artifacts)\.[^}]+\}\}"
    yield from _replaced(document, wanted, r"{{\1.\2.outputs.\3.nobody-knows}}")


@kind
def tasks_for_steps(document: JSON) -> Iterator[Change]:
    wanted, other = r"\{\{steps\.", "{{tasks."
    yield from _replaced(document, wanted, other)


@kind
def calls_in_a_leaf(document: JSON) -> Iterator[Change]:
    for path, template in leaves(document):
        if "container" in template:
            text = "{{steps.a.outputs.result}}"
            yield Change((*path, "container", "args"), [text], (*path, "container", "args", 0))


@kind
def step_that_reads_a_later_one(document: JSON) -> Iterator[Change]:
    for path, template in graphs(document):
        if len(template.get("steps", ())) > 1:
            for index, step in enumerate(template["steps"][0]):
                last = template["steps"][-1][0]["name"]
                at = (*path, "steps", 0, index)
                value = {"parameters": [{"name": "late", "value": "{{steps." + last + ".id}}"}]}
                if "arguments" not in step:
                    yield Change((*at, "arguments"), value, (*at, "arguments", "parameters", 0, "value"))


@kind
def step_that_reads_one_beside_it(document: JSON) -> Iterator[Change]:
    for path, template in graphs(document):
        for index, group in enumerate(template.get("steps", ())):
            for inner, step in enumerate(group[1:], 1):
                for at, _ in items(step, (*path, "steps", index, inner), "arguments", "parameters"):
                    yield Change((*at, "value"), "{{steps." + group[0]["name"] + ".id}}")


@kind
def condition_with_an_unknown_name(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if "when" not in call and "hooks" not in call:
            yield Change((*path, "when"), "{{= inputs.parameters.nobody == '1' }}")


@kind
def task_that_reads_one_it_does_not_wait_for(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if ("dependencies" in call or "depends" in call) and "{{tasks." in str(call.get("arguments")):
            for at, each in items(call, path, "arguments", "parameters"):
                if str(each.get("value", "")).startswith("{{tasks."):
                    free = {key: value for key, value in call.items() if key not in ("dependencies", "depends", "when")}
                    if "{{tasks." in str({**free, "arguments": None}):
                        continue
                    yield Change(path, free, (*at, "value"))
                    break


@kind
def task_that_reads_one_beside_it(document: JSON) -> Iterator[Change]:
    """In the middle of a text: the server looks only at its beginning."""
    for path, template in graphs(document):
        everyone = template.get("dag", {}).get("tasks", ())
        for index, task in enumerate(everyone):
            others = [each for each in everyone if each is not task]
            if others and not task.get("dependencies") and not task.get("depends"):
                for at, _ in items(task, (*path, "dag", "tasks", index), "arguments", "parameters"):
                    yield Change((*at, "value"), "id {{tasks." + others[-1]["name"] + ".id}}")


@kind
def item_outside_of_a_loop(document: JSON) -> Iterator[Change]:
    for path, template in leaves(document):
        if "container" in template:
            yield Change((*path, "container", "args"), ["{{item.size}}"], (*path, "container", "args", 0))


@kind
def pod_name_in_a_graph(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        for at, _ in items(call, path, "arguments", "parameters"):
            yield Change((*at, "value"), "{{pod.name}}")


@kind
def tag_inside_a_tag(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        for at, _ in items(call, path, "arguments", "parameters"):
            yield Change((*at, "value"), "{{workflow.labels.{{workflow.name}}}}")


@kind
def tag_without_an_end(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if not call.keys() & {"hooks", "inline", "templateRef"}:
            for at, _ in items(call, path, "arguments", "parameters"):
                yield Change((*at, "value"), "{{workflow.name")


@kind
def unknown_tag_in_a_loop(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if call.get("withItems"):
            for at, _ in items(call, path, "arguments", "parameters"):
                yield Change((*at, "value"), "{{nobody-knows}}")


@kind
def expression_without_an_operand(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        for at, _ in items(call, path, "arguments", "parameters"):
            yield Change((*at, "value"), "{{= workflow.name + }}")


@kind
def name_with_a_hyphen_behind_a_dot(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        for at, _ in items(call, path, "arguments", "parameters"):
            root = "tasks" if "dag" in path else "steps"
            yield Change((*at, "value"), "{{= " + root + ".some-task.outputs.result }}")


@kind
def output_by_a_broken_expression(document: JSON) -> Iterator[Change]:
    for path, _ in graphs(document):
        outputs = {"parameters": [{"name": "x", "valueFrom": {"expression": "1 +"}}]}
        yield Change((*path, "outputs"), outputs, (*path, "outputs", "parameters", 0, "valueFrom", "expression"))


@kind
def output_by_an_unknown_name(document: JSON) -> Iterator[Change]:
    for path, template in graphs(document):
        root = "tasks" if "dag" in template else "steps"
        text = f"{root}['nobody-knows'].outputs.result"
        outputs = {"parameters": [{"name": "x", "valueFrom": {"expression": text}}]}
        yield Change((*path, "outputs"), outputs, (*path, "outputs", "parameters", 0, "valueFrom", "expression"))


@kind
def unknown_function(document: JSON) -> Iterator[Change]:
    for path, _ in graphs(document):
        outputs = {"parameters": [{"name": "x", "valueFrom": {"expression": "capitalize('a')"}}]}
        yield Change((*path, "outputs"), outputs, (*path, "outputs", "parameters", 0, "valueFrom", "expression"))


@kind
def unknown_name_in_a_retry(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        if "container" in template:
            at = (*path, "retryStrategy")
            yield Change(at, {"limit": 2, "expression": "lastTry.exitCode == '1'"}, (*at, "expression"))


@kind
def hook_of_a_loop_that_reads_it(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if call.get("withItems") and "hooks" not in call and "template" in call:
            root = "tasks" if "dag" in path else "steps"
            value = "{{" + f"{root}.{call['name']}.status" + "}}"
            given = {"parameters": [{"name": "x", "value": value}]}
            at = (*path, "hooks", "exit", "arguments", "parameters", 0, "value")
            yield Change((*path, "hooks"), {"exit": {"template": call["template"], "arguments": given}}, at)


@kind
def inline_template_of_a_loop_with_inputs(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if call.get("withItems") and "template" in call and call.get("arguments", {}).get("parameters"):
            name = call["arguments"]["parameters"][0]["name"] + "-own"
            arguments = {"parameters": [{"name": name, "value": "1"}]}
            container = {"image": "busybox", "args": ["{{inputs.parameters." + name + "}}"]}
            inline = {"inputs": {"parameters": [{"name": name}]}, "container": container}
            rest = {key: value for key, value in call.items() if key not in ("template", "arguments", "when")}
            at = (*path, "inline", "container", "args", 0)
            yield Change(path, {**rest, "arguments": arguments, "inline": inline}, at)


@kind
def unknown_task_behind_a_default(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        for at, _ in items(call, path, "arguments", "parameters"):
            root = "tasks" if "dag" in path else "steps"
            yield Change((*at, "value"), "{{= " + root + "['nobody'].outputs.parameters.x ?? 'd' }}")
