"""Fan-outs that are none to Argo."""

from __future__ import annotations

import msgspec

from couler_py.ir.expr import Literal
from couler_py.ir.model import Graph, Template


def without_empty_items(template: Template) -> Template:
    """The template; a task with an empty `withItems` runs once (common.ShouldExpand asks whether there are any)."""
    if not isinstance(template.body, Graph):
        return template
    tasks = tuple(
        msgspec.structs.replace(task, each=None) if task.each is not None and task.each.items == Literal([]) else task
        for task in template.body.tasks
    )
    return msgspec.structs.replace(template, body=msgspec.structs.replace(template.body, tasks=tasks))
