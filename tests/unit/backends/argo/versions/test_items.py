"""Loops in the words of Argo 3.5, which knows nothing but the item when it expands one."""

from __future__ import annotations

from typing import Any

import pytest

from couler_py.backends.argo.versions import lowered

MIXED = "{{=item + inputs.parameters.end}}"


def looping(value: str, *, kind: str = "dag", **call: Any) -> dict[str, Any]:
    """A workflow whose template `all` loops over items with the one argument `x`, and gives out what it gathers."""
    arguments = {"parameters": [{"name": "x", "value": value}]}
    one = {"name": "m", "template": "one", "withItems": ["a", "b"], "arguments": arguments, **call}
    body: dict[str, Any] = {"dag": {"tasks": [one]}} if kind == "dag" else {"steps": [[one]]}
    gathered = {
        "name": "r",
        "valueFrom": {"parameter": "{{" + ("tasks" if kind == "dag" else "steps") + ".m.outputs.parameters.r}}"},
    }
    every = {"name": "all", "inputs": {"parameters": [{"name": "end"}]}, "outputs": {"parameters": [gathered]}, **body}
    return {"kind": "Workflow", "spec": {"templates": [every, {"name": "one", "suspend": {}}]}}


def templates(document: dict[str, Any]) -> dict[str, Any]:
    [made], found = lowered([document], "3.5")
    assert found == []
    return {each["name"]: each for each in made["spec"]["templates"]}


@pytest.mark.parametrize("kind", ["dag", "steps"])
def test_an_expression_over_an_item_and_more_moves_into_a_template_around_the_item(kind: str) -> None:
    made = templates(looping(MIXED, kind=kind))
    assert list(made) == ["all", "all-m-one", "one"]
    call = made["all"]["dag"]["tasks"][0] if kind == "dag" else made["all"]["steps"][0][0]
    assert call["template"] == "all-m-one"
    assert call["withItems"] == ["a", "b"]
    assert call["arguments"]["parameters"] == [
        {"name": "couler-item", "value": "{{=item}}"},
        {"name": "end", "value": "{{=inputs.parameters.end}}"},
    ]
    around = made["all-m-one"]
    assert around["inputs"] == {"parameters": [{"name": "couler-item"}, {"name": "end"}]}
    assert around["dag"]["tasks"] == [
        {
            "name": "run",
            "template": "one",
            "arguments": {
                "parameters": [
                    {"name": "x", "value": "{{=inputs.parameters['couler-item'] + inputs.parameters.end}}"},
                ]
            },
        }
    ]
    assert around["outputs"] == {
        "parameters": [{"name": "r", "valueFrom": {"parameter": "{{tasks.run.outputs.parameters.r}}"}}]
    }


def test_the_other_arguments_and_files_go_through() -> None:
    document = looping(MIXED)
    arguments = document["spec"]["templates"][0]["dag"]["tasks"][0]["arguments"]
    arguments["parameters"].append({"name": "end", "value": "{{item}}"})
    arguments["artifacts"] = [{"name": "f", "from": "{{inputs.artifacts.g}}", "optional": True}]
    made = templates(document)
    call, around = made["all"]["dag"]["tasks"][0], made["all-m-one"]
    assert call["arguments"]["parameters"][-1] == {"name": "end-of-one", "value": "{{item}}"}
    assert call["arguments"]["artifacts"] == arguments["artifacts"]
    assert around["inputs"]["artifacts"] == [{"name": "f", "optional": True}]
    inside = around["dag"]["tasks"][0]["arguments"]
    assert inside["parameters"][-1] == {"name": "end", "value": "{{=inputs.parameters['end-of-one']}}"}
    assert inside["artifacts"] == [{"name": "f", "from": "{{inputs.artifacts.f}}", "optional": True}]


def test_only_what_an_expression_reads_is_handed_in() -> None:
    made = templates(looping("{{=item.a.b + string(map(['x'], .item)) + inputs.parameters['end'] + 'inputs.x'}}"))
    assert made["all-m-one"]["inputs"] == {"parameters": [{"name": "couler-item-a-b"}, {"name": "end"}]}
    [inside] = made["all-m-one"]["dag"]["tasks"][0]["arguments"]["parameters"]
    assert inside["value"] == (
        "{{=inputs.parameters['couler-item-a-b'] + string(map(['x'], .item)) + inputs.parameters['end'] + 'inputs.x'}}"
    )


def test_a_member_of_an_item_is_an_input_of_its_own() -> None:
    made = templates(looping("{{=item.name + workflow.name + item['of it'] + 'item.x'}}"))
    assert made["all"]["dag"]["tasks"][0]["arguments"]["parameters"] == [
        {"name": "couler-item-name", "value": "{{=item.name}}"},
        {"name": "couler-item-of it", "value": "{{=item['of it']}}"},
    ]
    [inside] = made["all-m-one"]["dag"]["tasks"][0]["arguments"]["parameters"]
    assert inside["value"] == (
        "{{=inputs.parameters['couler-item-name'] + workflow.name + inputs.parameters['couler-item-of it'] + 'item.x'}}"
    )


@pytest.mark.parametrize(
    "value",
    [
        "{{item}}-{{inputs.parameters.end}}",
        "{{=toJson(item)}}",
        "{{=inputs.parameters.item}}",
        "{{='item' + workflow.name}}",
    ],
)
def test_what_reads_only_the_item_or_no_item_stays(value: str) -> None:
    document = looping(value)
    assert lowered([document], "3.5") == ([document], [])


@pytest.mark.parametrize(
    ("value", "call", "what"),
    [("{{=item + tasks.a.outputs.result}}", {}, "x"), ("1", {"when": "{{=item == inputs.parameters.end}}"}, "when")],
)
def test_what_no_template_around_the_item_can_know_is_refused(value: str, call: dict[str, str], what: str) -> None:
    document = looping(value, **call)
    made, found = lowered([document], "3.5")
    assert made == [document]
    assert [(each.code, each.step, each.message) for each in found] == [
        ("CLR415", "all", f"{what} of m is an expression over its item and something else")
    ]


@pytest.mark.parametrize(
    ("template", "call"),
    [
        ({"name": None}, {}),
        ({}, {"arguments": {"parameters": [{"value": MIXED}]}}),
        ({}, {"arguments": {"parameters": [None, {"name": "x", "value": MIXED}]}}),
        ({}, {"arguments": {"parameters": [{"name": "x", "value": MIXED}], "artifacts": [{"from": "{{item}}"}]}}),
        ({"metadata": None}, {"arguments": None}),
    ],
)
def test_what_no_argo_takes_stays_as_it_is(template: dict[str, Any], call: dict[str, Any]) -> None:
    document = looping("x", **call)
    every = document["spec"]["templates"][0]
    every |= template
    document["spec"]["templates"][0] = {key: value for key, value in every.items() if key != "name" or value}
    assert lowered([document], "3.5") == ([document], [])
