"""Running many workflows on the real controller at once, and comparing each with what it must come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

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
    return _differences(namespace, _submitted(namespace, runs), seconds)


def _submitted(namespace: Namespace, runs: Sequence[Run]) -> dict[str, Run]:
    """The runs by the names that the API server gave them."""
    names = {}
    for run in runs:
        bundle = compile_workflow(run.workflow, run.options)
        main = with_parameters(bundle.documents[-1], run.parameters)
        names[namespace.submit(*bundle.documents[:-1], main)[-1]] = run
    return names


def _differences(namespace: Namespace, names: Mapping[str, Run], seconds: float) -> dict[str, list[str]]:
    ended = namespace.wait_for(list(names), seconds)
    found = {}
    for name, run in names.items():
        if problems := _compare(run, ended[name]):
            found[run.name] = problems
    return found


class SideBySide:
    """Tests of one module whose runs are all submitted by the first of them, so that they wait at the same time.

    It decorates functions that return runs, which become tests that these come to what they must.
    """

    def __init__(self) -> None:
        self.makers: list[Callable[[Namespace], Sequence[Run]]] = []
        self.names: dict[str, dict[str, Run]] = {}

    def __call__(self, make: Callable[[Namespace], Sequence[Run]]) -> Callable[[Namespace], None]:
        self.makers.append(make)

        def test(namespace: Namespace) -> None:
            if not self.names:
                self.names = {each.__name__: _submitted(namespace, each(namespace)) for each in self.makers}
            if found := _differences(namespace, self.names[make.__name__], 240):
                pytest.fail(str(found), pytrace=False)

        test.__name__, test.__doc__ = make.__name__, make.__doc__
        return test


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
