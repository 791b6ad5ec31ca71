"""Mistakes against the schema of the documents: unknown fields, wrong types, what can't stand together."""

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
    misspelt,
    spec_of,
    spec_path,
    tasks,
    templates,
)


def _renamed(path: Path, data: JSON, key: str) -> Change:
    """The mapping at `path` with one of its keys misspelt, found at the misspelt key."""
    wrong = misspelt(key)
    return Change(path, {wrong if each == key else each: value for each, value in data.items()}, (*path, wrong))


@kind
def misspelt_field_of_a_template(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        for key in template:
            if len(key) > 3:
                yield _renamed(path, template, key)


@kind
def misspelt_field_of_a_call(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        for key in call:
            if len(key) > 3:
                yield _renamed(path, call, key)


@kind
def misspelt_field_of_a_container(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        for what in ("container", "script"):
            for key in template.get(what, {}):
                if len(key) > 2:
                    yield _renamed((*path, what), template[what], key)


@kind
def misspelt_field_of_the_spec(document: JSON) -> Iterator[Change]:
    for key in spec_of(document):
        yield _renamed(spec_path(document), spec_of(document), key)


@kind
def text_for_a_mapping(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        for key in ("container", "script", "inputs", "outputs", "dag", "resource"):
            if key in template:
                yield Change((*path, key), "text")


@kind
def text_for_a_list(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        for what in ("container", "script"):
            for key in ("command", "args", "env", "volumeMounts"):
                if key in template.get(what, {}):
                    yield Change((*path, what, key), "one text")


@kind
def number_for_text(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        for what in ("container", "script"):
            if "image" in template.get(what, {}):
                yield Change((*path, what, "image"), 3)


@kind
def list_for_a_mapping(document: JSON) -> Iterator[Change]:
    for path, call in calls(document):
        if "arguments" in call:
            yield Change((*path, "arguments"), [])


@kind
def text_for_a_truth(document: JSON) -> Iterator[Change]:
    for path, _ in templates(document):
        yield Change((*path, "daemon"), "yes")


@kind
def wrong_api_version(document: JSON) -> Iterator[Change]:
    yield Change(("apiVersion",), "argoproj.io/v1")


@kind
def parameter_without_a_name(document: JSON) -> Iterator[Change]:
    for path, template in called_templates(document):
        for at, _ in items(template, path, "inputs", "parameters"):
            yield Change((*at, "name"), MISSING, at)


@kind
def two_kinds_of_template(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        for key in ("container", "script", "steps", "dag", "resource"):
            if key in template:
                yield Change((*path, "suspend"), {})


@kind
def unknown_policy(document: JSON) -> Iterator[Change]:
    yield Change(
        (*spec_path(document), "podGC"), {"strategy": "OnPodDone"}, (*spec_path(document), "podGC", "strategy")
    )
    for path, _ in leaves(document):
        yield Change((*path, "retryStrategy"), {"retryPolicy": "Sometimes"}, (*path, "retryStrategy", "retryPolicy"))


@kind
def unknown_action(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        if "resource" in template:
            yield Change((*path, "resource", "action"), "destroy")


@kind
def deadline_of_a_graph(document: JSON) -> Iterator[Change]:
    for path, _ in graphs(document):
        yield Change((*path, "activeDeadlineSeconds"), 10)


@kind
def timeout_of_a_graph(document: JSON) -> Iterator[Change]:
    for path, _ in graphs(document):
        yield Change((*path, "timeout"), "10s")


@kind
def depends_beside_dependencies(document: JSON) -> Iterator[Change]:
    for path, task, _ in tasks(document):
        if task.get("dependencies"):
            yield Change((*path, "depends"), task["dependencies"][0], (*path, "dependencies"))


@kind
def continue_on_beside_depends(document: JSON) -> Iterator[Change]:
    for path, task, _ in tasks(document):
        if task.get("depends"):
            yield Change((*path, "continueOn"), {"failed": True})


@kind
def two_places_of_an_artifact(document: JSON) -> Iterator[Change]:
    two: dict[str, Any] = {"raw": {"data": "x"}, "http": {"url": "https://example.com/x"}}
    for path, template in templates(document):
        for at, artifact in items(template, path, "inputs", "artifacts"):
            yield Change(at, {"name": artifact["name"], "path": artifact.get("path", "/x"), **two}, (*at, "http"))


@kind
def variable_twice(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        for what in ("container", "script"):
            for at, variable in items(template, path, what, "env"):
                count = len(template[what]["env"])
                yield Change((*at[:-1], count), variable, (*at[:-1], count, "name"))


@kind
def quantity_with_a_wrong_unit(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        for what in ("container", "script"):
            if template.get(what):
                at = (*path, what, "resources", "limits", "memory")
                yield Change((*path, what, "resources"), {"limits": {"memory": "32MB"}}, at)


@kind
def field_of_argo_3(document: JSON) -> Iterator[Change]:
    for path, _ in leaves(document):
        at = (*path, "synchronization")
        yield Change(at, {"mutex": {"name": "m"}}, (*at, "mutex"))
    if document["kind"] == "CronWorkflow":
        yield Change(("spec", "schedule"), "* * * * *")


@kind
def too_many_templates(document: JSON) -> Iterator[Change]:
    for path, _ in list(leaves(document))[:1]:
        found = spec_of(document)["templates"]
        more = [{"name": f"more-{index}", "suspend": {}} for index in range(201)]
        yield Change(path[:-1], [*found, *more], (*path[:-1], 200))
