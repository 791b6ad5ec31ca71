"""Names are there once, and mean the same at run time."""

from __future__ import annotations

import pytest

from tests.unit.backends.argo.lint.rules.cases import Case, check

CASES = {
    "a template twice": Case(
        "CLR443",
        "a second template 'main'",
        """
        templates:
        - {name: main, container: {image: a}}
        - {name: ‸main, container: {image: b}}
        """,
    ),
    "a template without a name": Case(
        "CLR443",
        "a template without a name",
        """
        templates:
        - {name: main, container: {image: a}}
        - ‸{container: {image: b}}
        """,
    ),
    "a step twice": Case(
        "CLR443",
        "a second step 'a'",
        """
        templates:
        - name: main
          steps:
          - - {name: a, template: none}
          - - {name: ‸a, template: none}
        """,
    ),
    "a task twice": Case(
        "CLR443",
        "a second task 'a'",
        """
        templates:
        - {name: main, dag: {tasks: [{name: a, template: none}, {name: ‸a, template: none}]}}
        """,
    ),
    "an input twice": Case(
        "CLR443",
        "a second input parameter 'a'",
        """
        templates:
        - {name: main, inputs: {parameters: [{name: a, default: x}, {name: ‸a, default: y}]},
            container: {image: a}}
        """,
    ),
    "an argument twice": Case(
        "CLR443",
        "a second argument parameter 'x'",
        """
        templates:
        - {name: main, steps: [[{name: a, template: echo, arguments: {parameters: [{name: x, value: a},
            {name: ‸x, value: b}]}}]]}
        """,
    ),
    "an argument of the workflow twice": Case(
        "CLR443",
        "a second argument parameter 'a'",
        """
        arguments: {parameters: [{name: a, value: x}, {name: ‸a, value: y}]}
        templates:
        - {name: main, container: {image: a}}
        """,
    ),
    "a volume twice": Case(
        "CLR443",
        "a second volume 'v'",
        """
        volumes: [{name: v, emptyDir: {}}, {name: ‸v, emptyDir: {}}]
        templates:
        - {name: main, container: {image: a}}
        """,
        severity="warning",
    ),
    "an init container without a name": Case(
        "CLR443",
        "a initContainer without a name",
        """
        templates:
        - {name: main, initContainers: [‸{image: b}], container: {image: a}}
        """,
    ),
    "the name of an artifact": Case(
        "CLR449",
        "the name of an artifact can't be 'a.b'",
        """
        templates:
        - {name: main, container: {image: a}, outputs: {artifacts: [{name: ‸a.b, path: /a}]}}
        """,
    ),
    "a global name": Case(
        "CLR449",
        "the global name can't be 'a b'",
        """
        templates:
        - {name: main, container: {image: a}, outputs: {parameters: [{name: a, globalName: ‸a b,
            valueFrom: {path: /a}}]}}
        """,
    ),
    "a reserved word": Case(
        "CLR449",
        "a task that others wait for can't be called 'contains'",
        """
        templates:
        - {name: main, dag: {tasks: [{name: ‸contains, template: none}, {name: b, template: none,
            depends: contains}]}}
        """,
    ),
    "a digit": Case(
        "CLR449",
        "the name of the task '1a' begins with a digit",
        """
        templates:
        - {name: main, dag: {tasks: [{name: ‸1a, template: none}, {name: b, template: none}, {name: c,
            template: none, depends: b}]}}
        """,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_mistake_is_found_where_it_stands(case: Case) -> None:
    check(case)
