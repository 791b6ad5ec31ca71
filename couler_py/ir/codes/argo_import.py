"""Diagnostic codes of the area: argo import."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR490",
        "no document of Argo's",
        "A file that is imported holds at least one Workflow, WorkflowTemplate, ClusterWorkflowTemplate or "
        "CronWorkflow of the API argoproj.io/v1alpha1. Documents of other kinds may stand beside it and travel along. "
        "A List, as `kubectl get -o yaml` writes it, is another kind: take its items out.",
    ),
    Code(
        "CLR491",
        "a document of another structure",
        "An object, a list or a single value stands where Argo's API has another of them, so the document can't be "
        "read. Smaller faults travel with an imported document, and `couler lint` names them.",
        example="templates: {name: main}",
        instead="templates:\n- name: main",
    ),
    Code(
        "CLR492",
        "a field that Argo doesn't know",
        "The schema of Argo 4 has no such field in this place. It is kept, and written out again; a cluster refuses it "
        "or drops it without a word. It may be a typing error, or a field of an older version: `couler lint` says what "
        "replaces those.",
    ),
    Code(
        "CLR493",
        "what a cluster added was set aside",
        "An object that was exported from a cluster says things about itself there: its status, its uid, who manages "
        "its fields. They are no part of the workflow, and another cluster would refuse or ignore them.",
    ),
    Code(
        "CLR494",
        "a part of an imported document no longer fits",
        "What a document says in another way than our own emission travels beside its workflow, with the value that it "
        "replaced. Where a change of the workflow has changed that value, the new one holds, and the imported one is "
        "left out.",
    ),
    Code(
        "CLR495",
        "an expression that has no tag",
        'A workflow of the dialect "argo" is written as it stands: its expressions are names that Argo fills in '
        "(`{{inputs.parameters.x}}`) or texts in Argo's own expression language. Others are for workflows that are "
        "lowered.",
        instead='ir.Raw("argo", "inputs.parameters.x + \'!\'")',
    ),
    Code(
        "CLR496",
        "a change of a document that can't be made",
        "What should be changed isn't there, the new name is taken, or something else in the document still needs what "
        "should go.",
    ),
    Code(
        "CLR497",
        "a setting that Argo's own words don't have",
        'A workflow of the dialect "argo" is written as it stands. What was put into it since it was imported has to '
        "be something that Argo itself can say; our own settings, as a bound of a fan-out, are for workflows that are "
        "lowered.",
    ),
)
