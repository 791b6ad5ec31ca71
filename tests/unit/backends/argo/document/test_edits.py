"""Changes through the IR: the written document differs from the read one in exactly the expected places.

What is expected is worked out on the documents' data, by searching its strings.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from couler_py.backends.argo.document import load, load_all, written
from couler_py.backends.argo.document.edits import (
    add_parameter,
    drop_task,
    rename_parameter,
    rename_task,
    rename_template,
    set_image,
)
from couler_py.backends.argo.document.natives import difference, same
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.model import Document
from tests.unit.backends.argo.document.examples import texts

JSON = dict[str, Any]
NEW = "renamed"


@pytest.fixture(scope="module")
def documents(reference_data: Path) -> list[tuple[str, Document]]:
    return [(name, each) for name, text in texts(reference_data).items() for each in load_all(text)]


def spec_of(data: JSON) -> JSON:
    found: JSON = data["spec"].get("workflowSpec", data["spec"]) if data["kind"] == "CronWorkflow" else data["spec"]
    return found


def templates(data: JSON) -> list[JSON]:
    return spec_of(data).get("templates") or []


def tasks_of(template: JSON) -> list[JSON]:
    return [*template.get("dag", {}).get("tasks", []), *(step for group in template.get("steps", []) for step in group)]


def in_strings(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: in_strings(item, change) for key, item in value.items()}
    return [in_strings(item, change) for item in value] if isinstance(value, list) else value


def references(*path: str) -> Callable[[str], str]:
    """A change of the last name of a path, in tags and in expressions."""
    *before, name = map(re.escape, path)
    start = "[.]".join(before)
    dotted = re.compile(rf"(?<![\w.])({start})(?:\.({name})(?![\w-])|\[(['\"]){name}\3\])")

    def changed(text: str) -> str:
        return dotted.sub(lambda m: f"{m[1]}.{NEW}" if m[2] else f"{m[1]}[{m[3]}{NEW}{m[3]}]", text)

    return changed


def check(document: Document, changed: Document, expected: JSON, name: str) -> None:
    data, diagnostics = written(changed)
    assert diagnostics == (), name
    assert [(each.pointer, each.was, each.value) for each in difference(expected, data)] == [], name


def graphs(document: Document) -> Iterator[tuple[int, JSON]]:
    for number, template in enumerate(templates(written(document)[0])):
        if tasks_of(template):
            yield number, template


# ---- tasks


def renamed_task(template: JSON, old: str) -> JSON:
    root = "tasks" if "dag" in template else "steps"
    found: JSON = in_strings(template, references(root, old))
    word = re.compile(rf"(?<![\w.-]){re.escape(old)}(?![\w-])")
    if "target" in found.get("dag", {}):
        found["dag"]["target"] = word.sub(NEW, found["dag"]["target"])
    for task in tasks_of(found):
        if task["name"] == old:
            task["name"] = NEW
        if "depends" in task:
            task["depends"] = word.sub(NEW, task["depends"])
        if "dependencies" in task:
            task["dependencies"] = [NEW if each == old else each for each in task["dependencies"]]
    return found


def test_every_task_of_the_examples_is_renamed_wherever_it_is_named(documents: list[tuple[str, Document]]) -> None:
    count = 0
    for name, document in documents:
        for number, template in graphs(document):
            for task in tasks_of(template):
                expected, _ = written(document)
                templates(expected)[number] = renamed_task(template, task["name"])
                check(document, rename_task(document, template["name"], task["name"], NEW), expected, name)
                count += 1
    assert count > 250


def dropped(template: JSON, task: str) -> JSON:
    found = copy.deepcopy(template)
    if "dag" in found:
        found["dag"]["tasks"] = [each for each in found["dag"]["tasks"] if each["name"] != task]
    else:
        groups = [[each for each in group if each["name"] != task] for group in found["steps"]]
        found["steps"] = [group for group in groups if group]
    for each in tasks_of(found):
        if "dependencies" in each:
            each["dependencies"] = [other for other in each["dependencies"] if other != task]
            if not each["dependencies"]:
                del each["dependencies"]
        if re.fullmatch(rf"{re.escape(task)}(\.\w+)?", each.get("depends", "")):
            del each["depends"]
    return found


def test_every_task_that_nobody_reads_is_dropped_with_the_edges_to_it(documents: list[tuple[str, Document]]) -> None:
    count = 0
    for name, document in documents:
        for number, template in graphs(document):
            root = "tasks" if "dag" in template else "steps"
            for task in [each["name"] for each in tasks_of(template)]:
                left = dropped(template, task)
                word = rf"(?<![\w.-]){re.escape(task)}(?![\w-])"
                in_trees = any(re.search(word, each.get("depends", "")) for each in tasks_of(left))
                read = in_strings(left, references(root, task)) != left
                if read or in_trees or not tasks_of(left) or task in left.get("dag", {}).get("target", "").split():
                    continue
                expected, _ = written(document)
                templates(expected)[number] = left
                check(document, drop_task(document, template["name"], task), expected, name)
                count += 1
    assert count > 120


DIAMOND = """\
apiVersion: argoproj.io/v1alpha1
kind: {kind}
metadata: {{name: w}}
spec:
  {start}
    entrypoint: main
    templates:
    - name: main
      dag:
        target: "a  d"
        tasks:
        - {{name: a, template: t, when: "{{{{ inputs.parameters.x }}}} == 1"}}
        - {{name: b, template: t, depends: "a&&c.Failed", continueOn: {{}}}}
        - {{name: c, template: t, depends: "!a || (b && a.Succeeded)"}}
        - {{name: d, template: t, dependencies: [a, b], withItems: [], arguments: {{}}}}
    - name: t
      suspend: {{}}
