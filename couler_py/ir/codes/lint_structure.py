"""Diagnostic codes of the area: lint structure."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR420",
        "text that Kubernetes can't read",
        "The file isn't YAML, or YAML that Kubernetes refuses: a key that stands twice in one mapping, tags, keys that "
        "aren't text, aliases without end. The other documents of the file are linted all the same.",
        example="""metadata:
  name: a
  name: b""",
        instead="""metadata:
  name: b""",
    ),
    Code(
        "CLR421",
        "a document that is none of Argo's kinds",
        "A document says what it is by `apiVersion` and `kind`. Argo Workflows knows Workflow, WorkflowTemplate, "
        "ClusterWorkflowTemplate and CronWorkflow, all of apiVersion `argoproj.io/v1alpha1`. Documents of other "
        "programs are passed over.",
        example="""apiVersion: argoproj.io/v1
kind: Workflow""",
        instead="""apiVersion: argoproj.io/v1alpha1
kind: Workflow""",
    ),
    Code(
        "CLR422",
        "a field that Argo's schema refuses",
        "The document breaks the schema of Argo's own CRDs: a field that Argo doesn't know (the API server refuses it "
        "or drops it without a word), a value of another type, one that isn't among those allowed or is out of "
        "bounds, a field that is missing.",
        example="""container:
  image: busybox
  comand: [sh]""",
        instead="""container:
  image: busybox
  command: [sh]""",
    ),
)
