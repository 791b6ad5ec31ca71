"""Arguments, inputs and outputs have sources that they can have."""

from __future__ import annotations

import pytest

from tests.unit.backends.argo.lint.rules.cases import Case, check

CASES = {
    "an argument without a value": Case(
        "CLR450",
        "the parameter 'x' of the step 'a' has no value",
        """
        templates:
        - {name: main, steps: [[{name: a, template: echo, arguments: {parameters: [‸{name: x, default: y}]}}]]}
        """,
    ),
    "an argument from a file": Case(
        "CLR451",
        "the parameter 'x' of the step 'a' can't have its value from `path`",
        """
        templates:
        - {name: main, steps: [[{name: a, template: echo, arguments: {parameters: [{name: x,
            valueFrom: {‸path: /x}}]}}]]}
        """,
    ),
    "an argument from a default alone": Case(
        "CLR451",
        "the parameter 'x' of the workflow can't have its value from `nothing`",
        """
        arguments: {parameters: [{name: x, ‸valueFrom: {default: y}}]}
        templates:
        - {name: main, container: {image: a}}
        """,
    ),
    "a value outside of its enum": Case(
        "CLR452",
        "the value of the parameter 'x' of the workflow is none of its `enum`",
        """
        arguments: {parameters: [{name: x, value: ‸c, enum: [a, b]}]}
        templates:
        - {name: main, container: {image: a}}
        """,
    ),
    "a value outside of the enum of an input": Case(
        "CLR452",
        "the step 'a' gives 'c' for 'x', whose `enum` doesn't have it",
        """
        templates:
        - {name: main, steps: [[{name: a, template: t, arguments: {parameters: [{name: x, value: ‸c}]}}]]}
        - {name: t, inputs: {parameters: [{name: x, enum: [a, b]}]}, container: {image: a}}
        """,
        severity="warning",
    ),
    "an input that a step forgets": Case(
        "CLR453",
        "the step 'a' doesn't supply the input 'x' of the template 'echo'",
        """
        templates:
        - {name: main, steps: [[‸{name: a, template: echo}]]}
        """,
    ),
    "an input that a hook forgets": Case(
        "CLR453",
        "the hook 'exit' of the workflow doesn't supply the input 'x' of the template 'echo'",
        """
        hooks:
          ‸exit: {template: echo}
        templates:
        - {name: main, container: {image: a}}
        """,
    ),
    "an artifact that a step forgets": Case(
        "CLR453",
        "the step 'a' doesn't supply the artifact 'f' of the template 't'",
        """
        templates:
        - {name: main, steps: [[‸{name: a, template: t}]]}
        - {name: t, inputs: {artifacts: [{name: f, path: /f}]}, container: {image: a}}
        """,
    ),
    "an input of the entrypoint": Case(
        "CLR453",
        "the entrypoint doesn't supply the input 'x' of the template 'main'",
        """
        entrypoint: ‸main
        templates:
        - {name: main, inputs: {parameters: [{name: x}]}, container: {image: a}}
        """,
    ),
    "an argument without a value for the entrypoint": Case(
        "CLR453",
        "the input 'x' of the template 'main', the entrypoint, needs a value",
        """
        entrypoint: ‸main
        arguments: {parameters: [{name: x}]}
        templates:
        - {name: main, inputs: {parameters: [{name: x, default: y}]}, container: {image: a}}
        """,
    ),
    "an argument that nobody takes": Case(
        "CLR454",
        "the template 'none' has no input parameter 'x', which the step 'a' gives",
        """
        templates:
        - {name: main, steps: [[{name: a, template: none, arguments: {parameters: [{name: ‸x, value: a}]}}]]}
        """,
        severity="warning",
    ),
    "an artifact without a path": Case(
        "CLR455",
        "the artifact 'f' of the template 'main' has no path",
        """
        templates:
        - {name: main, container: {image: a}, outputs: {artifacts: [‸{name: f}]}}
        """,
    ),
    "an artifact that climbs out": Case(
        "CLR455",
        "the artifact 'f' of the template 'main' leads out of its folder: '/a/../b'",
        """
        templates:
        - {name: main, container: {image: a}, outputs: {artifacts: [{name: f, path: ‸/a/../b}]}}
        """,
    ),
    "an artifact of a graph with a path": Case(
        "CLR455",
        "the artifact 'f' of the template 'main' can't have a path",
        """
        templates:
        - {name: main, steps: [[{name: a, template: give}]], outputs: {artifacts: [{name: f, ‸path: /f,
            from: '{{steps.a.outputs.artifacts.f}}'}]}}
        """,
    ),
    "an input that says from where": Case(
        "CLR456",
        "the artifact 'f' of the template 'main' says where it comes `from`",
        """
        templates:
        - {name: main, inputs: {artifacts: [{name: f, path: /f, raw: {data: a}, ‸from: x}]},
            container: {image: a}}
        """,
    ),
    "an argument that is nowhere": Case(
        "CLR456",
        "the artifact 'f' of the step 'a' has no source",
        """
        templates:
        - {name: main, steps: [[{name: a, template: t, arguments: {artifacts: [‸{name: f}]}}]]}
        - {name: t, inputs: {artifacts: [{name: f, path: /f}]}, container: {image: a}}
        """,
    ),
    "an argument by expression": Case(
        "CLR456",
        "the artifact 'f' of the step 'a' has only a `fromExpression`",
        """
        templates:
        - {name: main, steps: [[{name: a, template: t, arguments: {artifacts: [{name: f,
            ‸fromExpression: x}]}}]]}
        - {name: t, inputs: {artifacts: [{name: f, path: /f}]}, container: {image: a}}
        """,
    ),
    "git without a repository": Case(
        "CLR456",
        "a git artifact has no repository",
        """
        templates:
        - {name: main, inputs: {artifacts: [{name: f, path: /f, ‸git: {revision: a}}]}, container: {image: a}}
        """,
    ),
    "hdfs without a user": Case(
        "CLR456",
        "an hdfs artifact doesn't say who reads it",
        """
        templates:
        - {name: main, inputs: {artifacts: [{name: f, path: /f, ‸hdfs: {addresses: [a], path: /a}}]},
            container: {image: a}}
        """,
    ),
    "two artifacts at one path": Case(
        "CLR457",
        "the artifact 'g' of the template 'main' would lie at '/f', where the artifact 'f' is",
        """
        templates:
        - {name: main, inputs: {artifacts: [{name: f, path: /f, raw: {data: a}}, {name: g, path: ‸/f,
            raw: {data: a}}]}, container: {image: a}}
        """,
    ),
    "an output without a source": Case(
        "CLR458",
        "the output 'p' of the template 'main' has no source",
        """
        templates:
        - {name: main, container: {image: a}, outputs: {parameters: [‸{name: p}]}}
        """,
    ),
    "an output from two sources": Case(
        "CLR458",
        "the output 'p' of the template 'main' has two sources: `path` and `jsonPath`",
        """
        templates:
        - {name: main, container: {image: a}, outputs: {parameters: [{name: p, valueFrom: {path: /p,
            ‸jsonPath: x}}]}}
        """,
    ),
    "an output of the wrong sort": Case(
        "CLR458",
        "the output 'p' of the template 'main' can't come from `path`",
        """
        templates:
        - {name: main, resource: {action: get}, outputs: {parameters: [{name: p, valueFrom: {‸path: /p}}]}}
        """,
    ),
    "a text for an artifact": Case(
        "CLR459",
        "'steps.a.outputs.parameters.p' is no artifact, and one belongs here",
        """
        templates:
        - {name: main, steps: [[{name: a, template: give}]], outputs: {artifacts: [{name: f,
            from: ‸'{{steps.a.outputs.parameters.p}}'}]}}
        """,
    ),
    "an output artifact from nowhere": Case(
        "CLR459",
        "the output artifact 'f' of the template 'main' says nowhere where it comes from",
        """
        templates:
        - {name: main, steps: [[{name: a, template: give}]], outputs: {artifacts: [‸{name: f}]}}
        """,
        severity="warning",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_mistake_is_found_where_it_stands(case: Case) -> None:
    check(case)
