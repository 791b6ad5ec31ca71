"""What both servers let through and the controller fails on: conditions, items, groups, manifests, hooks, schedules."""

from __future__ import annotations

import pytest

from tests.unit.backends.argo.lint.rules.cases import Case, check

STEPS = "templates:\n- name: main\n  steps: {}"


def _step(text: str) -> str:
    return STEPS.format(f"[[{{name: a, template: none, {text}}}]]")


def _echo(text: str, value: str) -> str:
    return STEPS.format(
        f"[[{{name: a, template: echo, arguments: {{parameters: [{{name: x, value: '{value}'}}]}}, {text}}}]]"
    )


def _retry(text: str) -> str:
    return f"templates:\n- {{name: main, container: {{image: a}}, retryStrategy: {{limit: 2, expression: {text}}}}}"


def _manifest(text: str, action: str = "create") -> str:
    return f"templates:\n- {{name: main, resource: {{action: {action}, manifest: ‸'{text}'}}}}"


def _cron(text: str) -> str:
    return f"{text}\nschedules: ['@daily']\nworkflowSpec:\n  entrypoint: m\n  templates: [{{name: m, suspend: {{}}}}]"


def _leaf(text: str) -> str:
    return f"templates:\n- {{name: main, container: {{image: a, args: ['{text}']}}}}"


