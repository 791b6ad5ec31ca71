"""Changes of imported documents that reach every place: names in tags, expressions, edges, arguments, hooks.

Each function gives a new document whose data differs from the old one's in exactly those places. They raise
`DiagnosticError` for a change that can't be made: of something that isn't there, to a name that is taken, or of
something that others still need.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from couler_py.backends.argo.document.references import Change, Path, in_ir, in_json
from couler_py.backends.argo.document.shifts import without_tasks
from couler_py.backends.argo.document.texts import Root
from couler_py.ir.diagnostics import DiagnosticError, error
from couler_py.ir.expr import TextLike
from couler_py.ir.model import (
    ContainerSet,
    Depends,
    DependsNot,
    DependsOn,
    Document,
    External,
    Graph,
    Inline,
    Native,
    Parameter,
    Script,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container

_replace = msgspec.structs.replace

# ---- tasks


def rename_task(document: Document, template: str, old: str, new: str) -> Document:
    """Call a task or step of a template otherwise, wherever the template names it."""
    owner, graph = _graph(document, template)
    _known(old, [task.name for task in graph.tasks], f"the template {template!r} has no task")
    _free(new, [task.name for task in graph.tasks], f"the template {template!r} has a task already")
    root = _root(owner)

    def change(path: Path) -> Path | None:
        return (root, new, *path[2:]) if path[:2] == (root, old) else None

    def same_scope(inline: Template) -> bool:
        return not isinstance(inline.body, Graph) or all(task.name != old for task in inline.body.tasks)

    renamed = in_ir(owner, root, change, same_scope)
    body = renamed.body
    assert isinstance(body, Graph)
    body = _replace(
        body,
        tasks=tuple(_renamed_task(task, old, new) for task in body.tasks),
        groups=tuple(tuple(_other(name, old, new) for name in group) for group in body.groups),
        targets=tuple(_other(name, old, new) for name in body.targets),
    )
    document = _with_template(document, template, _replace(renamed, body=body))
    return _with_natives(document, change, within=_pointer(document, template), words=(old, new))


def _renamed_task(task: Task, old: str, new: str) -> Task:
    depends = None if task.depends is None else _renamed_depends(task.depends, old, new)
    after = tuple(_replace(each, task=_other(each.task, old, new)) for each in task.after)
    return _replace(task, name=_other(task.name, old, new), after=after, depends=depends)


def _renamed_depends(tree: Depends, old: str, new: str) -> Depends:
    match tree:
        case DependsOn():
            return _replace(tree, task=_other(tree.task, old, new))
        case DependsNot():
            return DependsNot(_renamed_depends(tree.operand, old, new))
        case _:
            return _replace(tree, operands=tuple(_renamed_depends(each, old, new) for each in tree.operands))


def drop_task(document: Document, template: str, task: str) -> Document:
    """Leave a task or step out, and take it out of what others wait for.

    Raises `DiagnosticError` where it is the last one, or where others read what it gives.
    """
    owner, graph = _graph(document, template)
    _known(task, [each.name for each in graph.tasks], f"the template {template!r} has no task")
    root = _root(owner)
    left = _replace(
        graph,
        tasks=tuple(_without(each, task) for each in graph.tasks if each.name != task),
        groups=tuple(names for group in graph.groups if (names := tuple(name for name in group if name != task))),
        targets=tuple(name for name in graph.targets if name != task),
    )
    if not left.tasks:
        raise _cannot(f"{task!r} is the only task of {template!r}", "a graph has at least one task")
    dropped = _replace(owner, body=left)
    if _reads(dropped, root, task):
        raise _cannot(
            f"{template!r} still reads what {task!r} gives",
            "give its readers another value first, or drop them as well",
        )
    document = without_tasks(document, template, task)
    return _with_template(document, template, dropped)


def _without(task: Task, gone: str) -> Task:
    after = tuple(each for each in task.after if each.task != gone)
    depends = None if task.depends is None else _depends_without(task.depends, gone)
    return _replace(task, after=after, depends=depends)


def _depends_without(tree: Depends, gone: str) -> Depends | None:
    match tree:
        case DependsOn():
            return None if tree.task == gone else tree
        case DependsNot():
            inner = _depends_without(tree.operand, gone)
            return None if inner is None else DependsNot(inner)
        case _:
            left = tuple(inner for each in tree.operands if (inner := _depends_without(each, gone)) is not None)
            return _replace(tree, operands=left) if len(left) > 1 else left[0] if left else None


def _reads(owner: Template, root: Root, task: str) -> bool:
    found: list[Path] = []

    def look(path: Path) -> None:
        if path[:2] == (root, task):
            found.append(path)

    in_ir(owner, root, look)
    return bool(found)


# ---- templates


def rename_template(document: Document, old: str, new: str) -> Document:
    """Call a template otherwise, wherever it is called."""
    workflow = document.workflow
    names = [each.name for each in workflow.templates]
    _known(old, names, "the document has no template")
    _free(new, names, "the document has a template already")
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
            call = _replace(call, template=_other(call.template, old, new)) if call.name == own else call
        else:
            call = _other(call, old, new)
        return _replace(task, call=call, hooks=tuple(_replace(h, call=_other(h.call, old, new)) for h in task.hooks))

    templates = tuple(_replace(of_template(each), name=_other(each.name, old, new)) for each in workflow.templates)
    handlers = tuple(_replace(each, call=_other(each.call, old, new)) for each in workflow.handlers)
    entrypoint = _other(workflow.entrypoint, old, new)
    changed = _replace(workflow, templates=templates, handlers=handlers, entrypoint=entrypoint)
    return _replace(document, workflow=changed)


def _own_reference(document: Document) -> str | None:
    """What a `templateRef` calls this document, where one can."""
    return document.workflow.name if document.kind in ("WorkflowTemplate", "ClusterWorkflowTemplate") else None


def set_image(document: Document, template: str, image: TextLike, *, container: str = "") -> Document:
    """Run a template in another image: its container or script, or the named one of a set."""
    owner = _template(document, template)
    body = owner.body
    if isinstance(body, Container | Script):
        body = _replace(body, image=image)
    elif isinstance(body, ContainerSet):
        _known(container, [each.name for each in body.containers], f"the template {template!r} has no container")
        containers = (_replace(each, image=image) if each.name == container else each for each in body.containers)
        body = _replace(body, containers=tuple(containers))
    else:
        raise _cannot(f"the template {template!r} has no image", "containers, scripts and sets of containers have one")
    return _with_template(document, template, _replace(owner, body=body))


# ---- parameters


def add_parameter(
    document: Document, name: str, value: str | int | float | bool | UnsetType = UNSET, *, template: str | None = None
) -> Document:
    """Add a parameter to the run, or an input to a template; `value` is what holds where none is given."""
    added = Parameter(name, default=value, portable=False)
    workflow = document.workflow
    if template is None:
        _free(name, [each.name for each in workflow.parameters], "the run has a parameter already")
        workflow = _replace(workflow, parameters=(*workflow.parameters, added))
        return _replace(document, workflow=workflow)
    owner = _template(document, template)
    known = owner.inputs.parameters
    _free(name, [each.name for each in known], f"the template {template!r} has an input already")
    inputs = _replace(owner.inputs, parameters=(*known, added))
    return _with_template(document, template, _replace(owner, inputs=inputs))


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
        _known(old, of_run, "the run has no parameter")
        document = _rename_of_run(document, old, new)
        return _rename_input(document, workflow.entrypoint, old, new) if old in inputs else document
    document = _rename_input(document, template, old, new)
    return _rename_of_run(document, old, new) if template == workflow.entrypoint and old in of_run else document


def _rename_of_run(document: Document, old: str, new: str) -> Document:
    workflow = document.workflow
    _free(new, [each.name for each in workflow.parameters], "the run has a parameter already")

    def change(path: Path) -> Path | None:
        return (*path[:2], new, *path[3:]) if path[:3] == ("workflow", "parameters", old) else None

    workflow = in_ir(workflow, "", change)
    parameters = tuple(_replace(each, name=_other(each.name, old, new)) for each in workflow.parameters)
    workflow = _replace(workflow, parameters=parameters, engines=in_json(workflow.engines, change))
    return _with_natives(_replace(document, workflow=workflow), change)


def _rename_input(document: Document, template: str, old: str, new: str) -> Document:
    owner = _template(document, template)
    names = [each.name for each in owner.inputs.parameters]
    _known(old, names, f"the template {template!r} has no input")
    _free(new, names, f"the template {template!r} has an input already")

    def change(path: Path) -> Path | None:
        return (*path[:2], new, *path[3:]) if path[:3] == ("inputs", "parameters", old) else None

    def same_scope(inline: Template) -> bool:
        return all(each.name != old for each in inline.inputs.parameters)

    owner = in_ir(owner, _root(owner), change, same_scope)
    parameters = tuple(_replace(each, name=_other(each.name, old, new)) for each in owner.inputs.parameters)
    owner = _replace(owner, inputs=_replace(owner.inputs, parameters=parameters))
    document = _with_template(document, template, owner)
    document = _with_natives(document, change, within=_pointer(document, template))
    return _replace(document, workflow=_with_arguments(document.workflow, template, old, new))


def _with_arguments(workflow: Workflow, template: str, old: str, new: str) -> Workflow:
    """The workflow with the argument renamed in every call of a template."""

    def given(caller: Any) -> Any:
        arguments = tuple(_replace(each, name=_other(each.name, old, new)) for each in caller.arguments)
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


# ---- the document around the change


def _template(document: Document, name: str) -> Template:
    found = next((each for each in document.workflow.templates if each.name == name), None)
    if found is None:
        _known(name, [each.name for each in document.workflow.templates], "the document has no template")
    assert found is not None
    return found


def _graph(document: Document, name: str) -> tuple[Template, Graph]:
    template = _template(document, name)
    if not isinstance(template.body, Graph):
        raise _cannot(f"the template {name!r} has no tasks", "it is neither a dag nor steps")
    return template, template.body


def _root(template: Template) -> Root:
    if not isinstance(template.body, Graph):
        return ""
    return "steps" if template.body.form == "steps" else "tasks"


def _with_template(document: Document, name: str, template: Template) -> Document:
    """The document with a template in the place of the first of the name."""
    templates = list(document.workflow.templates)
    templates[next(index for index, each in enumerate(templates) if each.name == name)] = template
    return _replace(document, workflow=_replace(document.workflow, templates=tuple(templates)))


def _pointer(document: Document, template: str) -> str:
    """Where a template stands in the document's data."""
    number = next(index for index, each in enumerate(document.workflow.templates) if each.name == template)
    spec = "/spec/workflowSpec" if document.kind == "CronWorkflow" else "/spec"
    return f"{spec}/templates/{number}/"


