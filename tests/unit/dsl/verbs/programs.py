"""Couler programs, and what they record, that the tests of the verbs share."""

from __future__ import annotations

from typing import Any

import couler_py.argo as couler
from couler_py.dsl.building import build
from couler_py.ir import Workflow
from couler_py.ir.model import Graph, Task, Template
from tests.unit.dsl.recorded import sound


def built() -> Workflow:
    """The implicit workflow, which the checker finds nothing wrong with."""
    return sound(build(None))


def tasks(workflow: Workflow | None = None, template: str = "") -> dict[str, Task]:
    """The tasks of a graph by name: of the entrypoint, where no template is named."""
    workflow = workflow or built()
    body = template_of(workflow, template or workflow.entrypoint).body
    assert isinstance(body, Graph)
    return {task.name: task for task in body.tasks}


def template_of(workflow: Workflow, name: str) -> Template:
    return next(found for found in workflow.templates if found.name == name)


def order(workflow: Workflow | None = None) -> dict[str, list[str]]:
    """By task, the tasks that it was told to wait for."""
    return {name: [edge.task for edge in task.after] for name, task in tasks(workflow).items()}


def arguments(task: Task) -> dict[str, Any]:
    return {argument.name: argument.value for argument in task.arguments}


def say(message: Any = "hello", name: str | None = None, **settings: Any) -> list[Any]:
    return couler.run_container(image="alpine:3.20", command=["echo"], args=[message], step_name=name, **settings)


def write(path: str = "/mnt/t1.txt", name: str | None = None, **settings: Any) -> list[Any]:
    """A step with one value as its output."""
    output = couler.create_parameter_artifact(path=path)
    return couler.run_container(
        image="alpine:3.20", command=["sh", "-c", f"echo -n A > {path}"], output=output, step_name=name, **settings
    )


def leave(path: str = "/mnt/data.csv", name: str | None = None) -> list[Any]:
    """A step with one file as its output."""
    return couler.run_container(
        image="alpine:3.20",
        command=["sh", "-c", f"echo 1,2 > {path}"],
        output=couler.create_local_artifact(path=path),
        step_name=name,
    )


def random_code() -> None:
    import random

    result = "heads" if random.randint(0, 1) == 0 else "tails"
    print(result)


def flip_coin() -> list[Any]:
    return couler.run_script(image="python:3.11", source=random_code)


def message_of(error: Any) -> str:
    """The text of what was raised, with its way out."""
    return str(error.value)