CASES = {
    "a plugin of two names": Case(
        "CLR442", "the plugin of the template 'main' has 2 names", "templates:\n- {name: main, ‸plugin: {a: {}, b: {}}}"
    ),
    "a condition that is a text": Case(
        "CLR471",
        "the condition of the step 'a' is neither true nor false: 'yes' is no condition: its value is yes",
        _step("when: ‸'yes'"),
    ),
    "a condition that compares a text with a number": Case(
        "CLR471",
        "the condition of the step 'a' is neither true nor false: '>' has no meaning for a and 3",
        _step("""when: ‸"'a' > 3" """),
    ),
    "an item that has no keys": Case(
        "CLR465",
        "item 0 of the step 'a' has no 'k', which the call reads",
        _echo("withItems: [‸1, {k: 2}]", "{{item.k}}"),
    ),
    "a key of items as a text": Case(
        "CLR465",
        "item 1 of the step 'a' has no 'q', which the call reads",
        _echo("""withParam: ‸'[{"q": 1}, {"k": 1}]'""", "{{item.q}}"),
    ),
    "items that only Python reads": Case(
        "CLR465",
        "the `withParam` of the step 'a' isn't JSON: NaN is no JSON",
        _step("withParam: ‸'[NaN]'"),
    ),
    "a format that breaks JSON": Case(
        "CLR465",
        "the `format` of the `withSequence` of the step 'a' is '%q'",
        _step("withSequence: {count: 2, format: ‸'%q'}"),
    ),
    "a format with two places": Case(
        "CLR465",
        "the `format` of the `withSequence` of the step 'a' is '%d-%d'",
        _step("withSequence: {count: 2, format: ‸'%d-%d'}"),
        severity="warning",
    ),
    "an artifact without braces": Case(
        "CLR459",
        "'steps.b.outputs.artifacts.f' isn't one artifact",
        STEPS.format("[[{name: b, template: give}]]")
        + "\n  outputs: {artifacts: [{name: f, from: ‸steps.b.outputs.artifacts.f}]}",
    ),
    "a value as the output of a graph": Case(
        "CLR458",
        "the output 'q' of the template 'main' can't have a `value`",
        STEPS.format("[[{name: b, template: none}]]") + "\n  outputs: {parameters: [{name: q, ‸value: x}]}",
    ),
    "an exit handler of a step that isn't there": Case(
        "CLR441", "the exit handler 'nobody' of the step 'a' is none of the templates", _step("onExit: ‸nobody")
    ),
    "an exit handler of a step with an input": Case(
        "CLR453",
        "the exit handler of the step 'a' doesn't supply the input 'x' of the template 'echo'",
        _step("onExit: ‸echo"),
    ),
    "a hook that is a text": Case(
        "CLR473",
        "the expression of a hook is neither true nor false",
        _step("hooks: {h: {template: none, expression: ‸steps.a.status}}"),
    ),
    "a hook that reads its own step by a tag": Case(
        "CLR469",
        "{{steps.a.status}} isn't filled in here",
        _step("""hooks: {h: {template: none, expression: ‸'{{steps.a.status}} == "Failed"'}}"""),
    ),
    "a retry that is a text": Case(
        "CLR476",
        "the expression of a `retryStrategy` is neither true nor false",
        _retry("‸lastRetry.exitCode"),
    ),
    "a retry that compares a text with a number": Case(
        "CLR476",
        "the expression can't be evaluated: '>' has no meaning for a string and a int",
        _retry("‸lastRetry.exitCode > 1"),
    ),
    "a retry with a tag": Case(
        "CLR469", "{{lastRetry.exitCode}} isn't filled in here", _retry("‸'{{lastRetry.exitCode}} == 1'")
    ),
    "a retry of all templates": Case(
        "CLR469",
        "the expression can't be read: expected a value, not the end",
        "templateDefaults: {retryStrategy: {limit: 1, expression: 'a +‸'}}\ntemplates:\n- {name: main, suspend: {}}",
    ),
    "an object without a kind": Case(
        "CLR481", "the manifest of the template 'main' has no `kind`", _manifest("{apiVersion: v1}")
    ),
    "an object without a name": Case(
        "CLR481",
        "the manifest of the template 'main' has no `metadata.name`",
        _manifest("{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-}}", "apply"),
    ),
    "two objects": Case(
        "CLR481",
        "the manifest of the template 'main' holds several documents",
        "templates:\n- name: main\n  resource:\n    action: create\n    manifest: ‸|\n"
        "      {apiVersion: v1, kind: A, metadata: {name: a}}\n      ---\n"
        "      {apiVersion: v1, kind: A, metadata: {name: b}}",
    ),
    "an expression that stays, with signs that JSON escapes": Case(
        "CLR467",
        "the template 'main' has no 'inputs.parameters.zz'",
        _leaf("{{=‸inputs.parameters.zz < 3}}"),
    ),
    "an expression that stays": Case(
        "CLR468",
        "the template 'main' has no 'inputs.parameters.zz'",
        _leaf("{{=‸inputs.parameters.zz}}"),
        severity="warning",
    ),
    "a schedule that waits for nothing": Case(
        "CLR470",
        "'cronworkflow.nonsense' isn't known when Argo decides whether to start a run",
        _cron("when: '{{= ‸cronworkflow.nonsense > 3 }}'"),
        kind="CronWorkflow",
    ),
    "a schedule that asks a workflow": Case(
        "CLR470",
        "'workflow.status' isn't known when Argo decides whether to start a run",
        _cron("when: \"'‸{{workflow.status}}' == 'x'\""),
        kind="CronWorkflow",
    ),
    "a schedule that never ends": Case(
        "CLR478",
        "the expression of `stopStrategy` is neither true nor false",
        _cron("stopStrategy: {expression: ‸cronworkflow.failed + 3}"),
        kind="CronWorkflow",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_mistake_is_found_where_it_stands(case: Case) -> None:
    check(case)


SOUND = {
    "an empty group at the end": Case("", "", STEPS.format("[[{name: a, template: none}], []]")),
    "an exit handler with the workflow's arguments": Case(
        "", "", "arguments: {parameters: [{name: x, value: '1'}]}\n" + _step("onExit: echo")
    ),
    "a hook that reads an input by a tag": Case(
        "",
        "",
        STEPS.format(
            """[[{name: a, template: none, hooks: {h: {template: none, expression: "'{{workflow.name}}' == 'a'"}}}]]"""
        ),
    ),
    "a retry by a number": Case("", "", _retry("asInt(lastRetry.exitCode) > 1 && lastRetry.status != 'Error'")),
    "a retry by a message": Case("", "", _retry("fromJSON(lastRetry.message).code == 3")),
    "a list of objects": Case("", "", _manifest("{apiVersion: v1, kind: List, items: []}").replace("‸", "")),
    "a manifest by a tag": Case(
        "", "", "arguments: {parameters: [{name: m}]}\n" + _manifest("{{workflow.parameters.m}}").replace("‸", "")
    ),
    "a schedule that looks back": Case(
        "",
        "",
        _cron(
            "when: '{{= cronworkflow.lastScheduledTime == nil || (now() - cronworkflow.lastScheduledTime).Hours() > 3"
            " }} && {{cronworkflow.failed}} < 3'\nstopStrategy: {expression: cronworkflow.failed >= 3}"
        ),
        kind="CronWorkflow",
    ),
}


@pytest.mark.parametrize("case", SOUND.values(), ids=SOUND.keys())
def test_what_a_run_takes_is_no_finding(case: Case) -> None:
    assert [each.message for each in case.findings] == []
