"""Mistakes in names: illegal, too long, twice, missing, or of something that isn't there."""

from __future__ import annotations

from collections.abc import Iterator

from tests.strategies.mutations import (
    JSON,
    MISSING,
    Change,
    called_templates,
    calls,
    calls_of,
    graphs,
    items,
    kind,
    leaves,
    misspelt,
    spec_of,
    spec_path,
    tasks,
    templates,
)

_LIBRARIES = ("WorkflowTemplate", "ClusterWorkflowTemplate")


@kind
def illegal_name_of_a_template(document: JSON) -> Iterator[Change]:
    for path, _ in templates(document):
        yield Change((*path, "name"), "a_b")


@kind
def long_name_of_a_template(document: JSON) -> Iterator[Change]:
    for path, _ in templates(document):
        yield Change((*path, "name"), "a" * 129)


@kind
def illegal_name_of_a_call(document: JSON) -> Iterator[Change]:
    for path, _ in calls(document):
        yield Change((*path, "name"), "a b")


@kind
def illegal_name_of_a_parameter(document: JSON) -> Iterator[Change]:
    for path, template in called_templates(document):
        for at, _ in items(template, path, "inputs", "parameters"):
            yield Change((*at, "name"), "a b")


@kind
def illegal_name_of_an_artifact(document: JSON) -> Iterator[Change]:
    for path, template in called_templates(document):
        for at, _ in items(template, path, "outputs", "artifacts"):
            yield Change((*at, "name"), "a.b")


@kind
def illegal_name_of_the_object(document: JSON) -> Iterator[Change]:
    yield Change(("metadata", "name"), "My_Workflow")


@kind
def long_name_of_the_object(document: JSON) -> Iterator[Change]:
    yield Change(("metadata", "name"), "a" * 64)


@kind
def illegal_label(document: JSON) -> Iterator[Change]:
    labels = document["metadata"].get("labels", {})
    yield Change(("metadata", "labels"), {**labels, "team": "not a label"}, ("metadata", "labels", "team"))


@kind
def template_twice(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        count = len(spec_of(document)["templates"])
        yield Change((*path[:-1], count), template, (*path[:-1], count, "name"))


@kind
def step_twice(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        if template.get("steps"):
            count = len(template["steps"])
            again = template["steps"][0]
            yield Change((*path, "steps", count), again, (*path, "steps", count, 0, "name"))


@kind
def task_twice(document: JSON) -> Iterator[Change]:
    for path, task, everyone in tasks(document):
        again = (*path[:-1], len(everyone))
        yield Change(again, task, (*again, "name"))


@kind
def input_twice(document: JSON) -> Iterator[Change]:
    for path, template in called_templates(document):
        for at, each in items(template, path, "inputs", "parameters"):
            count = (*at[:-1], len(template["inputs"]["parameters"]))
            yield Change(count, each, (*count, "name"))


@kind
def output_twice(document: JSON) -> Iterator[Change]:
    for path, template in called_templates(document):
        for what in ("parameters", "artifacts"):
            for at, each in items(template, path, "outputs", what):
                count = (*at[:-1], len(template["outputs"][what]))
                yield Change(count, each, (*count, "name"))


@kind
def argument_twice(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        for at, each in items(call, path, "arguments", "parameters"):
            count = (*at[:-1], len(call["arguments"]["parameters"]))
            yield Change(count, each, (*count, "name"))


@kind
def template_without_a_name(document: JSON) -> Iterator[Change]:
    for path, _ in templates(document):
        yield Change((*path, "name"), MISSING, path)


@kind
def no_entrypoint(document: JSON) -> Iterator[Change]:
    if document["kind"] not in _LIBRARIES and "workflowTemplateRef" not in spec_of(document):
        yield Change((*spec_path(document), "entrypoint"), MISSING, spec_path(document))


@kind
def undefined_entrypoint(document: JSON) -> Iterator[Change]:
    if "entrypoint" in spec_of(document):
        yield Change((*spec_path(document), "entrypoint"), "nowhere-at-all")


@kind
def undefined_exit_handler(document: JSON) -> Iterator[Change]:
    yield Change((*spec_path(document), "onExit"), "nowhere-at-all")


@kind
def undefined_template_of_a_call(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if "template" in call:
            yield Change((*path, "template"), misspelt(call["template"]) + "-not")


@kind
def call_of_nothing(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if "template" in call:
            yield Change((*path, "template"), MISSING, path)


@kind
def template_beside_a_reference(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if "template" in call:
            yield Change((*path, "templateRef"), {"name": "some", "template": "one"})


@kind
def reference_without_a_template(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if "templateRef" in call:
            yield Change((*path, "templateRef", "template"), MISSING, (*path, "templateRef"))


@kind
def undefined_template_of_a_reference(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if "templateRef" in call and "{{" not in str(call["templateRef"]):
            yield Change((*path, "templateRef", "template"), "nowhere-at-all")


@kind
def undefined_template_of_a_hook(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        for name, hook in call.get("hooks", {}).items():
            if "template" in hook:
                yield Change((*path, "hooks", name, "template"), "nowhere-at-all")
    if document["kind"] == "Workflow" and "workflowTemplateRef" not in spec_of(document):
        hooks = {"exit": {"template": "nowhere-at-all"}}
        yield Change((*spec_path(document), "hooks"), hooks, (*spec_path(document), "hooks", "exit", "template"))


@kind
def hook_without_an_expression(document: JSON) -> Iterator[Change]:
    for path, template in leaves(document):
        if not template.get("inputs"):
            hooks = {"running": {"template": template["name"]}}
            yield Change((*path[:-2], "hooks"), hooks, (*path[:-2], "hooks", "running"))


@kind
def templates_beside_a_reference(document: JSON) -> Iterator[Change]:
    if "workflowTemplateRef" in spec_of(document):
        at = (*spec_path(document), "templates")
        yield Change(at, [{"name": "own", "suspend": {}}])


@kind
def template_that_is_nothing(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        for what in ("container", "script", "dag", "steps", "suspend", "resource"):
            if what in template:
                yield Change((*path, what), MISSING, path)


@kind
def reserved_name_of_a_task(document: JSON) -> Iterator[Change]:
    for path, template in graphs(document):
        awaited = {name for _, call in calls_of(path, template) for name in call.get("dependencies", ())}
        if "dag" not in template or "{{tasks" in str(template):
            continue
        everyone = template["dag"]["tasks"]
        for index, task in enumerate(everyone):
            if task["name"] not in awaited:
                continue
            renamed = [
                {
                    **each,
                    "name": "matches" if each is task else each["name"],
                    **(
                        {"dependencies": ["matches" if d == task["name"] else d for d in each["dependencies"]]}
                        if "dependencies" in each
                        else {}
                    ),
                }
                for each in everyone
            ]
            yield Change((*path, "dag", "tasks"), renamed, (*path, "dag", "tasks", index, "name"))
