"""What steps that decide something will decide, told before a run (`couler plan`), as far as that is known then.

A family that has such a step names the file in which its function is written, and a module with a function `foretold`:
it gets what the step is given, by name, where that is written down, and the home whose runs are known; it gives lines.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from couler_py.ir.expr import Literal
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Function, Graph, Task, Workflow

FAMILIES: Mapping[str, str] = {"couler_py/steps/dlrm/planning/step.py": "couler_py.steps.dlrm.planning.foretelling"}
"""The file of a step's function, and the module that foretells it."""


class Foretold(msgspec.Struct, frozen=True):
    """What a task will decide, in lines; `place` is its graph and its name."""

    place: str
    lines: tuple[str, ...]


def foretold(workflow: Workflow, home: str | None = None) -> Iterator[Foretold]:
    """What the tasks of a workflow will decide, in its order; nothing is imported where there are none."""
    deciding = {
        name: module
        for name, template in templates_by_name(workflow).items()
        if isinstance(template.body, Function)
        for module in {FAMILIES[piece.file] for piece in template.body.pieces if piece.file in FAMILIES}
    }
    for template in workflow.templates:
        for task in template.body.tasks if isinstance(template.body, Graph) and deciding else ():
            if isinstance(task.call, str) and task.call in deciding:
                yield Foretold(f"{template.name}/{task.name}", _lines(deciding[task.call], task, home))


def _lines(module: str, task: Task, home: str | None) -> tuple[str, ...]:
    given: dict[str, Any] = {each.name: each.value.value for each in task.arguments if isinstance(each.value, Literal)}
    try:
        return tuple(importlib.import_module(module).foretold(given, home))
    except ImportError as error:
        return (f"not known here: {error}",)