def _with_natives(
    document: Document, change: Change, *, within: str = "/", words: tuple[str, str] | None = None
) -> Document:
    """The document with the change in what only its natives say. `words` are names that stand without a tag."""
    if not document.natives:
        return document
    as_words: Callable[[Any], Any] = lambda value: value  # noqa: E731
    if words is not None:
        whole = re.compile(rf"(?<![\w.-]){re.escape(words[0])}(?![\w-])")
        as_words = lambda value: whole.sub(words[1], value) if isinstance(value, str) else value  # noqa: E731

    def changed(native: Native) -> Native:
        if not native.pointer.startswith(within):
            return native
        edges = re.search(r"/(depends|target|dependencies/\d+)$", native.pointer)
        one = as_words if edges else lambda value: in_json(value, change)
        return _replace(native, was=one(native.was), value=one(native.value))

    return _replace(document, natives=tuple(changed(native) for native in document.natives))


def _other(name: str, old: str, new: str) -> str:
    return new if name == old else name


def _known(name: str, names: list[str], message: str) -> None:
    if name not in names:
        raise _cannot(f"{message} {name!r}", f"there are {', '.join(map(repr, names)) or 'none'}")


def _free(name: str, names: list[str], message: str) -> None:
    if name in names:
        raise _cannot(f"{message} {name!r}", "choose another name")


def _cannot(message: str, way_out: str) -> DiagnosticError:
    return DiagnosticError([error("CLR496", message, help=way_out)])
