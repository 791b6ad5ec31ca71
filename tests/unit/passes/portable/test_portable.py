"""From Argo's words to every engine's: what is kept, what is said otherwise, what is a finding."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from couler_py.backends.argo import load
from couler_py.backends.argo.whole import merged, whole
from couler_py.ir.expr import Compare, Condition, FromJson, Input, Literal, Raw, TaskOutput, Text
from couler_py.ir.model import DependsAll, DependsAny, DependsOn, Document, Graph, Task, Workflow
from couler_py.passes.portable import portable, rules
from couler_py.passes.portable.conditions import comparison


def document(*templates: dict[str, Any], **spec: Any) -> Document:
    """A document with these templates, the first of which begins."""
    return load(
        yaml.safe_dump(
            {
                "apiVersion": "argoproj.io/v1alpha1",
                "kind": "Workflow",
                "metadata": {"name": "flow"},
                "spec": {"entrypoint": templates[0]["name"], "templates": list(templates), **spec},
            }
        )
    )


WAIT = {"name": "wait", "suspend": {"duration": "0"}}


def dag(*tasks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "main", "dag": {"tasks": [{"template": "wait", **task} for task in tasks]}, **more}


def steps(*groups: list[dict[str, Any]]) -> dict[str, Any]:
    return {"name": "main", "steps": [[{"template": "wait", **step} for step in group] for group in groups]}


def tasks(workflow: Workflow) -> dict[str, Task]:
    body = workflow.templates[0].body
    assert isinstance(body, Graph)
    return {task.name: task for task in body.tasks}


def codes(model: Document) -> list[tuple[str, str]]:
    return [(each.code, each.severity) for each in portable(model)[1]]


# ---- the dialect


def test_what_is_ours_stays_as_it_is() -> None:
    ours = Workflow("flow", "main", ())
    assert portable(ours) == (ours, ())
    assert portable(ours)[0] is ours


def test_what_was_translated_is_ours() -> None:
    once, findings = portable(document(steps([{"name": "a"}], [{"name": "b"}]), WAIT))
    assert (once.dialect, findings) == ("couler", ())
    assert portable(once) == (once, ())


def test_what_was_kept_in_argos_words_is_marked() -> None:
    kept, _ = portable(document(dag({"name": "a"}), WAIT), keep="argo")
    assert (kept.dialect, rules(kept)) == ("couler", "argo")
    assert rules(portable(document(dag({"name": "a"}), WAIT))[0]) == "couler"
    assert portable(kept, keep="argo") == (kept, ())


# ---- edges


def test_a_group_of_steps_waits_for_all_of_the_group_before() -> None:
    found = tasks(portable(document(steps([{"name": "a"}, {"name": "b"}], [{"name": "c"}]), WAIT))[0])
    assert [task.depends for task in found.values()] == [None, None, DependsAll((DependsOn("a"), DependsOn("b")))]


def test_dependencies_are_a_tree() -> None:
    found = tasks(portable(document(dag({"name": "a"}, {"name": "b", "dependencies": ["a"]}), WAIT))[0])
    assert (found["b"].depends, found["b"].after) == (DependsOn("a"), ())


def test_what_continue_on_forgives_is_among_the_states() -> None:
    first = {"name": "a", "continueOn": {"failed": True, "error": True}}
    found = tasks(portable(document(dag(first, {"name": "b", "dependencies": ["a"]}), WAIT))[0])
    assert found["b"].depends == DependsAny((DependsOn("a"), DependsOn("a", "Failed"), DependsOn("a", "Errored")))
    assert found["a"].continue_on == ()


def test_a_task_that_nobody_waits_for_keeps_its_continue_on() -> None:
    found = tasks(portable(document(dag({"name": "a", "continueOn": {"failed": True}}), WAIT))[0])
    assert found["a"].continue_on == ("failed",)


# ---- conditions and lists


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (Text((Input("x"), " == yes")), Compare("==", Input("x"), Literal("yes"))),
        (Text(("'", Input("x"), '\' != "no-1"')), Compare("!=", Input("x"), Literal("no-1"))),
        (Text(("yes == ", Input("x"))), Compare("==", Literal("yes"), Input("x"))),
        (Text((Input("x"), " == true")), None),
        (Text((Input("x"), " == 5")), None),
        (Text((Input("x"), " > yes")), None),
        (Text((Raw("argo", "1 == 1"),)), None),
        ("true", Literal(True)),
        ("2 > 3", Literal(False)),
        ("a b", None),
    ],
)
def test_comparisons_of_words_are_portable(text: str | Text, expected: object) -> None:
    assert comparison(Condition(text)) == expected


def test_a_condition_that_is_read_as_a_comparison_is_a_warning() -> None:
    model = document(dag({"name": "a", "when": "{{workflow.parameters.x}} == yes"}), WAIT)
    assert codes(model) == [("CLR303", "warning")]


def test_an_expression_of_argos_is_an_error_where_nobody_evaluates_it() -> None:
    model = document(dag({"name": "a", "when": "{{= workflow.parameters.x == 'yes' }}"}), WAIT)
    assert codes(model) == [("CLR302", "error")]
    assert portable(model, keep="argo")[1] == ()


def test_the_outputs_of_a_fan_out_are_a_list() -> None:
    reads = {"name": "b", "dependencies": ["a"], "withParam": "{{tasks.a.outputs.parameters.x}}"}
    model = document(dag({"name": "a", "withItems": [1, 2]}, reads), WAIT)
    workflow, findings = portable(model)
    each = tasks(workflow)["b"].each
    assert each is not None
    assert each.items == TaskOutput("a", "x")
    assert [each.code for each in findings] == ["CLR304"]


def test_other_lists_are_read_as_json() -> None:
    workflow, _ = portable(document(dag({"name": "a", "withParam": "{{workflow.parameters.x}}"}), WAIT))
    each = tasks(workflow)["a"].each
    assert each is not None
    assert isinstance(each.items, FromJson)


# ---- what has no meaning elsewhere


def test_words_that_only_argo_understands() -> None:
    body = {
        "name": "wait",
        "suspend": {"duration": "{{inputs.parameters.x}}"},
        "inputs": {"parameters": [{"name": "x"}]},
    }
    found = portable(document(dag({"name": "a"}), body))[1]
    assert [(each.code, each.step, each.message) for each in found] == [
        ("CLR301", "wait", "the suspend can't be said for another engine than Argo")
    ]


def test_words_about_pods_are_left_out_in_silence() -> None:
    assert codes(document(dag({"name": "a"}), {**WAIT, "affinity": {}, "securityContext": {"runAsUser": 1}})) == []


def test_templates_elsewhere_are_errors_without_their_document() -> None:
    task = {"name": "a", "template": None, "templateRef": {"name": "lib", "template": "t"}}
    assert codes(document(dag(task), WAIT)) == [("CLR300", "error")]
    assert codes(document(WAIT, workflowTemplateRef={"name": "lib"})) == [("CLR300", "error")]


def test_templates_of_other_documents_come_in_with_what_they_call() -> None:
    other = load(
        yaml.safe_dump(
            {
                "apiVersion": "argoproj.io/v1alpha1",
                "kind": "WorkflowTemplate",
                "metadata": {"name": "lib"},
                "spec": {"templates": [{"name": "t", "steps": [[{"name": "s", "template": "wait"}]]}, WAIT]},
            }
        )
    )
    task = {"name": "a", "template": None, "templateRef": {"name": "lib", "template": "t"}}
    workflow, findings = portable(document(dag(task), WAIT), others=[other])
    assert ([template.name for template in workflow.templates], findings) == (["main", "wait", "lib.t", "lib.wait"], ())
    assert tasks(workflow)["a"].call == "lib.t"


def test_inline_templates_get_names() -> None:
    inline = {"name": "a", "template": None, "inline": {"suspend": {"duration": "0"}}}
    workflow, _ = portable(document(dag(inline), WAIT))
    assert tasks(workflow)["a"].call == "main.a"
    assert [template.name for template in workflow.templates] == ["main", "wait", "main.a"]


def test_defaults_of_templates_are_merged_first() -> None:
    model = whole(document(dag({"name": "a"}), WAIT, templateDefaults={"parallelism": 3, "container": {"image": "x"}}))
    assert [template.parallelism for template in model.workflow.templates] == [3, 3]
    assert codes(model) == []


def test_lists_of_named_things_are_merged_by_name() -> None:
    base = {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}], "args": ["x"]}
    over = {"env": [{"name": "B", "value": "3"}], "args": ["y"]}
    assert merged(base, over) == {"env": [{"name": "B", "value": "3"}, {"name": "A", "value": "1"}], "args": ["y"]}


def test_each_list_is_merged_by_the_key_that_argo_merges_it_by() -> None:
    base = {"volumeDevices": [{"devicePath": "/dev/a", "name": "x"}], "tolerations": [{"key": "gpu", "value": "a"}]}
    over = {"volumeDevices": [{"devicePath": "/dev/b", "name": "x"}], "tolerations": [{"key": "gpu", "value": "b"}]}
    assert merged(base, over) == {
        "volumeDevices": [*over["volumeDevices"], *base["volumeDevices"]],
        "tolerations": over["tolerations"],
    }
    sets = ({"containers": [{"name": each, "image": each}]} for each in ("a", "b"))
    assert merged(*sets) == {"containers": [{"name": "b", "image": "b"}]}


# ---- results


def test_what_a_step_prints_is_an_output_where_somebody_reads_it() -> None:
    script = {"name": "say", "script": {"image": "x", "command": ["sh"], "source": "echo 1"}}
    quiet = {**script, "name": "quiet"}
    reads = {
        "name": "b",
        "depends": "a",
        "arguments": {"parameters": [{"name": "v", "value": "{{tasks.a.outputs.result}}"}]},
    }
    workflow, _ = portable(document(dag({"name": "a", "template": "say"}, reads), WAIT, script, quiet), keep="argo")
    outputs = {template.name: [each.name for each in template.outputs.parameters] for template in workflow.templates}
    assert outputs == {"main": [], "wait": [], "say": ["result"], "quiet": []}
