"""Where natives point to when a task is gone: its own go with it, and those of the tasks behind it move up."""

from __future__ import annotations

import msgspec

from couler_py.ir.model import Document, Graph, Native


def without_tasks(document: Document, template: str, task: str) -> Document:
    """The document with its natives as they stand without the tasks of a name. Its workflow is left as it is."""
    if not document.natives:
        return document
    number, owner = next(
        (index, each) for index, each in enumerate(document.workflow.templates) if each.name == template
    )
    assert isinstance(owner.body, Graph)
    spec = "/spec/workflowSpec" if document.kind == "CronWorkflow" else "/spec"
    start = f"{spec}/templates/{number}/{'steps' if owner.body.form == 'steps' else 'dag/tasks'}/"
    moved = _places(owner.body, task)
    natives = tuple(kept for each in document.natives if (kept := _moved(each, start, moved)) is not None)
    return msgspec.structs.replace(document, natives=natives)


def _places(graph: Graph, gone: str) -> dict[tuple[int, ...], tuple[int, ...] | None]:
    """By the place of each task, its place without those that are gone, None for these."""
    moved: dict[tuple[int, ...], tuple[int, ...] | None] = {}
    if graph.form == "dag":
        left = 0
        for index, task in enumerate(graph.tasks):
            moved[(index,)] = None if task.name == gone else (left,)
            left += task.name != gone
        return moved
    groups = 0
    for number, group in enumerate(graph.groups):
        left = 0
        for index, name in enumerate(group):
            moved[(number, index)] = None if name == gone else (groups, left)
            left += name != gone
        groups += left > 0
    return moved


def _moved(native: Native, start: str, moved: dict[tuple[int, ...], tuple[int, ...] | None]) -> Native | None:
    if not native.pointer.startswith(start):
        return native
    depth = len(next(iter(moved)))
    parts = native.pointer.removeprefix(start).split("/")
    place = moved[tuple(map(int, parts[:depth]))]
    if place is None:
        return None
    return msgspec.structs.replace(native, pointer=start + "/".join((*map(str, place), *parts[depth:])))
