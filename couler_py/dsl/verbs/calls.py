"""One call of a verb: a template, its arguments, and the task that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import msgspec

from couler_py.dsl.frames import Node
from couler_py.dsl.handlers import publish
from couler_py.dsl.ordering import link
from couler_py.dsl.placeholder import Outputs, Placeholder
from couler_py.dsl.placeholder import task_of as node_of
from couler_py.dsl.problems import fail
from couler_py.dsl.sources import caller
from couler_py.dsl.verbs.artifacts import INPUT_ONLY, Artifact, file_name
from couler_py.dsl.verbs.inputs import CallInputs, flat
from couler_py.dsl.verbs.outputs import (
    Output,
    OutputArtifact,
    OutputEmpty,
    OutputJob,
    OutputParameter,
    OutputScript,
)
from couler_py.dsl.verbs.state import Verbs, enclosing, recording
from couler_py.ir import model
from couler_py.ir.names import free_name, legal, legal_name
from couler_py.ir.types import STR

LAMBDA = "put `lambda: ` before the call"
"""The way out where a call was given in the place of a function."""

RESULT = "result"
"""The output of a script: what it printed, or returned."""

JOB = (("job-name", "{.metadata.name}", ""), ("job-id", "{.metadata.uid}", ""), ("job-obj", "", "."))
"""The outputs of a Kubernetes object: name, JSON path, jq filter."""


class Name(msgspec.Struct, frozen=True):
    """What a step is called: as its caller said, or else by the function that called the verb."""

    text: str
    given: bool


def name_of(step_name: Any, fallback: str) -> Name:
    """The name of a step. Raises `RecordingError` for a name that isn't text."""
    if step_name is None:
        return Name(enclosing(fallback), False)
    if not isinstance(step_name, str) or not step_name:
        fail("CLR181", f"step_name={step_name!r} is not a name", help="give a text that is known now")
    return Name(step_name, True)


class Declared(msgspec.Struct, frozen=True):
    """The outputs that a step declares: as the template says them, and how its caller gets them."""

    outputs: model.Outputs
    make: tuple[Callable[[Node], Any], ...]


def declared(output: Any, *, result: bool = False, job: bool = False) -> Declared:
    """The outputs of a step: `output` is an artifact or a list of them, values and files mixed as wanted.

    `result` adds what a script printed, `job` what is known of a Kubernetes object.
    Raises `RecordingError` for two outputs at one path, and for storages that can only be read.
    """
    parameters: list[model.OutputParameter] = []
    files: list[model.OutputArtifact] = []
    make: list[Callable[[Node], Any]] = []
    paths: dict[str, None] = {}
    taken: set[str] = {RESULT} if result else set()
    for artifact in flat(output):
        if not isinstance(artifact, Artifact):
            fail("CLR181", f"output={artifact!r} is no artifact", help="give what couler.create_..._artifact returns")
        if artifact.path in paths:
            fail("CLR181", f"two outputs lie at {artifact.path}", help="give one of them another path")
        if isinstance(artifact.storage, INPUT_ONLY):
            fail("CLR181", f"nothing can be written to a {artifact.type} artifact", help="give it as input=")
        paths[artifact.path] = None
        name = free_name(file_name(artifact.path), taken)
        taken.add(name)
        if artifact.is_parameter:
            parameters.append(model.OutputParameter(name, artifact.value_type, path=artifact.path))
            make.append(_parameter(name, artifact))
        else:
            files.append(model.OutputArtifact(name, artifact.path, storage=artifact.storage))
            make.append(_file(name, artifact))
    if result:
        parameters.append(model.OutputParameter(RESULT, STR, stdout=True))
        make.append(lambda node: OutputScript(node, RESULT, STR))
    if job:
        parameters.extend(
            model.OutputParameter(name, STR, json_path=path, jq_filter=query) for name, path, query in JOB
        )
        make.append(OutputJob)
    return Declared(model.Outputs(tuple(parameters), tuple(files)), tuple(make or (OutputEmpty,)))


