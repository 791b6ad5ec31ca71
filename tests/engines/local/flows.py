"""Workflows for tests of the engine, put together from IR, their steps short shell commands."""

from __future__ import annotations

from collections.abc import Iterable

from couler_py.ir.expr import Expr, Input, Literal, TaskOutput, Text
from couler_py.ir.model import (
    Argument,
    Function,
    Graph,
    Inputs,
    OutputParameter,
    Outputs,
    Parameter,
    Piece,
    Suspend,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container
from couler_py.ir.types import ANY, INT, Type

NOTHING = Template("nothing", Suspend(duration=0))


def shell(
    name: str, script: str, *, inputs: Iterable[str] = (), output: Type | None = None, **options: object
) -> Template:
    """A step that runs a shell script; inputs are $1, $2, …, the output is what it prints."""
    names = list(inputs)
    arguments = ("-c", script, "sh", *(Text((Input(each),)) for each in names))
    return Template(
        name,
        Container("busybox", ("sh",), arguments),
        Inputs(tuple(Parameter(each, ANY) for each in names)),
        Outputs(() if output is None else (OutputParameter("result", output, stdout=True),)),
        **options,  # type: ignore[arg-type]
    )


def python(
    name: str, source: str, *, inputs: dict[str, Type] | None = None, output: Type | None = None, **options: object
) -> Template:
    """A step that calls the Python function of its name."""
    return Template(
        name,
        Function(name, (Piece(source, "step.py", 1),), returns="none" if output is None else "one"),
        Inputs(tuple(Parameter(each, type_) for each, type_ in (inputs or {}).items())),
        Outputs(() if output is None else (OutputParameter("result", output),)),
        **options,  # type: ignore[arg-type]
    )


def graph(*tasks: Task, name: str = "main", outputs: dict[str, Expr] | None = None, **options: object) -> Template:
    """A graph template; its outputs are integers or what they are."""
    found = tuple(OutputParameter(each, INT, value=value) for each, value in (outputs or {}).items())
    return Template(name, Graph(tasks), outputs=Outputs(found), **options)  # type: ignore[arg-type]


def flow(*templates: Template, **options: object) -> Workflow:
    """A workflow whose entrypoint is the last of the templates."""
    return Workflow("flow", templates[-1].name, templates, **options)  # type: ignore[arg-type]


def mesh(count: int, witness: str, width: int = 8) -> Workflow:
    """`count` steps in layers of `width`, each adding up two of the layer before; each notes its start in a file."""
    add = shell(
        "add",
        f'echo "$1" >> {witness}; echo $(( ($2 * 31 + $3 * 7 + 1) % 9973 ))',
        inputs=["name", "a", "b"],
        output=INT,
    )
    tasks = []
    for number in range(count):
        name = f"t{number}"

        def value(back: int, number: int = number) -> Expr:
            before = number - width - (number + back) % width
            return TaskOutput(f"t{before}", "result") if before >= 0 else Literal(number + back)

        given = {"name": Literal(name), "a": value(0), "b": value(3)}
        tasks.append(Task(name, "add", tuple(Argument(each, expr) for each, expr in given.items())))
    return flow(add, graph(*tasks, outputs={"last": TaskOutput(f"t{count - 1}", "result")}))
