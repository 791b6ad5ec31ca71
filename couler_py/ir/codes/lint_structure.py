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
        "a field that Argo doesn't know",
        "Argo's API has no such field here. An API server with Argo's full CRDs refuses it; with minimal CRDs it is "
        "dropped without a word, and the workflow runs without what it says. Often it is a typing error, or a field "
        "that is indented wrongly.",
        example="""container:
  image: busybox
  comand: [sh]""",
        instead="""container:
  image: busybox
  command: [sh]""",
    ),
    Code(
        "CLR423",
        "a value that Argo's schema refuses",
        "The field takes another type, other words, or other bounds. Text that looks like a number or a boolean needs "
        "quotes: `value: 1.10` is the number 1.1, `value: yes` is true.",
        example="""parameters:
- name: version
  value: 1.10""",
        instead="""parameters:
- name: version
  value: "1.10\"""",
    ),
    Code(
        "CLR424",
        "a field that is missing",
        "Argo's schema needs the field.",
        example="""memoize:
  key: a""",
        instead="""memoize:
  key: a
  maxAge: 1h
  cache: {configMap: {name: a}}""",
    ),
    Code(
        "CLR425",
        "a field that newer versions of Argo don't have",
        "An older Argo read this field; the version that you lint for refuses it, or drops it without a word. "
        "`couler lint --fix` rewrites those that have one replacement: `schedule`, `mutex`, `semaphore`, "
        "`ttlSecondsAfterFinished`, and what memoize said about its ConfigMap.",
        example="""synchronization:
  mutex: {name: a}""",
        instead="""synchronization:
  mutexes:
  - name: a""",
    ),
    Code(
        "CLR426",
        "a field that Argo 3.5 doesn't have",
        "Argo 4 has the field, and 3.5, for which you lint (`--engine argo@3.5`), doesn't.",
        example="""spec:
  schedules: ["0 3 * * *"]""",
        instead="""spec:
  schedule: "0 3 * * *\"""",
    ),
    Code(
        "CLR427",
        "fields that exclude each other",
        "Argo's CRDs have rules beyond types: a template has one body, an artifact one location, a task either "
        "`depends` or `dependencies`; `continueOn` isn't for tasks with `depends`; a task whose name begins with a "
        "digit can't depend on others; `timeout` and `activeDeadlineSeconds` are for templates that run pods.",
        example="""- name: b
  depends: a
  dependencies: [a]
  template: work""",
        instead="""- name: b
  depends: a
  template: work""",
    ),
    Code(
        "CLR428",
        "a name that Kubernetes or Argo refuses",
        "A document has a `name`, or a `generateName` that Kubernetes completes. Names are at most 63 characters, of "
        "CronWorkflows 52 (their runs get eleven more): small letters, digits, `-` and `.`.",
        example="""metadata:
  name: My_Workflow""",
        instead="""metadata:
  name: my-workflow""",
    ),
    Code(
        "CLR429",
        "a value that readers of YAML take for different things",
        "Kubernetes reads YAML 1.1: `yes`, `on` and `y` are true, `010` is 8, `1_000` is 1000. Readers of YAML 1.2 "
        "read text, or 10. Other readers of YAML 1.1 take `12:30:00` for a number and `2024-01-01` for a date, which "
        "Kubernetes leaves as text. In quotes, all read the same. `couler lint --fix` writes what Kubernetes reads.",
        example="""value: 2024-01-01
suspend: yes""",
        instead="""value: "2024-01-01"
suspend: true""",
    ),
    Code(
        "CLR431",
        "items that have to differ",
        "Kubernetes keeps this list by a key, as environment variables by their name, and refuses two items with the "
        "same.",
        example="""env:
- {name: A, value: "1"}
- {name: A, value: "2"}""",
        instead="""env:
- {name: A, value: "2"}""",
    ),
    Code(
        "CLR432",
        "a label or an annotation that Kubernetes refuses",
        "Keys are at most 63 letters, digits, `-`, `_` and `.`, with a domain and `/` in front if need be. Values of "
        "labels follow the same rule or are empty; values of annotations are any text.",
        example="""labels:
  owner: Ada Lovelace""",
        instead="""annotations:
  owner: Ada Lovelace""",
    ),
)
