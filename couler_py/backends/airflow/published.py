"""Where outputs that are published by name stand: the XCom of the tasks that have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from couler_py.backends.airflow.emission import Emission, is_group
from couler_py.backends.airflow.names import END, RESULT, task_ids
from couler_py.ir.model import Graph, Loop, Template

Place: TypeAlias = tuple[str, str]
"""The id of a task, and the name that the output has there."""


def published_places(emission: Emission, entry: Template) -> dict[str, tuple[Place, ...]]:
    """By published name, the places where it may stand, of a loop the last turn first."""
    found: dict[str, dict[Place, None]] = {}
    for name, place in [*_own(entry, RESULT), *_inside(emission, entry, "")]:
        found.setdefault(name, {})[place] = None
    return {name: tuple(places) for name, places in found.items()}


def _own(template: Template, task_id: str) -> Iterator[tuple[str, Place]]:
    for output in template.outputs.parameters:
        if output.global_name:
            yield output.global_name, (task_id, output.name)
    for file in template.outputs.artifacts:
        if file.global_name:
            yield file.global_name, (task_id, file.name)


def _inside(emission: Emission, template: Template, prefix: str) -> Iterator[tuple[str, Place]]:
    body = template.body
    if isinstance(body, Loop):
        inner = emission.templates[body.body]
        if is_group(inner):
            for number in range(body.max_iterations, 0, -1):
                yield from _call(emission, inner, f"{prefix}turn_{number}")
    if not isinstance(body, Graph):
        return
    ids = task_ids(body, entry=not prefix, helpers=emission.helpers)
    for task in body.tasks:
        if task.each is None:
            yield from _call(emission, emission.callee(task), f"{prefix}{ids[task.name]}")


def _call(emission: Emission, template: Template, task_id: str) -> Iterator[tuple[str, Place]]:
    if not is_group(template):
        yield from _own(template, task_id)
        return
    yield from _own(template, f"{task_id}.{END}")
    yield from _inside(emission, template, f"{task_id}.")
