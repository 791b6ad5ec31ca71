"""What imported objects say in Argo's own words, which the IR has no word for: what of it can be left out elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from couler_py.ir.diagnostics import Diagnostic, error
from couler_py.ir.model import ArtifactArgument, External, Graph, Plugin, Source, Task, Template, Workflow
from couler_py.ir.templated import Templated

PLACED = frozenset(
    {
        "affinity",
        "annotations",
        "archiveLocation",
        "artifactGC",
        "automountServiceAccountToken",
        "deleted",
        "executor",
        "executorPlugins",
        "globalName",
        "hostAliases",
        "imagePullPolicy",
        "lifecycle",
        "livenessProbe",
        "metadata",
        "metrics",
        "mirrorVolumeMounts",
        "plugin",
        "podResources",
        "podSpecPatch",
        "ports",
        "readinessProbe",
        "recurseMode",
        "resourceClaims",
        "resources",
        "securityContext",
        "startupProbe",
        "terminationMessagePath",
        "terminationMessagePolicy",
        "description",
        "nodeSelector",
        "schedulerName",
        "serviceAccountName",
        "priorityClassName",
        "stdin",
        "stdinOnce",
        "tty",
        "volumeDevices",
    }
)
"""Words about pods, clusters and what becomes of runs: a task comes to the same without them."""
OF_RUNS = PLACED | frozenset(
    {
        "archiveLogs",
        "artifactRepositoryRef",
        "podDisruptionBudget",
        "podGC",
        "podMetadata",
        "podPriority",
        "podPriorityClassName",
        "shutdown",
        "suspend",
        "volumeClaimGC",
        "workflowMetadata",
        "onExit",
        "artifacts",
    }
)
READ = frozenset({"/value", "/default", "/timeout"})
"""Texts with tags that are read where they stand."""
HELP = "leave it out, or say it otherwise, in the file; or run it on Argo"


def left(workflow: Workflow) -> Iterator[Diagnostic]:
    """A finding for each word that has a meaning which would be lost."""
    for name in workflow.engines.get("argo", {}):
        if name == "workflowTemplateRef":
            yield _elsewhere(workflow)
        elif name not in OF_RUNS:
            yield _word(f"spec.{name}", workflow.name, workflow.source)
    for template in workflow.templates:
        yield from _of_template(template)


def _of_template(template: Template) -> Iterator[Diagnostic]:
    name, source = template.name, template.source
    if isinstance(template.body, Plugin) and template.body.value.value is None:
        kinds = [] if template.pod.extra is None else sorted(template.pod.extra.value.keys() - PLACED)
        yield _word(f"the {', '.join(kinds) or 'body'}", name, source)
        return
    if isinstance(template.body, Graph):
        for task in template.body.tasks:
            yield from _of_task(task, template)
        template = msgspec.structs.replace(template, body=msgspec.structs.replace(template.body, tasks=()))
    for word in words(template):
        yield _word(word, name, source)


def _of_task(task: Task, around: Template) -> Iterator[Diagnostic]:
    place = task.source or around.source
    if isinstance(task.call, External):
        yield error(
            "CLR300",
            f"the task {task.name} calls the template {task.call.template!r} of the {task.call.kind} "
            f"{task.call.name!r}, which isn't here",
            source=place,
            step=around.name,
            why="only Argo can look it up, on its cluster",
            help="put the document into the same file, before or after a line ---",
        )
    for word in words(task):
        yield _word(word, around.name, place, task.name)


def words(part: Any) -> Iterator[str]:
    """The words of all `extra` in a struct that aren't only about pods, those of values that are read left out."""
    if isinstance(part, tuple):
        for each in part:
            yield from words(each)
    elif isinstance(part, msgspec.Struct):
        extra = getattr(part, "extra", None)
        if isinstance(extra, Templated) and isinstance(extra.value, dict):
            read = {"subPath"} if isinstance(part, ArtifactArgument) else set()
            read |= {text.pointer[1:] for text in extra.texts if text.pointer in READ}
            yield from (name for name in extra.value if name not in PLACED and name not in read)
        for name in part.__struct_fields__:
            if name != "extra":
                yield from words(getattr(part, name))


def _word(word: str, step: str, source: Source | None, task: str = "") -> Diagnostic:
    where = f" of the task {task}" if task else ""
    return error(
        "CLR301",
        f"{word}{where} can't be said for another engine than Argo",
        source=source,
        step=step,
        why="it was imported in Argo's own words, and changes what a run comes to",
        help=HELP,
    )


def _elsewhere(workflow: Workflow) -> Diagnostic:
    reference = workflow.engines["argo"]["workflowTemplateRef"]
    kind = "ClusterWorkflowTemplate" if reference.get("clusterScope") else "WorkflowTemplate"
    return error(
        "CLR300",
        f"the workflow is the {kind} {reference.get('name')!r}, which isn't here",
        source=workflow.source,
        step=workflow.name,
        why="only Argo can look it up, on its cluster",
        help="put the document into the same file, before or after a line ---",
    )
