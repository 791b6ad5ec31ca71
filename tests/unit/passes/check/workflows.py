"""Small workflows to break in one place."""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py.ir import Diagnostic, Graph, Source, Suspend, Task, Template, Workflow
from couler_py.ir.expr import Expr, Literal, TaskOutput
from couler_py.ir.model import (
    Argument,
    Function,
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Piece,
)
from couler_py.ir.pod import Container
from couler_py.ir.types import BOOL, FLOAT, INT, STR, ListOf
from couler_py.passes.check import check

WAIT = Template("wait", Suspend(duration=0), source=Source("flow.py", 1))
MAKE = Template(
    "make",
    Function("make", (Piece("def make(): ..."),), returns="fields"),
    outputs=Outputs(
        (
            OutputParameter("text", STR),
            OutputParameter("number", INT),
            OutputParameter("flag", BOOL),
            OutputParameter("numbers", ListOf(INT)),
        ),
        (OutputArtifact("file"),),
    ),
    source=Source("flow.py", 2),
)
USE = Template(
    "use",
    Function("use", (Piece("def use(x, y=0): ..."),), returns="one"),
    Inputs((Parameter("x", INT), Parameter("y", FLOAT, default=0.5))),
    Outputs((OutputParameter("result", INT),)),
    source=Source("flow.py", 3),
)
READ = Template(
    "read",
    Function("read", (Piece("def read(data): ..."),)),
    Inputs(artifacts=(InputArtifact("data"),)),
    source=Source("flow.py", 4),
)
READ_IF = msgspec.structs.replace(
    READ, name="read-if", inputs=Inputs(artifacts=(InputArtifact("data", optional=True),))
)
BOX = Template("box", Container("alpine"), source=Source("flow.py", 5))
BASE = (WAIT, MAKE, USE, READ, READ_IF, BOX)


def task(name: str, call: str, *arguments: Argument, **more: Any) -> Task:
    """A task; its line is 10 and the number at its name's end."""
    line = 10 + int(name[-1]) if name[-1].isdigit() else 10
    return Task(name, call, arguments, source=Source("flow.py", line), **more)


def given(name: str, value: Any) -> Argument:
    """An argument: an expression, or a literal."""
    return Argument(name, value if isinstance(value, Expr) else Literal(value))


def main(*tasks: Task, outputs: tuple[OutputParameter, ...] = (), inputs: tuple[Parameter, ...] = ()) -> Template:
    """The entrypoint."""
    return Template("main", Graph(tasks), Inputs(inputs), Outputs(outputs), source=Source("flow.py", 9))


def workflow(*templates: Template, **more: Any) -> Workflow:
    """A workflow of the templates and, where it calls them, of those above. `main` is the entrypoint."""
    names = {template.name for template in templates}
    called = {one.call for template in templates if isinstance(template.body, Graph) for one in template.body.tasks}
    base = [template for template in BASE if template.name in called - names]
    return Workflow("w", "main", (*templates, *base), source=Source("flow.py", 8), **more)


def flow(*tasks: Task, **more: Any) -> Workflow:
    """A workflow of tasks."""
    return workflow(main(*tasks), **more)


def found(model: Workflow) -> list[tuple[str, str, int | None]]:
    """Of everything that `check` says: the code, the step, the line."""
    return [(one.code, one.step, one.source.line if one.source else None) for one in check(model)]


def only(model: Workflow) -> Diagnostic:
    """The one thing that is wrong."""
    findings = check(model)
    assert len(findings) == 1, "\n".join(one.render() for one in findings)
    return findings[0]


def number(name: str) -> TaskOutput:
    """The `number` of a task that calls `make`."""
    return TaskOutput(name, "number")
