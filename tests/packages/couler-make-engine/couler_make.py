"""The engine `make`: a workflow of containers as a Makefile, whose commands run as processes, not in their images.

`couler compile flow.py --to make -o Makefile`, then `make -j4`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

from couler_py.backends.base import Bundle, Client, NotOffered, Support
from couler_py.backends.features import FEATURES
from couler_py.ir.diagnostics import Diagnostic, DiagnosticError, error
from couler_py.ir.expr import Expr, Input, Literal, Text, TextLike
from couler_py.ir.graph import templates_by_name
from couler_py.ir.meaning import edges
from couler_py.ir.model import Graph, Task, Template, Workflow
from couler_py.ir.pod import Container
from couler_py.passes.features import used

LEVELS = {
    "container": Support("container", "emulated", "the command runs as a process; the image is not used"),
    "graph": Support("graph", "lowered", "each task is a target"),
    "edge_order": Support("edge_order", "native"),
    "placement": Support("placement", "emulated", "ignored: there is one machine"),
    "resources": Support("resources", "emulated", "ignored: `make -j` says how many run at once"),
}
TABLE = tuple(LEVELS.get(feature) or Support(feature, "never", "make has no word for it") for feature in FEATURES)


class Make:
    """The engine, as `couler_py.backends.base.Backend` wants it."""

    name = "make"
    versions: tuple[str, ...] = ()
    suffix = ".mk"

    def support(self) -> tuple[Support, ...]:
        return TABLE

    def compile(self, workflow: Workflow, *, version: str | None = None, **options: Any) -> Bundle:
        """Emit a checked workflow. Raises `DiagnosticError` with all that make can't do."""
        if version or options:
            raise TypeError(f"make: there is neither a version nor an option, and got {version or options}")
        found = [*unsupported(workflow), *misshapen(workflow)]
        if found:
            raise DiagnosticError(found)
        return Bundle("make", {"Makefile": makefile(workflow)})

    def client(self, **options: Any) -> Client:
        raise NotOffered("make runs the file itself: make -f Makefile")


BACKEND = Make()


# ---- what make can't do, said all at once


def unsupported(workflow: Workflow) -> Iterator[Diagnostic]:
    """The features that the table has as never, each at every place that uses it."""
    reasons = {row.feature: row.by for row in TABLE if row.level == "never"}
    for feature, places in used(workflow).items():
        if feature in reasons:
            for place in places:
                yield error("MAKE1", f"make can't do {FEATURES[feature]}", source=place, why=reasons[feature])


def misshapen(workflow: Workflow) -> Iterator[Diagnostic]:
    """What a container or a graph holds that no target can say."""
    templates = templates_by_name(workflow)
    entry = templates[workflow.entrypoint]
    if entry.outputs.parameters or entry.outputs.artifacts:
        yield error("MAKE2", "a Makefile gives nothing back", source=entry.source, help="return nothing")
    for task in _tasks(workflow):
        body = templates[task.call].body if isinstance(task.call, str) else None
        if isinstance(body, Graph):
            yield error(
                "MAKE3", f"{task.name} is a workflow of its own", source=task.source, help="call its steps here"
            )
        elif isinstance(body, Container):
            try:
                recipe(task, body)
            except ValueError as problem:
                yield error("MAKE4", f"{task.name}: {problem}", source=task.source)


# ---- the Makefile


def makefile(workflow: Workflow) -> str:
    """The text: a target for each task, which needs the targets that it waits for."""
    templates = templates_by_name(workflow)
    tasks = _tasks(workflow)
    targets = {task.name: f"{number}-{_legal(task.name)}" for number, task in enumerate(tasks, 1)}
    lines = [
        "# Independent branches go on where one fails, as everywhere in couler.",
        "MAKEFLAGS += --keep-going",
        f".PHONY: all {' '.join(targets.values())}",
        f"all: {' '.join(targets.values())}",
    ]
    for task in tasks:
        needs = [targets[name] for edge in edges(task) for name in edge.tasks]
        body = templates[str(task.call)].body
        assert isinstance(body, Container)
        lines += [f"{targets[task.name]}: {' '.join(needs)}".rstrip(), f"\t{recipe(task, body)}"]
    return "\n".join(lines) + "\n"


def recipe(task: Task, container: Container) -> str:
    """The command of a task, quoted first for the shell and then for make. Raises `ValueError`."""
    given = {argument.name: argument.value for argument in task.arguments}
    if not container.command:
        raise ValueError("it has no command, and make doesn't look into the image")
    if container.env_from or container.working_dir:
        raise ValueError("env_from and working_dir are not for make")
    words = [plain(text, given) for text in (*container.command, *container.args)]
    environment = [f"{variable.name}={plain(variable.value, given)}" for variable in container.env]
    line = shlex.join(["exec", *(["env", *environment] if environment else []), *words])
    if "\n" in line or "\0" in line:
        raise ValueError("it holds a line break, which ends a recipe of make")
    return line.replace("$", "$$")


def plain(text: TextLike | Any, given: dict[str, Expr]) -> str:
    """A text whose values are known now. Raises `ValueError` for another."""
    if isinstance(text, str):
        return text
    if not isinstance(text, Text):
        raise ValueError(f"{text!r} is known only on a cluster")
    return "".join(part if isinstance(part, str) else _value(part, given) for part in text.parts)


def _value(expr: Expr, given: dict[str, Expr]) -> str:
    value = given.get(expr.name) if isinstance(expr, Input) else expr
    if not isinstance(value, Literal) or not isinstance(value.value, str):
        raise ValueError("it takes a value that isn't a text known now")
    return value.value


def _tasks(workflow: Workflow) -> tuple[Task, ...]:
    entry: Template = templates_by_name(workflow)[workflow.entrypoint]
    return entry.body.tasks if isinstance(entry.body, Graph) else ()


def _legal(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)
