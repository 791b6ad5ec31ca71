"""The sweeps in a workflow, by the plan that their first or only step is given."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from couler_py.ir.expr import Literal
from couler_py.ir.model import Function, Graph, Task, Workflow
from couler_py.ir.sweep import Plan, read

FILE = "couler_py/dsl/sweeps/study.py"
"""Where the functions of these steps are written."""


class FoundSweep(msgspec.Struct, frozen=True):
    """A sweep: the graph and the task with its plan. `place` is how people find it."""

    graph: str
    task: Task
    plan: Plan

    @property
    def place(self) -> str:
        return f"{self.graph}/{self.task.name}"


def sweeps(workflow: Workflow) -> Iterator[FoundSweep]:
    """Every sweep of a workflow, in the order of its templates and tasks."""
    openers = {
        template.name
        for template in workflow.templates
        if isinstance(template.body, Function)
        and template.body.name in ("start", "gather")
        and any(piece.file == FILE for piece in template.body.pieces)
    }
    for template in workflow.templates:
        for task in template.body.tasks if isinstance(template.body, Graph) else ():
            if task.call not in openers:
                continue
            for argument in task.arguments:
                if argument.name == "plan" and isinstance(argument.value, Literal):
                    yield FoundSweep(template.name, task, read(argument.value.value))