"""
SCHEDULED = DIAMOND.format(kind="CronWorkflow", start="workflowSpec:")
RUN = DIAMOND.format(kind="Workflow", start="hostNetwork: true").replace("    hostNetwork", "  hostNetwork")
RUN = RUN.replace("    entrypoint", "  entrypoint").replace("\n    ", "\n  ")


@pytest.mark.parametrize("text", [RUN, SCHEDULED])
def test_trees_of_dependencies_lose_the_leaf_and_natives_move_up_with_their_tasks(text: str) -> None:
    document = drop_task(load(text), "main", "a")
    data, diagnostics = written(document)
    dag = templates(data)[0]["dag"]
    assert dag["tasks"] == [
        {"name": "b", "template": "t", "depends": "c.Failed", "continueOn": {}},
        {"name": "c", "template": "t", "depends": "b"},
        {"name": "d", "template": "t", "dependencies": ["b"], "withItems": [], "arguments": {}},
    ]
    assert dag["target"] == "d"
    # What was only spelled in another way is spelled in ours where it changed, and that is said.
    assert [each.message.split(":")[0].rpartition("/")[2] for each in diagnostics] == ["target", "depends", "depends"]


@pytest.mark.parametrize("text", [RUN, SCHEDULED])
def test_a_renamed_task_is_renamed_in_what_only_natives_say(text: str) -> None:
    data, diagnostics = written(rename_task(load(text), "main", "a", "z"))
    dag = templates(data)[0]["dag"]
    assert diagnostics == ()
    assert dag["target"] == "z  d"
    assert [each.get("depends") for each in dag["tasks"]] == [None, "z&&c.Failed", "!z || (b && z.Succeeded)", None]
    assert dag["tasks"][3]["dependencies"] == ["z", "b"]


INLINE = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: w}
spec:
  templates:
  - name: main
    inputs: {parameters: [{name: x}]}
    steps:
    - - name: a
        arguments: {parameters: [{name: x, value: "{{ inputs.parameters.x }}"}]}
        inline:
          inputs: {parameters: [{name: x}]}
          container: {image: i, args: ["{{ inputs.parameters.x }}"]}
"""


