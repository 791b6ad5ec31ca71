"""Tasks and steps: called otherwise, or left out."""

from __future__ import annotations

import msgspec

from couler_py.backends.argo.document.edits.around import (
    cannot,
    free,
    graph_of,
    known,
    other,
    pointer_of,
    root_of,
    with_natives,
    with_template,
)
from couler_py.backends.argo.document.edits.shifts import without_tasks
from couler_py.backends.argo.document.references import in_ir
from couler_py.backends.argo.document.texts import Root
from couler_py.backends.argo.references import Path
from couler_py.ir.model import (
    Depends,
    DependsNot,
    DependsOn,
    Document,
    Graph,
    Task,
    Template,
)

_replace = msgspec.structs.replace


def rename_task(document: Document, template: str, old: str, new: str) -> Document:
    """Call a task or step of a template otherwise, wherever the template names it."""
    owner, graph = graph_of(document, template)
    known(old, [task.name for task in graph.tasks], f"the template {template!r} has no task")
    free(new, [task.name for task in graph.tasks], f"the template {template!r} has a task already")
    root = root_of(owner)

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
        groups=tuple(tuple(other(name, old, new) for name in group) for group in body.groups),
        targets=tuple(other(name, old, new) for name in body.targets),
    )
    document = with_template(document, template, _replace(renamed, body=body))
    return with_natives(document, change, within=pointer_of(document, template), words=(old, new))


def _renamed_task(task: Task, old: str, new: str) -> Task:
    depends = None if task.depends is None else _renamed_depends(task.depends, old, new)
    after = tuple(_replace(each, task=other(each.task, old, new)) for each in task.after)
    return _replace(task, name=other(task.name, old, new), after=after, depends=depends)


def _renamed_depends(tree: Depends, old: str, new: str) -> Depends:
    match tree:
        case DependsOn():
            return _replace(tree, task=other(tree.task, old, new))
        case DependsNot():
            return DependsNot(_renamed_depends(tree.operand, old, new))
        case _:
            return _replace(tree, operands=tuple(_renamed_depends(each, old, new) for each in tree.operands))


def drop_task(document: Document, template: str, task: str) -> Document:
    """Leave a task or step out, and take it out of what others wait for.

    Raises `DiagnosticError` where it is the last one, or where others read what it gives.
    """
    owner, graph = graph_of(document, template)
    known(task, [each.name for each in graph.tasks], f"the template {template!r} has no task")
    root = root_of(owner)
    left = _replace(
        graph,
        tasks=tuple(_without(each, task) for each in graph.tasks if each.name != task),
        groups=tuple(names for group in graph.groups if (names := tuple(name for name in group if name != task))),
        targets=tuple(name for name in graph.targets if name != task),
    )
    if not left.tasks:
        raise cannot(f"{task!r} is the only task of {template!r}", "a graph has at least one task")
    dropped = _replace(owner, body=left)
    if _reads(dropped, root, task):
        raise cannot(
            f"{template!r} still reads what {task!r} gives",
            "give its readers another value first, or drop them as well",
        )
    document = without_tasks(document, template, task)
    return with_template(document, template, dropped)


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
