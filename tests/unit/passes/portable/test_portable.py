"""From Argo's words to every engine's: what is kept, what is said otherwise, what is a finding."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from couler_py.backends.argo import load
from couler_py.backends.argo.whole import merged, whole
from couler_py.ir.expr import (
    AllOf,
    Compare,
    Condition,
    FromJson,
    Input,
    Item,
    Literal,
    Not,
    OrElse,
    Raw,
    TaskOutput,
    Text,
    WorkflowParameter,
)
from couler_py.ir.model import (
    After,
    Argument,
    DependsAll,
    DependsAny,
    DependsOn,
    Document,
    Graph,
    Handler,
    Inputs,
    Parameter,
    Task,
    Workflow,
)
from couler_py.ir.types import ANY, ListOf
from couler_py.passes.portable import portable, rules
from couler_py.passes.portable.conditions import comparison
from couler_py.passes.portable.expressions import text_of, truth


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
    assert [task.after for task in found.values()] == [(), (), (After("a"), After("b"))]


def test_dependencies_are_edges() -> None:
    found = tasks(portable(document(dag({"name": "a"}, {"name": "b", "dependencies": ["a"]}), WAIT))[0])
    assert (found["b"].depends, found["b"].after) == (None, (After("a"),))


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
    model = document(dag({"name": "a", "when": "{{= sprig.upper(workflow.parameters.x) == 'YES' }}"}), WAIT)
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
    assert ([template.name for template in workflow.templates], findings) == (["main", "lib.t", "lib.wait"], ())
    assert tasks(workflow)["a"].call == "lib.t"


def test_inline_templates_get_names() -> None:
    inline = {"name": "a", "template": None, "inline": {"suspend": {"duration": "0"}}}
    workflow, _ = portable(document(dag(inline), WAIT))
    assert tasks(workflow)["a"].call == "main.a"
    assert [template.name for template in workflow.templates] == ["main", "main.a"]


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


# ---- edges as people write them


SAY = {
    "name": "say",
    "inputs": {"parameters": [{"name": "v"}]},
    "script": {"image": "x", "command": ["sh"], "source": "echo 1"},
}
SAYD = {**SAY, "name": "sayd", "inputs": {"parameters": [{"name": "v", "default": "d"}]}}


def read(name: str, template: str, producer: str, **more: Any) -> dict[str, Any]:
    """A task that is given what another printed."""
    value = "{{tasks." + producer + ".outputs.result}}"
    return {"name": name, "template": template, "arguments": {"parameters": [{"name": "v", "value": value}]}, **more}


def test_the_value_of_what_it_waits_for_is_the_edge() -> None:
    found = tasks(portable(document(dag({"name": "a", "template": "say"}, read("b", "say", "a", depends="a")), SAY))[0])
    assert (found["b"].depends, found["b"].after) == (None, ())


def test_a_value_of_a_task_further_back_is_an_edge_too() -> None:
    chain = ({"name": "a", "template": "say"}, {"name": "b", "depends": "a"}, read("c", "say", "a", depends="b"))
    found = tasks(portable(document(dag(*chain), WAIT, SAY))[0])
    assert (found["c"].depends, found["c"].after) == (None, (After("b"),))


def test_a_value_that_can_be_absent_keeps_its_tree() -> None:
    first = {"name": "a", "template": "say", "when": "{{= workflow.parameters.x == 'y' }}"}
    found = tasks(portable(document(dag(first, read("b", "say", "a", depends="a")), SAY))[0])
    assert found["b"].depends == DependsOn("a")


def test_the_default_of_who_reads_stands_in_for_an_absent_value() -> None:
    first = {"name": "a", "template": "say", "when": "{{= workflow.parameters.x == 'y' }}"}
    found = tasks(portable(document(dag(first, read("b", "sayd", "a", depends="a")), SAY, SAYD))[0])
    assert found["b"].depends is None
    assert found["b"].arguments[0].value == OrElse(TaskOutput("a", "result"), Literal("d"))


@pytest.mark.parametrize(
    ("depends", "kept"),
    [
        ("a && b", False),
        ("a.Succeeded && b", False),
        ("c", False),
        ("c.Succeeded", True),
        ("(c.Succeeded || c.Skipped)", False),
        ("a || b", True),
        ("!a.Failed", True),
        ("a.Succeeded || a.Failed || a.Errored", True),
        ("m.AnySucceeded", True),
    ],
)
def test_a_tree_is_kept_where_no_edge_says_the_same(depends: str, kept: bool) -> None:
    before = (
        {"name": "a"},
        {"name": "b"},
        {"name": "c", "when": "{{= workflow.parameters.x == 'y' }}"},
        {"name": "m", "withItems": [1, 2]},
    )
    found = tasks(portable(document(dag(*before, {"name": "d", "depends": depends}), WAIT))[0])
    assert (found["d"].depends is not None) == kept


def test_a_handler_that_nobody_waits_for_runs_on_failure() -> None:
    workflow, findings = portable(document(dag({"name": "a"}, {"name": "b", "depends": "a.Failed || a.Errored"}), WAIT))
    assert tasks(workflow)["b"].after == (After("a", "on_failure"),)
    assert [(each.code, each.severity) for each in findings] == [("CLR305", "warning")]


def test_a_handler_of_what_another_one_goes_through_still_never_runs() -> None:
    tree = DependsAll((DependsOn("a", "Failed"), DependsOn("b")))
    before = ({"name": "a", "template": "say"}, {"name": "b", "depends": "a"})
    model = document(dag(*before, read("c", "say", "a", depends="a.Failed && b")), WAIT, SAY)
    found = tasks(portable(model)[0])["c"]
    assert (found.depends, found.after) == (tree, ())


def test_a_handler_that_reads_how_it_ended_stays_one() -> None:
    told = {"name": "b", "template": "say", "depends": "a.Failed || a.Errored"}
    told["arguments"] = {"parameters": [{"name": "v", "value": "{{tasks.a.status}}"}]}
    assert tasks(portable(document(dag({"name": "a"}, told), WAIT, SAY))[0])["b"].after == (After("a", "on_failure"),)


def test_what_reads_a_task_that_may_have_failed_is_said() -> None:
    model = document(dag({"name": "a", "template": "say"}, read("b", "say", "a", depends="a.Failed")), SAY)
    assert "CLR308" in [code for code, _ in codes(model)]


# ---- lists, items, parameters, the beginning and the end


def test_an_output_that_is_read_as_items_is_a_list() -> None:
    each = {"name": "b", "depends": "a", "withParam": "{{tasks.a.outputs.result}}"}
    workflow, findings = portable(document(dag({"name": "a", "template": "many"}, each), WAIT, {**SAY, "name": "many"}))
    found = tasks(workflow)["b"].each
    assert found is not None
    assert found.items == TaskOutput("a", "result")
    outputs = {template.name: template.outputs.parameters for template in workflow.templates}
    assert [each.type for each in outputs["many"]] == [ListOf(ANY)]
    assert [each.code for each in findings] == ["CLR306"]


def test_items_are_texts() -> None:
    items = {"name": "a", "template": "say", "withItems": [1, True, "x"]}
    items["arguments"] = {"parameters": [{"name": "v", "value": "{{item}}"}]}
    task = tasks(portable(document(dag(items), SAY))[0])["a"]
    assert task.each is not None
    assert task.each.items == Literal(["1", "true", "x"])
    assert task.arguments[0].value == Item()


def test_parameters_are_plain() -> None:
    given = {"name": "a", "template": "sayd"}
    workflow, _ = portable(document(dag(given), SAYD, arguments={"parameters": [{"name": "x", "value": "1"}]}))
    assert workflow.parameters == (Parameter("x", default="1"),)
    assert workflow.templates[1].inputs.parameters == (Parameter("v", default="d"),)


def test_a_workflow_that_is_one_step_is_a_graph_of_it() -> None:
    workflow, _ = portable(document(SAYD, arguments={"parameters": [{"name": "v", "value": "1"}]}))
    assert workflow.entrypoint == "flow"
    assert tasks(workflow)["sayd"].arguments == (Argument("v", WorkflowParameter("v")),)


def test_inputs_of_the_entrypoint_are_parameters_of_the_run() -> None:
    main = dag(inputs={"parameters": [{"name": "x"}, {"name": "z", "default": "2"}]})
    arguments = {"parameters": [{"name": "v", "value": "{{inputs.parameters.x}}{{inputs.parameters.z}}"}]}
    main["dag"]["tasks"] = [{"name": "a", "template": "say", "arguments": arguments}]
    workflow, _ = portable(document(main, SAY, arguments={"parameters": [{"name": "x", "value": "1"}]}))
    assert workflow.templates[0].inputs == Inputs()
    assert tasks(workflow)["a"].arguments[0].value == Text((WorkflowParameter("x"), Literal("2")))


def test_the_handler_of_the_end_is_given_what_argo_gives_it() -> None:
    arguments = {"parameters": [{"name": "v", "value": "1"}]}
    workflow, _ = portable(document(dag({"name": "a"}), WAIT, SAYD, onExit="sayd", arguments=arguments))
    assert workflow.handlers == (Handler("on-exit", "sayd", arguments=(Argument("v", WorkflowParameter("v")),)),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("inputs.parameters.x == 'a'", Compare("==", Input("x"), Literal("a"))),
        (
            "tasks['a-b'].outputs.result != 'a' && !(true)",
            AllOf(
                (Compare("!=", OrElse(TaskOutput("a-b", "result"), Literal(None)), Literal("a")), Not(Literal(True)))
            ),
        ),
        ("workflow.parameters.x == 5", None),
        ("inputs.parameters.x", None),
        ("sprig.upper(inputs.parameters.x) == 'A'", None),
    ],
)
def test_expressions_of_texts_are_portable(text: str, expected: object) -> None:
    assert truth(Condition(Text((Raw("argo", text),)))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("inputs.parameters.x", Input("x")),
        ("tasks.a.outputs.result ?? 'd'", OrElse(TaskOutput("a", "result"), Literal("d"))),
        ("tasks.a.outputs.result", None),
        ("'{'", None),
        ("'a' + 'b'", None),
    ],
)
def test_expressions_that_give_a_text_are_portable(text: str, expected: object) -> None:
    assert text_of(Raw("argo", text)) == expected