def test_an_input_of_a_template_inside_a_task_is_another_in_what_only_natives_say_too() -> None:
    changed, diagnostics = written(rename_parameter(load(INLINE), "x", "y", template="main"))
    assert diagnostics == ()
    [main] = templates(changed)
    [[step]] = main["steps"]
    assert main["inputs"] == {"parameters": [{"name": "y"}]}
    assert step["arguments"]["parameters"] == [{"name": "x", "value": "{{ inputs.parameters.y }}"}]
    assert step["inline"]["container"]["args"] == ["{{ inputs.parameters.x }}"]


def test_natives_of_steps_move_up_with_their_groups() -> None:
    document = load(
        """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: w}
spec:
  templates:
  - name: main
    steps:
    - - {name: a, template: t}
    - - {name: b, template: t, arguments: {}}
      - {name: c, template: t, continueOn: {}}
"""
    )
    data, diagnostics = written(drop_task(drop_task(document, "main", "a"), "main", "b"))
    assert templates(data)[0]["steps"] == [[{"name": "c", "template": "t", "continueOn": {}}]]
    assert diagnostics == ()


# ---- templates and images


def test_every_template_of_the_examples_is_renamed_wherever_it_is_called(
    documents: list[tuple[str, Document]],
) -> None:
    count = 0
    for name, document in documents:
        for number, template in enumerate(document.workflow.templates):
            data, _ = written(document)
            own = data["metadata"].get("name") if "Template" in document.kind else None
            expected = called_otherwise(data, template.name, own)
            templates(expected)[number]["name"] = NEW
            check(document, rename_template(document, template.name, NEW), expected, name)
            count += 1
    assert count > 300


def called_otherwise(value: Any, old: str, own: str | None, key: str = "") -> Any:
    """The data with a template renamed in every call of it; `own` is what references call the document itself."""
    if isinstance(value, list):
        return [called_otherwise(item, old, own) for item in value]
    if not isinstance(value, dict):
        return NEW if value == old and key in ("template", "entrypoint", "onExit") else value
    if key == "templateRef" and value["name"] != own:
        return value
    return {name: called_otherwise(item, old, own, name) for name, item in value.items()}


def test_every_image_of_the_examples_is_changed_alone(documents: list[tuple[str, Document]]) -> None:
    count = 0
    for name, document in documents:
        for number, template in enumerate(templates(written(document)[0])):
            for body in ("container", "script"):
                if body in template:
                    expected, _ = written(document)
                    templates(expected)[number][body]["image"] = "other:1"
                    check(document, set_image(document, template["name"], "other:1"), expected, name)
                    count += 1
            for place, each in enumerate(template.get("containerSet", {}).get("containers", [])):
                expected, _ = written(document)
                templates(expected)[number]["containerSet"]["containers"][place]["image"] = "other:1"
                changed = set_image(document, template["name"], "other:1", container=each["name"])
                check(document, changed, expected, name)
                count += 1
    assert count > 180


# ---- parameters


def test_a_parameter_is_added_to_the_run_and_to_every_template(documents: list[tuple[str, Document]]) -> None:
    for name, document in documents:
        expected, _ = written(document)
        arguments = spec_of(expected).setdefault("arguments", {})
        arguments.setdefault("parameters", []).append({"name": NEW, "value": "5"})
        check(document, add_parameter(document, NEW, "5"), expected, name)
        for number, template in enumerate(document.workflow.templates):
            expected, _ = written(document)
            inputs = templates(expected)[number].setdefault("inputs", {})
            inputs.setdefault("parameters", []).append({"name": NEW})
            check(document, add_parameter(document, NEW, template=template.name), expected, name)


