"""Edges, loops and conditions."""

from __future__ import annotations

import pytest

from tests.unit.backends.argo.lint.rules.cases import Case, check

CASES = {
    "a ring": Case(
        "CLR460",
        "tasks wait for each other in a ring: a -> b -> a",
        """
        templates:
        - {name: main, dag: {tasks: [{name: a, template: none, depends: ‸b}, {name: b, template: none,
            depends: a.Failed}]}}
        """,
    ),
    "a dependency that is no task": Case(
        "CLR461",
        "the task 'b' waits for 'c', which is no task of its graph",
        """
        templates:
        - {name: main, dag: {tasks: [{name: a, template: none}, {name: b, template: none, dependencies: [‸c]}]}}
        """,
    ),
    "a word that is no operator": Case(
        "CLR461",
        "the task 'c' waits for 'and', which is no task of its graph",
        """
        templates:
        - {name: main, dag: {tasks: [{name: a, template: none}, {name: b, template: none}, {name: c,
            template: none, depends: a ‸and b}]}}
        """,
    ),
    "dependencies beside depends": Case(
        "CLR462",
        "the task 'c' has `dependencies` in a graph that uses `depends`",
        """
        templates:
        - {name: main, dag: {tasks: [{name: a, template: none}, {name: b, template: none, depends: a},
            {name: c, template: none, ‸dependencies: [a, b]}]}}
        """,
    ),
    "continueOn beside depends": Case(
        "CLR462",
        "the task 'a' has `continueOn` in a graph that uses `depends`",
        """
        templates:
        - {name: main, dag: {tasks: [{name: a, template: none, ‸continueOn: {failed: true}}, {name: b,
            template: none, depends: a}]}}
        """,
    ),
    "a result that there is not": Case(
        "CLR463",
        "the task 'b' waits for a.Done, and a task has no such result",
        """
        templates:
        - {name: main, dag: {tasks: [{name: a, template: none}, {name: b, template: none, depends: a.‸Done}]}}
        """,
    ),
    "a result of items": Case(
        "CLR463",
        "the task 'b' waits for a.AllFailed, and 'a' isn't run for items",
        """
        templates:
        - {name: main, dag: {tasks: [{name: a, template: none}, {name: b, template: none,
            depends: ‸a.AllFailed}]}}
        """,
    ),
    "an open parenthesis": Case(
        "CLR463",
        "what the task 'b' depends on can't be read: expected ')', not the end",
        """
        templates:
        - {name: main, dag: {tasks: [{name: a, template: none}, {name: b, template: none, depends: (a‸}]}}
        """,
    ),
    "a step of the same group": Case(
        "CLR464",
        "the step 'b' reads the step 'a', which runs at the same time",
        """
        templates:
        - name: main
          steps:
          - - {name: a, template: give}
            - {name: b, template: echo, arguments: {parameters: [{name: x,
                value: 'a ‸{{steps.a.outputs.parameters.p}}'}]}}
        """,
    ),
    "a step of a later group": Case(
        "CLR464",
        "the step 'a' reads the step 'b', which runs after it",
        """
        templates:
        - name: main
          steps:
          - - {name: a, template: echo, arguments: {parameters: [{name: x, value: ‸'{{steps.b.id}}'}]}}
          - - {name: b, template: give}
        """,
    ),
    "a task beside": Case(
        "CLR464",
        "the task 'b' reads the task 'a' and doesn't wait for it",
        """
        templates:
        - {name: main, dag: {tasks: [{name: a, template: give}, {name: b, template: echo,
            arguments: {parameters: [{name: x, value: 'a ‸{{tasks.a.id}}'}]}}]}}
        """,
    ),
    "a task that reads itself": Case(
        "CLR464",
        "the task 'a' reads itself",
        """
        templates:
        - {name: main, dag: {tasks: [{name: a, template: echo, arguments: {parameters: [{name: x,
            value: ‸'{{tasks.a.status}}'}]}}]}}
        """,
    ),
    "two sources of items": Case(
        "CLR465",
        "the step 'a' has both `withItems` and `withParam`",
        """
        templates:
        - {name: main, steps: [[{name: a, template: none, withItems: [1], ‸withParam: '[1]'}]]}
        """,
    ),
    "items that are no JSON": Case(
        "CLR465",
        "the `withParam` of the step 'a' isn't JSON: Expecting value: line 1 column 2 (char 1)",
        """
        templates:
        - {name: main, steps: [[{name: a, template: none, withParam: ‸'[a]'}]]}
        """,
    ),
    "items that are no list": Case(
        "CLR465",
        "the `withParam` of the step 'a' is JSON, but not a list",
        """
        templates:
        - {name: main, steps: [[{name: a, template: none, withParam: ‸'{}'}]]}
        """,
    ),
    "a sequence without an end": Case(
        "CLR465",
        "the `withSequence` of the step 'a' has no end",
        """
        templates:
        - {name: main, steps: [[{name: a, template: none, ‸withSequence: {start: '1'}}]]}
        """,
    ),
    "a sequence of words": Case(
        "CLR465",
        "`count` of the `withSequence` of the step 'a' is 'many'",
        """
        templates:
        - {name: main, steps: [[{name: a, template: none, withSequence: {count: ‸many}}]]}
        """,
    ),
    "an item that lacks a key": Case(
        "CLR465",
        "item 1 of the step 'a' has no 'k', which the call reads",
        """
        templates:
        - {name: main, steps: [[{name: a, template: echo, withItems: [{k: 1}, ‸{l: 1}],
            arguments: {parameters: [{name: x, value: '{{item.k}}'}]}}]]}
        """,
    ),
    "a long sequence": Case(
        "CLR489",
        "the `withSequence` of the step 'a' makes 1000000 nodes",
        """
        templates:
        - {name: main, steps: [[{name: a, template: none, ‸withSequence: {count: '1000000'}}]]}
        """,
        severity="warning",
    ),
    "a target that is no task": Case(
        "CLR466",
        "the target 'b' of the template 'main' is none of its tasks",
        """
        templates:
        - {name: main, dag: {target: a ‸b, tasks: [{name: a, template: none}]}}
        """,
    ),
    "a condition that stops": Case(
        "CLR471",
        "the condition of the step 'a' can't be read: a value is missing",
        """
        templates:
        - {name: main, steps: [[{name: a, template: none, when: '{{workflow.name}} ==‸'}]]}
        """,
    ),
    "a condition by text": Case(
        "CLR472",
        "the condition of the step 'b' breaks on some values of steps.a.outputs.result",
        """
        templates:
        - {name: main, steps: [[{name: a, template: give}], [{name: b, template: none,
            when: ‸'{{steps.a.outputs.result}} == yes'}]]}
        """,
        severity="warning",
    ),
    "a hook that does not say when": Case(
        "CLR473",
        "the hook 'running' of the step 'a' has no expression",
        """
        templates:
        - {name: main, steps: [[{name: a, template: none, hooks: {‸running: {template: none}}}]]}
        """,
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_mistake_is_found_where_it_stands(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(
    ("compared", "written"),
    [
        ("!= []", "!= '[]'"),
        ("== yes", "== 'yes'"),
        ("== 'a b'", "== 'a b'"),
        ("!= ''", "!= ''"),
        ("== ab && 1 == 1", "== 'ab'"),
        ("!= {{workflow.name}}", "!= workflow.name"),
    ],
)
def test_a_condition_by_text_is_written_as_an_expression_for_what_it_compares(compared: str, written: str) -> None:
    spec = f"""
        templates:
        - {{name: main, steps: [[{{name: a, template: give}}], [{{name: b, template: none,
            when: ‸"{{{{steps.a.outputs.result}}}} {compared}"}}]]}}
        """
    [found] = Case("CLR472", "", spec).findings
    assert (found.code, found.help) == ("CLR472", f'write when: "{{{{= steps.a.outputs.result {written} }}}}"')
