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
    Code(
        "CLR305",
        "a failure that other engines don't tell from another",
        "Argo tells a container that failed from an error (a lost pod, a condition without a value), and how all items "
        "of a fan-out ended. Other engines know one failure. What waits for one of these states runs there on any "
        "failure, and where nothing failed it is Skipped.",
        example='- {name: tidy, template: tidy, depends: "train.Failed"}',
        instead='- {name: tidy, template: tidy, depends: "train.Failed || train.Errored"}',
    ),
    Code(
        "CLR306",
        "an output that is read as a list of items",
        "On Argo an output is a text, which `withParam` reads as JSON. Here the step itself declares a list: a text "
        "that isn't one fails the step that wrote it, not the fan-out that reads it; and the items are written into "
        "texts as our JSON, where Argo orders the keys of objects and rounds floats.",
    ),
    Code(
        "CLR307",
        "a hook that fails",
        "On Argo a hook of a task that fails changes nothing. By couler's rules its task has failed then.",
    ),
    Code(
        "CLR308",
        "an output of a task that may have failed",
        "On Argo a task that failed keeps the outputs that it wrote before, and others can read them. By couler's "
        "rules, and on other engines, it has none.",
    ),
)