def renamed_input(data: JSON, number: int, old: str) -> None:
    """Rename the input of a template, in the data: in the template, and in the arguments of its calls."""
    template = templates(data)[number] = in_strings(templates(data)[number], references("inputs", "parameters", old))
    for each in template["inputs"]["parameters"]:
        each["name"] = NEW if each["name"] == old else each["name"]
    callers = [call for other in templates(data) for task in tasks_of(other) for call in calls(task)]
    for caller in [*callers, *spec_of(data).get("hooks", {}).values()]:
        if caller.get("template") == template["name"]:
            for each in caller.get("arguments", {}).get("parameters", []):
                each["name"] = NEW if each["name"] == old else each["name"]


def calls(task: JSON) -> Iterator[JSON]:
    yield task
    yield from task.get("hooks", {}).values()
    for inner in tasks_of(task.get("inline") or {}):
        yield from calls(inner)


def renamed_of_run(data: JSON, old: str) -> JSON:
    found: JSON = in_strings(data, references("workflow", "parameters", old))
    for each in spec_of(found)["arguments"]["parameters"]:
        each["name"] = NEW if each["name"] == old else each["name"]
    return found


def test_every_parameter_of_the_examples_is_renamed_wherever_it_is_used(
    documents: list[tuple[str, Document]],
) -> None:
    count = 0
    for name, document in documents:
        start = document.workflow.entrypoint
        of_run = [each.name for each in document.workflow.parameters]
        for number, template in enumerate(document.workflow.templates):
            for each in template.inputs.parameters:
                expected, _ = written(document)
                renamed_input(expected, number, each.name)
                if template.name == start and each.name in of_run:
                    expected = renamed_of_run(expected, each.name)
                changed = rename_parameter(document, each.name, NEW, template=template.name)
                check(document, changed, expected, name)
                count += 1
        for old in of_run:
            expected, _ = written(document)
            expected = renamed_of_run(expected, old)
            for number, template in enumerate(document.workflow.templates):
                if template.name == start and old in [each.name for each in template.inputs.parameters]:
                    renamed_input(expected, number, old)
            check(document, rename_parameter(document, old, NEW), expected, name)
            count += 1
    assert count > 140


# ---- what can't be done


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: rename_task(d, "main", "x", "y"), "the template 'main' has no task 'x'"),
        (lambda d: rename_task(d, "main", "a", "b"), "the template 'main' has a task already 'b'"),
        (lambda d: rename_task(d, "t", "a", "b"), "the template 't' has no tasks"),
        (lambda d: rename_task(d, "u", "a", "b"), "the document has no template 'u'"),
        (lambda d: rename_template(d, "t", "main"), "the document has a template already 'main'"),
        (lambda d: set_image(d, "t", "x"), "the template 't' has no image"),
        (lambda d: add_parameter(add_parameter(d, "p"), "p"), "the run has a parameter already 'p'"),
        (lambda d: rename_parameter(d, "p", "q"), "the run has no parameter 'p'"),
        (lambda d: rename_parameter(d, "p", "q", template="t"), "the template 't' has no input 'p'"),
    ],
)
def test_what_can_not_be_done_is_refused_in_words(change: Callable[[Document], Document], message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        change(load(RUN))
    assert [(each.code, each.message) for each in caught.value.diagnostics] == [("CLR496", message)]


def test_the_last_task_and_one_whose_outputs_are_read_are_not_dropped() -> None:
    text = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {name: w}
spec:
  templates:
  - name: main
    steps:
    - - {name: a, template: t}
    - - {name: b, template: t, when: "{{=steps.a.outputs.result == 'x'}}"}
"""
    with pytest.raises(DiagnosticError, match="'main' still reads what 'a' gives"):
        drop_task(load(text), "main", "a")
    with pytest.raises(DiagnosticError, match="'a' is the only task of 'main'"):
        drop_task(drop_task(load(text), "main", "b"), "main", "a")


def test_a_change_leaves_the_document_that_it_was_made_of_alone() -> None:
    document = load(RUN)
    before, _ = written(document)
    rename_task(document, "main", "a", "z")
    add_parameter(document, "p", template="t")
    assert same(written(document)[0], before)
