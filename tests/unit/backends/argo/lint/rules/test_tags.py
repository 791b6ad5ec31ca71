"""Tags and expressions use names that are known where they stand."""

from __future__ import annotations

import pytest

from tests.unit.backends.argo.lint.rules.cases import Case, check

CASES = {
    "an input that is not declared": Case(
        "CLR467",
        "the template 'main' has no 'inputs.parameters.ctiy'",
        """
        templates:
        - {name: main, inputs: {parameters: [{name: city, default: a}]}, container: {image: a,
            args: [‸'{{inputs.parameters.ctiy}}']}}
        """,
    ),
    "a parameter that is not there": Case(
        "CLR467",
        "there is no 'workflow.parameters.town'",
        """
        arguments: {parameters: [{name: city, value: a}]}
        templates:
        - {name: main, container: {image: a, args: ['x ‸{{workflow.parameters.town}}']}}
        """,
    ),
    "a label that is not there": Case(
        "CLR467",
        "there is no 'workflow.labels.team'",
        """
        templates:
        - {name: main, container: {image: a, args: [‸'{{workflow.labels.team}}']}}
        """,
    ),
    "failures before the end": Case(
        "CLR467",
        "'workflow.failures' is known only in the exit handler",
        """
        onExit: none
        templates:
        - {name: main, container: {image: a, args: [‸'{{workflow.failures}}']}}
        """,
    ),
    "an output of nobody": Case(
        "CLR467",
        "the step 'a' has no 'outputs.parameters.q'",
        """
        templates:
        - {name: main, steps: [[{name: a, template: give}], [{name: b, template: echo,
            arguments: {parameters: [{name: x, value: ‸'{{steps.a.outputs.parameters.q}}'}]}}]]}
        """,
    ),
    "a step that is not there": Case(
        "CLR467",
        "the template 'main' has no step 'aa'",
        """
        templates:
        - {name: main, steps: [[{name: a, template: give}], [{name: b, template: echo,
            arguments: {parameters: [{name: x, value: ‸'{{steps.aa.id}}'}]}}]]}
        """,
    ),
    "tasks in steps": Case(
        "CLR467",
        "the template 'main' has no tasks: 'tasks.a.id' can't be read",
        """
        templates:
        - {name: main, steps: [[{name: a, template: give}], [{name: b, template: echo,
            arguments: {parameters: [{name: x, value: ‸'{{tasks.a.id}}'}]}}]]}
        """,
    ),
    "steps in a container": Case(
        "CLR467",
        "the template 'main' has no steps: 'steps.a.id' can't be read",
        """
        templates:
        - {name: main, container: {image: a, args: [‸'{{steps.a.id}}']}}
        """,
    ),
    "a global output before it is there": Case(
        "CLR467",
        "'workflow.outputs.parameters.late' isn't known here",
        """
        templates:
        - {name: main, steps: [[{name: a, template: echo, arguments: {parameters: [{name: x,
            value: ‸'{{workflow.outputs.parameters.late}}'}]}}], [{name: b, template: late}]]}
        - {name: late, container: {image: a}, outputs: {parameters: [{name: p, globalName: late,
            valueFrom: {path: /p}}]}}
        """,
    ),
    "the name of a pod in a graph": Case(
        "CLR467",
        "the template 'main' has no 'pod.name'",
        """
        templates:
        - {name: main, steps: [[{name: a, template: echo, arguments: {parameters: [{name: x,
            value: ‸'{{pod.name}}'}]}}]]}
        """,
    ),
    "a key that items do not have": Case(
        "CLR467",
        "the items of the step 'a' have no 'sise'",
        """
        templates:
        - {name: main, steps: [[{name: a, template: echo, withItems: [{size: 1}],
            arguments: {parameters: [{name: x, value: ‸'{{item.sise}}'}]}}]]}
        """,
    ),
    "an item in a container": Case(
        "CLR467",
        "{{item.size}} stands outside of a loop",
        """
        templates:
        - {name: main, container: {image: a, args: [‸'{{item.size}}']}}
        """,
    ),
    "a tag in a tag": Case(
        "CLR467",
        "a tag inside a tag",
        """
        templates:
        - {name: main, container: {image: a, args: [‸'{{workflow.labels.{{workflow.name}}}}']}}
        """,
    ),
    "anything in a loop": Case(
        "CLR467",
        "nothing fills in {{.Values.x}}",
        """
        templates:
        - {name: main, steps: [[{name: a, template: echo, withItems: [1], arguments: {parameters: [{name: x,
            value: ‸'{{.Values.x}}'}]}}]]}
        """,
    ),
    "an item outside of a loop": Case(
        "CLR468",
        "{{item}} stands outside of a loop",
        """
        templates:
        - {name: main, container: {image: a, args: [‸'{{item}}']}}
        """,
        severity="warning",
    ),
    "retries without a strategy": Case(
        "CLR468",
        "{{retries}} isn't filled in: the template 'main' is never tried again",
        """
        templates:
        - {name: main, container: {image: a, args: [‸'{{retries}}']}}
        """,
        severity="warning",
    ),
    "a misspelt beginning": Case(
        "CLR468",
        "nothing fills in {{input.parameters.x}}",
        """
        templates:
        - {name: main, container: {image: a, args: [‸'{{input.parameters.x}}']}}
        """,
        severity="warning",
    ),
    "an own output that is not declared": Case(
        "CLR468",
        "the template 'main' has no 'outputs.artifacts.f.path'",
        """
        templates:
        - {name: main, container: {image: a, args: [‸'{{outputs.artifacts.f.path}}']}}
        """,
        severity="warning",
    ),
    "an expression that stops": Case(
        "CLR469",
        "the expression can't be read: expected a value, not the end",
        """
        templates:
        - {name: main, container: {image: a, args: ['{{= 1 + ‸}}']}}
        """,
    ),
    "an output by a broken expression": Case(
        "CLR469",
        "the expression can't be read: unexpected name 'b'",
        """
        templates:
        - {name: main, steps: [[{name: a, template: give}]], outputs: {parameters: [{name: o,
            valueFrom: {expression: a ‸b}}]}}
        """,
    ),
    "a hyphen behind a dot": Case(
        "CLR470",
        "'a-b' is read as a subtraction",
        """
        templates:
        - {name: main, steps: [[{name: a-b, template: give}], [{name: c, template: echo,
            arguments: {parameters: [{name: x, value: '{{= ‸steps.a-b.outputs.result }}'}]}}]]}
        """,
    ),
    "a function that there is not": Case(
        "CLR470",
        "there is no function 'sprig.trimm'",
        """
        templates:
        - {name: main, steps: [[{name: a, template: give}]], outputs: {parameters: [{name: o,
            valueFrom: {expression: ‸sprig.trimm('a')}}]}}
        """,
    ),
    "a name unknown to a retry": Case(
        "CLR470",
        "'lastTry.exitCode' isn't known when Argo decides on another attempt",
        """
        templates:
        - {name: main, retryStrategy: {limit: 1, expression: ‸lastTry.exitCode == '1'}, container: {image: a}}
        """,
    ),
    "a task that an expression does not wait for": Case(
        "CLR464",
        "the task 'b' reads the task 'a' and doesn't wait for it",
        """
        templates:
        - {name: main, dag: {tasks: [{name: a, template: give}, {name: b, template: echo,
            arguments: {parameters: [{name: x, value: '{{= ‸tasks.a.id }}'}]}}]}}
        """,
    ),
    "an input unknown to an expression": Case(
        "CLR468",
        "the template 'main' has no 'inputs.parameters.b'",
        """
        templates:
        - {name: main, inputs: {parameters: [{name: a, default: b}]}, container: {image: a,
            args: ['{{= ‸inputs.parameters.b }}']}}
        """,
        severity="warning",
    ),
    "a tag that is never closed": Case(
        "CLR487",
        "a tag that is never closed",
        """
        templates:
        - {name: main, steps: [[{name: a, template: echo, arguments: {parameters: [{name: x,
            value: 'a ‸{{workflow.name'}]}}]]}
        """,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_mistake_is_found_where_it_stands(case: Case) -> None:
    check(case)