class DagScope:
    """The steps of one `dag(...)` by name: a function that appears in several edges is one step."""

    def __init__(self) -> None:
        self.calls: dict[str, tuple[model.Template, dict[str, Any], Node, list[Any]]] = {}
        self.touched: list[Node] = []


dag_scope: ContextVar[DagScope | None] = ContextVar("couler_dag", default=None)
forwarded: ContextVar[Sequence[Any]] = ContextVar("couler_forwarded", default=())


def forward(args: list[Any], files: list[Any]) -> None:
    """Add the outputs of the steps that `set_dependencies` names to a step's arguments and files, each once."""
    known = [value for value in (*args, *files) if isinstance(value, Placeholder)]
    for output in forwarded.get():
        if any(_same_output(output, value) for value in known):
            continue
        (files if isinstance(output, OutputArtifact) else args).append(output)


def record(
    name: Name,
    body: model.Body,
    inputs: CallInputs,
    outputs: Declared,
    **settings: Any,
) -> list[Any]:
    """Add a task for a template made of these parts, and give its outputs.

    A template of the same content is shared; one of the same name and other content gets a number.
    """
    text = name.text
    base = text if legal("ir", "template", text) else legal_name("ir", "template", text)
    template = model.Template(
        base, body, inputs.inputs, outputs.outputs, display=text if text != base else "", **settings
    )
    with recording() as here:
        scope = dag_scope.get()
        recorder = here.recorder
        if scope is not None:
            known = _known(scope, name, template, inputs.given)
            if known is not None:
                scope.touched.append(known[0])
                return known[1]
        placed = msgspec.structs.replace(template, source=caller())
        made = recorder.call(placed, inputs.given, base=text, generated=True)
        node = node_of(made)
        for earlier in inputs.after:
            link(earlier, node, "order")
        found = Outputs(make(node) for make in outputs.make)
        for output in found:
            if output.is_global:
                _publish(here, output)
        here.outputs[node] = found
        if scope is not None:
            scope.calls.setdefault(text, (template, dict(inputs.given), node, found))
            scope.touched.append(node)
        return found


def _publish(here: Verbs, output: Output) -> None:
    """Let handlers of the run's end read an output, under a name that no other has."""
    wanted = legal_name("argo", "parameter", f"{output._couler_node.name}-{output._couler_name}")
    name = free_name(wanted, here.recorder.published)
    publish(name, output)
    output._couler_global = name


def _known(
    scope: DagScope, name: Name, template: model.Template, given: dict[str, Any]
) -> tuple[Node, list[Any]] | None:
    known = scope.calls.get(template.display or template.name)
    if known is None:
        return None
    before, arguments, node, found = known
    if before == template and _same_arguments(arguments, given):
        return node, found
    if name.given:
        fail(
            "CLR183",
            f"two different steps of one dag are named {name.text!r}",
            why="inside couler.dag a name is one step, however often it appears",
            help="give the same function in each edge, or another step_name",
            related=(("the other one", node.source),) if node.source else (),
        )
    return None


def _same_arguments(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(_same(value, other[name]) for name, value in one.items())


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Placeholder) or isinstance(other, Placeholder):
        return _same_output(one, other)
    return type(one) is type(other) and bool(one == other)


def _same_output(one: Any, other: Any) -> bool:
    if isinstance(one, Output) and isinstance(other, Output):
        return one._couler_node is other._couler_node and one._couler_name == other._couler_name
    return one is other or (
        isinstance(one, Placeholder) and isinstance(other, Placeholder) and one._couler_expr is other._couler_expr
    )


def _parameter(name: str, artifact: Artifact) -> Callable[[Node], Any]:
    return lambda node: OutputParameter(node, name, artifact.value_type, global_=artifact.is_global)


def _file(name: str, artifact: Artifact) -> Callable[[Node], Any]:
    return lambda node: OutputArtifact(node, name, artifact.path, global_=artifact.is_global)
