"""Argo's documents in Python, in Argo's own words.

>>> from couler_py import argo_native as argo
>>> with argo.Workflow(generateName="dag-diamond-", entrypoint="diamond") as w:
...     echo = argo.container("echo", image="alpine:3.20", command=["echo", argo.input("message")], inputs=["message"])
...     with argo.dag("diamond"):
...         a = echo("A", message="A")
...         b = echo("B", message="B", depends=a)
...         c = echo("C", message=a.result, depends=a & b.succeeded)
>>> w.data["spec"]["templates"][1]["dag"]["tasks"][2]["depends"]
'A && B.Succeeded'

Text is Argo's text here: a tag in it (`{{inputs.parameters.message}}`) means what Argo makes of it. Every field of the
four kinds of documents is reachable by its own name; what Argo doesn't know is an error where it is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from couler_py.backends.argo.native.calls import GraphTemplate, Template, task
from couler_py.backends.argo.native.depends import Depends
from couler_py.backends.argo.native.interface import Artifact, Parameter, artifact, parameter
from couler_py.backends.argo.native.references import (
    ArtifactReference,
    Reference,
    expression,
    input,  # noqa: A004  reads as argo.input("message")
    input_artifact,
    item,
    output_path,
    tag,
    workflow,
)
from couler_py.backends.argo.native.tasks import Task
from couler_py.backends.argo.native.templates import (
    container,
    container_set,
    dag,
    data,
    http,
    parallel,
    plugin,
    resource,
    script,
    steps,
    suspend,
    template,
)
from couler_py.backends.argo.native.text import text
from couler_py.backends.argo.native.values import null
from couler_py.backends.argo.native.workflows import (
    ClusterWorkflowTemplate,
    CronWorkflow,
    Workflow,
    WorkflowTemplate,
    Written,
)

if TYPE_CHECKING:
    from couler_py.backends.argo import words as words

step = task
"""The same as `task`, where steps are written."""


def __getattr__(name: str) -> Any:
    if name == "words":
        import importlib

        return importlib.import_module("couler_py.backends.argo.words")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Artifact",
    "ArtifactReference",
    "ClusterWorkflowTemplate",
    "CronWorkflow",
    "Depends",
    "GraphTemplate",
    "Parameter",
    "Reference",
    "Task",
    "Template",
    "Workflow",
    "WorkflowTemplate",
    "Written",
    "artifact",
    "container",
    "container_set",
    "dag",
    "data",
    "expression",
    "http",
    "input",
    "input_artifact",
    "item",
    "null",
    "output_path",
    "parallel",
    "parameter",
    "plugin",
    "resource",
    "script",
    "step",
    "steps",
    "suspend",
    "tag",
    "task",
    "template",
    "text",
    "words",
    "workflow",
]
