"""Templates that a workflow calls and doesn't hold: written in a task, or in another document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from couler_py.ir.model import Document, External, Graph, Hook, Inline, Loop, Task, Template, Workflow
from couler_py.ir.names import take_name

Library = Mapping[tuple[str, str], Workflow]
"""Workflows by the kind and name of the document that holds them."""


def library(documents: Iterable[Document]) -> Library:
    """The documents that others refer to."""
    return {
        (document.kind, document.metadata.get("name", document.workflow.name)): document.workflow
        for document in documents
        if document.kind in ("WorkflowTemplate", "ClusterWorkflowTemplate")
    }


def gathered(workflow: Workflow, others: Library) -> Workflow:
    """The workflow with every template that it calls among its own; what isn't known stays `External`."""
    gathering = _Gathering(workflow, others)
    for template in workflow.templates:
        gathering.keep(template, template.name, None)
    gathering.work()
    return msgspec.structs.replace(workflow, templates=tuple(gathering.made.values()))


class _Gathering:
    """Templates by their new names, those of other documents as `DOCUMENT.TEMPLATE`."""

    def __init__(self, workflow: Workflow, others: Library):
        self.others = others
        self.taken = {template.name for template in workflow.templates}
        self.made: dict[str, Template] = {}
        self.names: dict[tuple[str, str, str], str] = {}
        self.waiting: list[tuple[Template, str, tuple[str, str] | None]] = []

    def keep(self, template: Template, name: str, place: tuple[str, str] | None) -> None:
        self.made[name] = template  # its place in the order; the content follows
        self.waiting.append((template, name, place))

    def work(self) -> None:
        while self.waiting:
            template, name, place = self.waiting.pop(0)
            self.made[name] = msgspec.structs.replace(self.resolved(template, name, place), name=name)

    def resolved(self, template: Template, name: str, place: tuple[str, str] | None) -> Template:
        """A template that stands in the document at `place` (None: the workflow), with its calls by new names."""
        body = template.body
        if isinstance(body, Loop) and place is not None:
            body = msgspec.structs.replace(body, body=self.name_of(place, body.body) or body.body)
        elif isinstance(body, Graph):
            body = msgspec.structs.replace(body, tasks=tuple(self.task(task, name, place) for task in body.tasks))
        return template if body is template.body else msgspec.structs.replace(template, body=body)

    def task(self, task: Task, around: str, place: tuple[str, str] | None) -> Task:
        hooks = tuple(self.hook(hook, place) for hook in task.hooks)
        call = task.call
        if isinstance(call, Inline):
            inline, call = call.template, self.free(f"{around}.{task.name}")
            self.keep(inline, call, place)
        elif isinstance(call, External):
            call = self.name_of((call.kind, call.name), call.template) or call
        elif place is not None:
            call = self.name_of(place, call) or call
        return msgspec.structs.replace(task, call=call, hooks=hooks)

    def hook(self, hook: Hook, place: tuple[str, str] | None) -> Hook:
        reference = hook.extra.value.get("templateRef") if hook.extra is not None else None
        if reference is not None:
            kind = "ClusterWorkflowTemplate" if reference.get("clusterScope") else "WorkflowTemplate"
            name = self.name_of((kind, reference.get("name", "")), reference.get("template", ""))
            return hook if name is None else msgspec.structs.replace(hook, call=name, extra=None)
        if place is None:
            return hook
        return msgspec.structs.replace(hook, call=self.name_of(place, hook.call) or hook.call)

    def name_of(self, place: tuple[str, str], template: str) -> str | None:
        """The new name of a template of another document, which is kept; None where it isn't known."""
        key = (*place, template)
        if key not in self.names:
            workflow = self.others.get(place)
            found = next((each for each in workflow.templates if each.name == template), None) if workflow else None
            if found is None:
                return None
            self.names[key] = self.free(f"{place[1]}.{template}")
            self.keep(found, self.names[key], place)
        return self.names[key]

    def free(self, wanted: str) -> str:
        return take_name(wanted, self.taken, ".")
