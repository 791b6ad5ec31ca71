"""Diagnostic codes of the area: portable."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR300",
        "a template that is somewhere else",
        "The workflow, or a task of it, refers to a WorkflowTemplate or ClusterWorkflowTemplate that is installed on "
        "a cluster. Argo looks it up when the run starts. Another engine needs the template itself: put its document "
        "into the same file, before or after a line with three dashes.",
        example="spec:\n  workflowTemplateRef:\n    name: train",
        instead="kind: WorkflowTemplate\nmetadata:\n  name: train\nspec: ...\n---\n"
        "spec:\n  workflowTemplateRef:\n    name: train",
    ),
    Code(
        "CLR301",
        "a word of Argo's that has no meaning elsewhere",
        "An imported workflow says something that only Argo understands and that changes what a run comes to. What is "
        "only about pods or clusters (placement, probes, garbage collection) is left out in silence; this is not.",
    ),
    Code(
        "CLR302",
        "an expression in Argo's language",
        "An imported workflow holds an expression or a condition in Argo's own language, which the engine that is "
        "asked for can't evaluate, and which says more than an expression that every engine has. The local engine "
        "evaluates them. For another engine, say it with couler's own expressions, or compute it in a step.",
        example="when: \"{{= sprig.upper(inputs.parameters.x) == 'A' }}\"",
        instead="when: \"{{inputs.parameters.x}} == 'a'\"",
    ),
    Code(
        "CLR303",
        "a condition that is read as a comparison",
        "Argo fills values into the text of a condition and reads the text then: a value with a space or a quote makes "
        "it an error, and two values that look like numbers are compared as numbers. Other engines compare the value "
        "itself. Both say the same for plain words.",
    ),
    Code(
        "CLR304",
        "a fan-out whose outputs are read as a list",
        "On Argo the outputs of a fan-out are one text: a JSON list of strings, or, where every one of them is the "
        "JSON of an object or list, a JSON list of those. Another engine hands over a list of the texts.",
    ),
)
