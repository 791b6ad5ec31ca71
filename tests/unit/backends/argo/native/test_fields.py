"""Every field of Argo's CRDs can be written, and has its row in docs/argo-fields.md."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
from couler_py import argo_native as argo
from couler_py.backends import yaml
from couler_py.backends.argo.schema import PLURALS, schema
from couler_py.backends.argo.schema.checking import task_schema, template_schema

JSON = dict[str, Any]
Path_ = tuple[str | int, ...]
BODIES = ("container", "script", "resource", "suspend", "http", "data", "containerSet", "plugin", "dag", "steps")
LEAVES = {"string": "x", "integer": 7, "number": 0.5, "boolean": True}


# ---- the fields, as the schema has them


def full(node: JSON, name: str = "") -> Any:
    """A value with every field that the schema has below a node, lists and maps with one member."""
    if name == "inline":
        return {"container": {"image": "x"}}
    if "enum" in node:
        return next(word for word in node["enum"] if word)
    kind = node.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if "properties" in node:
        return {field: full(child, field) for field, child in node["properties"].items()}
    if kind == "array":
        return [full(node["items"])]
    if kind == "object":
        return {"key": full(node["additionalProperties"])} if node.get("additionalProperties") else {"any": "x"}
    return LEAVES[kind] if kind else "x"


def leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Each leaf of a value, with where it stands."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from leaves(item, (*path, number))
    else:
        yield path, value


def at(value: Any, path: Path_) -> Any:
    for step in path:
        value = value[step]
    return value


def assert_written(given: Any, emitted: Any, place: Path_) -> int:
    """Every leaf of what was given stands in the emitted YAML, at its place. Gives their number."""
    found = list(leaves(given))
    for path, leaf in found:
        assert at(emitted, (*place, *path)) == leaf, (*place, *path)
    return len(found)


SPEC = schema("Workflow")["properties"]["spec"]["properties"]
CRON = schema("CronWorkflow")["properties"]["spec"]["properties"]
TEMPLATE = template_schema()["properties"]


def test_the_kinds_with_templates_have_one_spec() -> None:
    """So what is proved of a Workflow holds for the others, and for what a CronWorkflow runs."""
    specs = [schema(kind)["properties"]["spec"]["properties"] for kind in PLURALS if kind != "CronWorkflow"]
    assert specs[0] == specs[1] == specs[2] == CRON["workflowSpec"]["properties"]


# ---- through the native surface


@pytest.mark.parametrize("kind", [argo.Workflow, argo.WorkflowTemplate, argo.ClusterWorkflowTemplate])
def test_every_field_of_a_spec_is_written_by_its_name(kind: Any) -> None:
    given = {field: full(node) for field, node in SPEC.items()}
    written = kind("w", **given)
    [document] = yaml.load_all(written.yaml())
    assert assert_written(given, document, ("spec",)) > 4000


def test_every_field_of_a_cron_workflow_is_written_by_its_name() -> None:
    given = {field: full(node) for field, node in CRON.items()}
    [document] = yaml.load_all(argo.CronWorkflow("w", **given).yaml())
    assert assert_written(given, document, ("spec",)) > 4000


@pytest.mark.parametrize("field", ["namespace", "labels", "annotations", "generateName"])
def test_what_a_person_writes_into_metadata_is_an_argument(field: str) -> None:
    given = {"key": "x"} if field in ("labels", "annotations") else "x"
    [document] = yaml.load_all(argo.Workflow(**{field: given}).yaml())  # type: ignore[arg-type]
    assert document["metadata"] == {field: given}


@pytest.mark.parametrize("body", BODIES)
def test_every_field_of_a_template_and_its_body_is_written_by_its_name(body: str) -> None:
    inner = TEMPLATE[body].get("properties", {}) if body != "steps" else {}
    beside = {name: full(node) for name, node in TEMPLATE.items() if name not in (*BODIES, "name")}
    flat = {name: full(node) for name, node in inner.items() if name not in TEMPLATE and name != "tasks"}
    both = {name: full(node) for name, node in inner.items() if name in TEMPLATE}
    if body == "plugin":
        both = {"any": "x"}
    function = getattr(argo, "container_set" if body == "containerSet" else body)
    with argo.Workflow("w") as w:
        function("t", **beside, **flat, **({body: both} if both else {}))
    [document] = yaml.load_all(w.yaml())
    place = ("spec", "templates", 0)
    assert_written(beside, document, place)
    assert_written(flat | both, document, (*place, body))


def test_every_field_of_a_raw_template_is_written_by_its_name() -> None:
    given = {name: full(node) for name, node in TEMPLATE.items() if name != "name"}
    with argo.Workflow("w") as w:
        argo.template("t", **given)
    [document] = yaml.load_all(w.yaml())
    assert assert_written(given, document, ("spec", "templates", 0)) > 1000


@pytest.mark.parametrize("form", ["dag", "steps"])
def test_every_field_of_a_task_is_written_by_its_name(form: str) -> None:
    given = {name: full(node, name) for name, node in task_schema(form)["properties"].items() if name != "name"}
    with argo.Workflow("w") as w, getattr(argo, form)("main"):
        argo.task("t", **given)
    [document] = yaml.load_all(w.yaml())
    inside = ("dag", "tasks", 0) if form == "dag" else ("steps", 0, 0)
    assert assert_written(given, document, ("spec", "templates", 0, *inside)) > 50


# ---- through argo=


@couler.step
def one() -> int:
    return 1


def compiled(workflow: Any) -> JSON:
    document = yaml.load_all(couler.compile(workflow, crds="minimal").text)[-1]
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize("field", sorted(set(SPEC) - {"entrypoint", "templates"}))
def test_every_field_of_a_spec_is_written_by_argo(field: str) -> None:
    given = full(SPEC[field])

    @couler.workflow(argo={field: given})
    def main() -> None:
        one()

    assert assert_written(given, compiled(main), ("spec", field))


def test_a_template_of_a_spec_is_written_by_argo() -> None:
    given = {"name": "other", **{name: full(node) for name, node in TEMPLATE.items() if name != "name"}}

    @couler.workflow(argo={"templates": [given]})
    def main() -> None:
        one()

    templates = compiled(main)["spec"]["templates"]
    number = [each["name"] for each in templates].index("other")
    assert assert_written(given, templates, (number,)) > 1000


@pytest.mark.parametrize("field", ["stopStrategy", "when"])
def test_what_only_a_cron_workflow_has_is_written_by_argo(field: str) -> None:
    given = full(CRON[field])

    @couler.workflow(schedule="0 3 * * *", argo={field: given})
    def main() -> None:
        one()

    assert assert_written(given, compiled(main), ("spec", field))


@pytest.mark.parametrize("field", sorted(set(TEMPLATE) - {"name", *BODIES} | {"container"}))
def test_every_field_of_a_template_is_written_by_argo(field: str) -> None:
    given = full(TEMPLATE[field])
    if field == "container":  # what the step says itself is said once
        given = {name: item for name, item in given.items() if name not in ("image", "command", "args")}
    step = couler.container("x", ["true"], name="t", argo={field: given})

    @couler.workflow
    def main() -> None:
        step()

    templates = {each["name"]: each for each in compiled(main)["spec"]["templates"]}
    assert assert_written(given, templates["t"], (field,))


@pytest.mark.parametrize("field", sorted(set(task_schema("dag")["properties"]) - {"name", "template", "templateRef"}))
def test_every_field_of_a_task_is_written_by_argo(field: str) -> None:
    given = full(task_schema("dag")["properties"][field], field)

    @couler.workflow
    def main() -> None:
        one.argo_task(**{field: given})()

    [main_template] = [each for each in compiled(main)["spec"]["templates"] if each["name"] == "main"]
    assert assert_written(given, main_template, ("dag", "tasks", 0, field))


# ---- the page


@pytest.fixture(scope="module")
def page(checkout: Path) -> str:
    return (checkout / "docs" / "argo-fields.md").read_text(encoding="utf-8")


def rows(page: str) -> dict[str, dict[str, str]]:
    """By section: the fields that have a row, each with its type."""
    found: dict[str, dict[str, str]] = {}
    section = ""
    for line in page.splitlines():
        if head := re.search(r'<a id="([^"]+)">', line):
            section = head[1]
            found[section] = {}
        elif row := re.match(r"\| `([^`]+)`(?: \(required\))? \| ([^|]*) \|", line):
            found[section][row[1]] = row[2]
    return found


def objects(node: JSON) -> JSON | None:
    """The object that a field holds, in lists or maps too."""
    while step := node.get("items") or node.get("additionalProperties"):
        node = step
    return node if "properties" in node else None


def test_every_field_of_the_crds_has_its_row(page: str) -> None:
    known = rows(page)
    seen: set[tuple[str, str]] = set()
    missing: list[str] = []

    def look(node: JSON, section: str, path: str) -> None:
        for field, child in node["properties"].items():
            shown = known.get(section, {}).get(field)
            if shown is None:
                missing.append(f"{path}.{field}")
                continue
            inner = objects(child)
            if inner is None:
                continue
            link = re.search(r"\]\(#([^)]+)\)", shown)
            if link is None:
                missing.append(f"what {path}.{field} holds")
            elif (link[1], repr(inner)) not in seen:
                seen.add((link[1], repr(inner)))
                look(inner, link[1], f"{path}.{field}")

    for kind in PLURALS:
        section = "type-cronworkflowspec" if kind == "CronWorkflow" else "type-workflowspec"
        look(schema(kind)["properties"]["spec"], section, f"{kind}.spec")
    assert missing == []
    assert len(seen) > 150


def test_the_page_is_what_the_tool_makes(page: str, checkout: Path) -> None:
    assert page == runpy.run_path(str(checkout / "tools" / "fields.py"))["page"]()


WORKFLOW_OPTIONS: dict[str, dict[str, Any]] = {
    "activeDeadlineSeconds": {"deadline": 60},
    "dnsConfig": {"dns": couler.Dns(nameservers=("1.1.1.1",))},
    "dnsPolicy": {"dns": couler.Dns("ClusterFirst")},
    "hostNetwork": {"host_network": True},
    "imagePullSecrets": {"image_pull_secrets": ["registry"]},
    "nodeSelector": {"node_selector": {"disk": "ssd"}},
    "parallelism": {"parallelism": 2},
    "podGC": {"pod_gc": "OnPodSuccess"},
    "podMetadata": {"pod_labels": {"a": "b"}, "pod_annotations": {"c": "d"}},
    "podPriorityClassName": {"priority_class": "high"},
    "priority": {"priority": 3},
    "schedulerName": {"scheduler": "volcano"},
    "serviceAccountName": {"service_account": "runner"},
    "synchronization": {"mutex": "m", "semaphore": ("s", 2)},
    "tolerations": {"tolerations": [couler.Toleration("gpu", "Exists")]},
    "ttlStrategy": {"ttl": 60},
    "volumeClaimTemplates": {"volumes": [couler.VolumeClaim("work", "1Gi")]},
    "volumes": {"volumes": [couler.empty_dir("scratch")]},
}
CRON_OPTIONS: dict[str, dict[str, Any]] = {
    "concurrencyPolicy": {"concurrency": "Forbid"},
    "failedJobsHistoryLimit": {"keep_failed": 1},
    "schedules": {"schedule": "0 4 * * *"},
    "startingDeadlineSeconds": {"starting_deadline": 60},
    "successfulJobsHistoryLimit": {"keep_succeeded": 1},
    "suspend": {"suspended": True},
    "timezone": {"timezone": "Europe/Berlin"},
    "workflowMetadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
}
STEP_OPTIONS: dict[str, dict[str, Any]] = {
    "activeDeadlineSeconds": {"timeout": 60},
    "initContainers": {"init_containers": [couler.Container("busybox")]},
    "memoize": {"cache": couler.cache(key="k")},
    "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
    "name": {"name": "t"},
    "nodeSelector": {"node_selector": {"disk": "ssd"}},
    "podSpecPatch": {"pod_patch": "{}"},
    "priorityClassName": {"priority_class": "high"},
    "retryStrategy": {"retries": 2},
    "schedulerName": {"scheduler": "volcano"},
    "serviceAccountName": {"service_account": "runner"},
    "sidecars": {"sidecars": [couler.Container("nginx")]},
    "synchronization": {"mutex": "m", "semaphore": ("s", 2)},
    "timeout": {"deadline": 60},
    "tolerations": {"tolerations": [couler.Toleration("gpu", "Exists")]},
    "volumes": {"volumes": {"/scratch": couler.empty_dir("scratch")}},
}


def said(checkout: Path, type_: str, function: str) -> dict[str, set[str]]:
    """The options of a decorator that the page names, by the field that they are for."""
    ours = runpy.run_path(str(checkout / "tools" / "fields.py"))["OURS"][type_]
    found = {}
    for field, text in ours.items():
        if call := re.search(rf"@couler\.{function}\((.*?)\)?`", text):
            found[field] = set(re.findall(r"(\w+)=", call[1]))
    return {field: options for field, options in found.items() if options}


def test_each_option_of_a_workflow_that_the_page_names_writes_its_field(checkout: Path) -> None:
    named = said(checkout, "WorkflowSpec", "workflow")
    assert named == {field: set(options) for field, options in WORKFLOW_OPTIONS.items()}
    for field, options in WORKFLOW_OPTIONS.items():

        @couler.workflow(**options)
        def main() -> None:
            one()

        assert compiled(main)["spec"].get(field), field


def test_each_option_of_a_schedule_that_the_page_names_writes_its_field(checkout: Path) -> None:
    named = said(checkout, "CronWorkflowSpec", "workflow")
    assert named == {field: set(options) for field, options in CRON_OPTIONS.items()}
    for field, options in CRON_OPTIONS.items():

        @couler.workflow(**({"schedule": "0 3 * * *"} | options))
        def main() -> None:
            one()

        assert compiled(main)["spec"].get(field), field


def test_each_option_of_a_step_that_the_page_names_writes_its_field(checkout: Path) -> None:
    named = said(checkout, "Template", "step")
    assert named == {field: set(options) for field, options in STEP_OPTIONS.items()}
    for field, options in STEP_OPTIONS.items():
        step = couler.container("x", ["true"], **({"name": "t"} | options))

        @couler.workflow
        def main() -> None:
            step()  # noqa: B023  called while the workflow is defined

        templates = {each["name"]: each for each in compiled(main)["spec"]["templates"]}
        assert templates["t"].get(field), field
