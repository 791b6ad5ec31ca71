"""Steps and helpers that the tests of recording share."""

from pathlib import Path
from typing import NamedTuple

import couler_py.dsl as couler
from couler_py.ir import Graph, from_json, to_json
from couler_py.ir import Workflow as WorkflowIR
from couler_py.ir.model import Task, Template
from couler_py.passes.check import check


class Trained(NamedTuple):
    score: float
    model: Path


class Pair(NamedTuple):
    left: int
    right: int


@couler.step
def number(seed: int = 0) -> int:
    return seed


@couler.step
def increase(x: int) -> int:
    return x + 1


@couler.step
def scale(x: float) -> float:
    return x * 2


@couler.step
def add(a: int, b: int) -> int:
    return a + b


@couler.step
def total(values: list[int]) -> int:
    return sum(values)


@couler.step
def numbers(count: int) -> list[int]:
    return list(range(count))


@couler.step
def train(model: str, c: float = 1.0) -> Trained:
    path = Path("model")
    path.write_text(model)
    return Trained(c, path)


@couler.step
def pick(scores: list[float], models: Path) -> Trained:
    return Trained(max(scores), models)


@couler.step
def pair(x: int) -> Pair:
    return Pair(x, -x)


@couler.step
def make_file(text: str) -> Path:
    path = Path("file")
    path.write_text(text)
    return path


@couler.step
def grow(source: Path) -> Path:
    path = Path("grown")
    path.write_text(source.read_text() + "+")
    return path


@couler.step
def read_file(source: Path | None) -> str:
    return source.read_text() if source else ""


@couler.step
def say(text: str) -> None:
    print(text)


@couler.step
def text_of(x: int) -> str:
    return str(x)


@couler.step
def nothing() -> None:
    return None


def sound(workflow: WorkflowIR) -> WorkflowIR:
    """The workflow, which survives JSON and in which the checker finds no error."""
    assert from_json(to_json(workflow)) == workflow
    errors = [found.render() for found in check(workflow) if found.severity == "error"]
    assert errors == []
    return workflow


def template(workflow: WorkflowIR, name: str) -> Template:
    return next(found for found in workflow.templates if found.name == name)


def tasks(workflow: WorkflowIR, name: str = "") -> dict[str, Task]:
    """The tasks of a graph by name: of the entrypoint, where no template is named."""
    body = template(workflow, name or workflow.entrypoint).body
    assert isinstance(body, Graph)
    return {task.name: task for task in body.tasks}


def argument(task: Task, name: str) -> object:
    found = {given.name: given.value for given in (*task.arguments, *task.artifacts)}
    return found[name]
