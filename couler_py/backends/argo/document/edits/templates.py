"""Templates: called otherwise, or run in another image."""

from __future__ import annotations

import msgspec

from couler_py.backends.argo.document.edits.around import (
    cannot,
    free,
    known,
    other,
    template_of,
    with_template,
)
from couler_py.ir.expr import TextLike
from couler_py.ir.model import (
    ContainerSet,
    Document,
    External,
    Graph,
    Inline,
    Script,
    Task,
    Template,
)
from couler_py.ir.pod import Container

_replace = msgspec.structs.replace


def rename_template(document: Document, old: str, new: str) -> Document:
    """Call a template otherwise, wherever it is called."""
    workflow = document.workflow
    names = [each.name for each in workflow.templates]
    known(old, names, "the document has no template")
    free(new, names, "the document has a template already")
    own = _own_reference(document)

    def of_template(template: Template) -> Template:
        if isinstance(template.body, Graph):
            tasks = tuple(of_task(task) for task in template.body.tasks)
            template = _replace(template, body=_replace(template.body, tasks=tasks))
        return template

    def of_task(task: Task) -> Task:
        call = task.call
        if isinstance(call, Inline):
            call = Inline(of_template(call.template))
        elif isinstance(call, External):
            call = _replace(call, template=other(call.template, old, new)) if call.name == own else call
        else:
            call = other(call, old, new)
        return _replace(task, call=call, hooks=tuple(_replace(h, call=other(h.call, old, new)) for h in task.hooks))

    templates = tuple(_replace(of_template(each), name=other(each.name, old, new)) for each in workflow.templates)
    handlers = tuple(_replace(each, call=other(each.call, old, new)) for each in workflow.handlers)
    entrypoint = other(workflow.entrypoint, old, new)
    changed = _replace(workflow, templates=templates, handlers=handlers, entrypoint=entrypoint)
    return _replace(document, workflow=changed)


def _own_reference(document: Document) -> str | None:
    """What a `templateRef` calls this document, where one can."""
    return document.workflow.name if document.kind in ("WorkflowTemplate", "ClusterWorkflowTemplate") else None


def set_image(document: Document, template: str, image: TextLike, *, container: str = "") -> Document:
    """Run a template in another image: its container or script, or the named one of a set."""
    owner = template_of(document, template)
    body = owner.body
    if isinstance(body, Container | Script):
        body = _replace(body, image=image)
    elif isinstance(body, ContainerSet):
        known(container, [each.name for each in body.containers], f"the template {template!r} has no container")
        containers = (_replace(each, image=image) if each.name == container else each for each in body.containers)
        body = _replace(body, containers=tuple(containers))
    else:
        raise cannot(f"the template {template!r} has no image", "containers, scripts and sets of containers have one")
    return with_template(document, template, _replace(owner, body=body))
