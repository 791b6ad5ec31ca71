"""What is named is there, and named in one way."""

from __future__ import annotations

import pytest

from tests.unit.backends.argo.lint.rules.cases import Case, check

CASES = {
    "an entrypoint that is no template": Case(
        "CLR440",
        "the entrypoint 'mian' is none of the templates",
        """
        entrypoint: ‸mian
        templates:
        - {name: main, container: {image: a}}
        """,
    ),
    "an exit handler that is no template": Case(
        "CLR441",
        "the exit handler 'bye' is none of the templates",
        """
        onExit: ‸bye
        templates:
        - {name: main, container: {image: a}}
        """,
    ),
    "a step that calls nobody": Case(
        "CLR441",
        "the step 'a' calls the template 'ecko', which isn't defined",
        """
        templates:
        - {name: main, steps: [[{name: a, template: ‸ecko}]]}
        """,
    ),
    "a template named by a tag": Case(
        "CLR441",
        "the step 'a' calls the template '{{inputs.parameters.t}}', which isn't defined",
        """
        templates:
        - {name: main, inputs: {parameters: [{name: t, default: none}]}, steps: [[{name: a,
            template: ‸'{{inputs.parameters.t}}'}]]}
        """,
    ),
    "a hook that calls nobody": Case(
        "CLR441",
        "the hook 'exit' of the workflow calls the template 'bye', which isn't defined",
        """
        hooks: {exit: {template: ‸bye}}
        templates:
        - {name: main, container: {image: a}}
        """,
    ),
    "a template that is nothing": Case(
        "CLR442",
        "the template 'main' says nothing of what it runs",
        """
        templates:
        - ‸{name: main, inputs: {}}
        """,
    ),
    "a call of nothing": Case(
        "CLR444",
        "the step 'a' names no template",
        """
        templates:
        - {name: main, steps: [[‸{name: a}]]}
        """,
    ),
    "a call of two": Case(
        "CLR444",
        "the step 'a' has both `template` and `templateRef`",
        """
        templates:
        - {name: main, steps: [[{name: a, template: none, ‸templateRef: {name: lib, template: t}}]]}
        """,
    ),
    "inline and a name": Case(
        "CLR444",
        "the step 'a' has both `inline` and `template`",
        """
        templates:
        - {name: main, steps: [[{name: a, ‸template: none, inline: {container: {image: a}}}]]}
        """,
        severity="warning",
    ),
    "a reference to what is not here": Case(
        "CLR445",
        "the WorkflowTemplate 'lib' that the step 'a' refers to isn't among the documents",
        """
        templates:
        - {name: main, steps: [[{name: a, templateRef: {name: ‸lib, template: t}}]]}
        """,
        severity="note",
    ),
    "templates beside a reference": Case(
        "CLR446",
        "a workflow with `workflowTemplateRef` has no templates of its own",
        """
        workflowTemplateRef: {name: ''}
        ‸templates:
        - {name: main, container: {image: a}}
        """,
    ),
    "a ring of calls": Case(
        "CLR447",
        "templates call each other without an end: main -> other -> main",
        """
        templates:
        - {name: main, steps: [[{name: a, template: other}]]}
        - {name: other, steps: [[‸{name: b, template: main}]]}
        """,
        severity="warning",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_mistake_is_found_where_it_stands(case: Case) -> None:
    check(case)
