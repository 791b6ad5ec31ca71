"""Running many workflows on the real controller at once, and comparing each with what it must come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from couler_py.backends.argo import compile_workflow
from couler_py.backends.argo.options import Options
from couler_py.backends.argo.status import run_status, with_parameters
from couler_py.ir import Workflow
from couler_py.ir.model import (
    Argument,
    Function,
    Graph,
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Piece,
    Task,
    Template,
)
from couler_py.ir.pod import Container
from tests.cluster.argo import Namespace


@dataclass(frozen=True)
class Run:
    """A workflow, and what the controller must make of it."""

    name: str
    workflow: Workflow
    status: str = "Succeeded"
    tasks: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    options: Options = field(default_factory=Options)


def differences(namespace: Namespace, runs: Sequence[Run], seconds: float = 240) -> dict[str, list[str]]:
    """Submit all, wait for all, and say by name where one isn't as it must be."""
    names = {}
    for run in runs:
        bundle = compile_workflow(run.workflow, run.options)
        main = with_parameters(bundle.documents[-1], run.parameters)
        names[namespace.submit(*bundle.documents[:-1], main)[-1]] = run
    ended = namespace.wait_for(list(names), seconds)
    found = {}
    for name, run in names.items():
        if problems := _compare(run, ended[name]):
            found[run.name] = problems
    return found


def _compare(run: Run, ended: dict[str, Any]) -> list[str]:
    status = run_status(ended)
    states = {task.name: task.status for task in status.tasks}
    found = [] if status.status == run.status else [f"{status.status}, not {run.status}: {status.message}"]
    for path, state in run.tasks.items():
        if states.get(path) != state:
            found.append(f"{path} is {states.get(path)}, not {state}")
    if run.outputs is not None and status.outputs != run.outputs:
        found.append(f"gives {status.outputs}, not {run.outputs}")
    return found


# ---- small workflows


def shell(name: str, script: str, *inputs: str, outputs: tuple[OutputParameter, ...] = (), **more: Any) -> Template:
    """A container that runs a script of the shell."""
    return Template(
        name,
        Container("debian:12", ("sh", "-c", script)),
        Inputs(tuple(Parameter(each) for each in inputs)),
        Outputs(outputs),
        **more,
    )


def python(
    name: str,
    source: str,
    *inputs: Parameter,
    returns: OutputParameter | OutputArtifact | None = None,
    files: tuple[InputArtifact, ...] = (),
    **more: Any,
) -> Template:
    """A Python step whose function has the template's name."""
    parameters = (returns,) if isinstance(returns, OutputParameter) else ()
    artifacts = (returns,) if isinstance(returns, OutputArtifact) else ()
    body = Function(name, (Piece(source),), returns="none" if returns is None else "one")
    return Template(name, body, Inputs(tuple(inputs), files), Outputs(parameters, artifacts), **more)


def workflow(name: str, *tasks: Task, templates: Sequence[Template], outputs: Any = (), **more: Any) -> Workflow:
    """A workflow of one graph; `outputs` are (name, type, expression)."""
    made = tuple(OutputParameter(output, type_, value=value) for output, type_, value in outputs)
    return Workflow(name, "main", (Template("main", Graph(tasks), outputs=Outputs(made)), *templates), **more)


def given(**values: Any) -> tuple[Argument, ...]:
    """Arguments by name."""
    return tuple(Argument(name, value) for name, value in values.items())
