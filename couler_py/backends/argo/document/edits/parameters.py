"""Parameters of the run and inputs of templates: added, or called otherwise."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from couler_py.backends.argo.document.edits.around import (
    free,
    known,
    other,
    pointer_of,
    root_of,
    template_of,
    with_natives,
    with_template,
)
from couler_py.backends.argo.document.references import in_ir
from couler_py.backends.argo.references import Path, in_json
from couler_py.ir.model import (
    Document,
    Graph,
    Inline,
    Parameter,
    Task,
    Template,
    Workflow,
)

_replace = msgspec.structs.replace


def add_parameter(
    document: Document, name: str, value: str | int | float | bool | UnsetType = UNSET, *, template: str | None = None
) -> Document:
    """Add a parameter to the run, or an input to a template; `value` is what holds where none is given."""
    added = Parameter(name, default=value, portable=False)
    workflow = document.workflow
    if template is None:
        free(name, [each.name for each in workflow.parameters], "the run has a parameter already")
        workflow = _replace(workflow, parameters=(*workflow.parameters, added))
        return _replace(document, workflow=workflow)
    owner = template_of(document, template)
    known = owner.inputs.parameters
    free(name, [each.name for each in known], f"the template {template!r} has an input already")
    inputs = _replace(owner.inputs, parameters=(*known, added))
    return with_template(document, template, _replace(owner, inputs=inputs))


def rename_parameter(document: Document, old: str, new: str, *, template: str | None = None) -> Document:
    """Call a parameter of the run, or an input of a template, otherwise.

    Argo gives the run's parameters to the inputs of the entrypoint that have the same names: these are renamed
    together, whichever of both was asked for.
    """
    workflow = document.workflow
    entrypoint = next((each for each in workflow.templates if each.name == workflow.entrypoint), None)
    of_run = [each.name for each in workflow.parameters]
    inputs = [] if entrypoint is None else [each.name for each in entrypoint.inputs.parameters]
    if template is None:
        known(old, of_run, "the run has no parameter")
        document = _rename_of_run(document, old, new)
        return _rename_input(document, workflow.entrypoint, old, new) if old in inputs else document
    document = _rename_input(document, template, old, new)
    return _rename_of_run(document, old, new) if template == workflow.entrypoint and old in of_run else document


def _rename_of_run(document: Document, old: str, new: str) -> Document:
    workflow = document.workflow
    free(new, [each.name for each in workflow.parameters], "the run has a parameter already")

    def change(path: Path) -> Path | None:
        return (*path[:2], new, *path[3:]) if path[:3] == ("workflow", "parameters", old) else None

    workflow = in_ir(workflow, "", change)
    parameters = tuple(_replace(each, name=other(each.name, old, new)) for each in workflow.parameters)
    workflow = _replace(workflow, parameters=parameters, engines=in_json(workflow.engines, change))
    return with_natives(_replace(document, workflow=workflow), change)


def _rename_input(document: Document, template: str, old: str, new: str) -> Document:
    owner = template_of(document, template)
    names = [each.name for each in owner.inputs.parameters]
    known(old, names, f"the template {template!r} has no input")
    free(new, names, f"the template {template!r} has an input already")

    def change(path: Path) -> Path | None:
        return (*path[:2], new, *path[3:]) if path[:3] == ("inputs", "parameters", old) else None

    def same_scope(inline: Template) -> bool:
        return all(each.name != old for each in inline.inputs.parameters)

    owner = in_ir(owner, root_of(owner), change, same_scope)
    parameters = tuple(_replace(each, name=other(each.name, old, new)) for each in owner.inputs.parameters)
    owner = _replace(owner, inputs=_replace(owner.inputs, parameters=parameters))
    document = with_template(document, template, owner)
    document = with_natives(document, change, within=pointer_of(document, template))
    return _replace(document, workflow=_with_arguments(document.workflow, template, old, new))


def _with_arguments(workflow: Workflow, template: str, old: str, new: str) -> Workflow:
    """The workflow with the argument renamed in every call of a template."""

    def given(caller: Any) -> Any:
        arguments = tuple(_replace(each, name=other(each.name, old, new)) for each in caller.arguments)
        return _replace(caller, arguments=arguments) if caller.call == template else caller

    def of_template(each: Template) -> Template:
        if not isinstance(each.body, Graph):
            return each
        return _replace(each, body=_replace(each.body, tasks=tuple(of_task(task) for task in each.body.tasks)))

    def of_task(task: Task) -> Task:
        if isinstance(task.call, Inline):
            task = _replace(task, call=Inline(of_template(task.call.template)))
        found: Task = given(_replace(task, hooks=tuple(given(hook) for hook in task.hooks)))
        return found

    templates = tuple(of_template(each) for each in workflow.templates)
    return _replace(workflow, templates=templates, handlers=tuple(given(each) for each in workflow.handlers))
