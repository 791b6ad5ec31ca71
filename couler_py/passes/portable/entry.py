"""Where a run begins and ends: what Argo gives of the workflow's parameters by their names, said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec import UNSET

from couler_py.ir.expr import Expr, Input, Literal, TaskArtifact, TaskOutput, WorkflowParameter
from couler_py.ir.graph import called
from couler_py.ir.model import (
    Argument,
    Graph,
    Handler,
    Inputs,
    Loop,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.names import free_name, legal
from couler_py.passes.portable.nodes import changed

ON_EXIT = "on-exit"
"""What a handler of the end is called that has no other name."""


def with_entry(workflow: Workflow) -> Workflow:
    """The workflow, beginning in a graph without inputs, its handlers given what they read.

    The entrypoint's inputs are the workflow's parameters of their names, else their defaults, so their places hold
    those. One that is no graph becomes the only task of one.
    """
    known = {template.name: template for template in workflow.templates}
    parameters = {parameter.name for parameter in workflow.parameters}
    handlers = tuple(_handler(each, known, workflow) for each in workflow.handlers)
    workflow = msgspec.structs.replace(workflow, handlers=handlers)
    entry = known.get(workflow.entrypoint)
    elsewhere = any(workflow.entrypoint in called(template) for template in workflow.templates)
    if entry is not None and not entry.inputs.artifacts and not workflow.artifacts:
        if not isinstance(entry.body, Graph | Loop):
            workflow = _around(workflow, entry, parameters)
        elif not elsewhere and all(handler.call != entry.name for handler in handlers):
            workflow = _replaced(workflow, _without_inputs(entry, parameters))
    return workflow


def _replaced(workflow: Workflow, template: Template) -> Workflow:
    templates = tuple(template if one.name == template.name else one for one in workflow.templates)
    return msgspec.structs.replace(workflow, templates=templates)


def _without_inputs(entry: Template, parameters: set[str]) -> Template:
    known = {one.name: _by_name(one, parameters) for one in entry.inputs.parameters}
    values = {name: value for name, value in known.items() if value is not None}
    if len(values) < len(known):
        return entry

    def change(expr: Expr) -> Expr:
        return values.get(expr.name, expr) if isinstance(expr, Input) else expr

    found: Template = changed(msgspec.structs.replace(entry, inputs=Inputs()), change)
    return found


def _by_name(parameter: Parameter, parameters: set[str]) -> Expr | None:
    if not parameter.portable or parameter.enum is not None:
        return None
    if parameter.name in parameters:
        return WorkflowParameter(parameter.name)
    return None if parameter.default is UNSET else Literal(parameter.default)


def _around(workflow: Workflow, entry: Template, parameters: set[str]) -> Workflow:
    """The workflow with a graph around the template that it begins with."""
    if not legal("ir", "task", entry.name) or not all(one.portable for one in entry.inputs.parameters):
        return workflow
    name = free_name(workflow.name, [one.name for one in workflow.templates])
    given = tuple(
        Argument(one.name, WorkflowParameter(one.name)) for one in entry.inputs.parameters if one.name in parameters
    )
    outputs = Outputs(
        tuple(
            OutputParameter(one.name, one.type, value=TaskOutput(entry.name, one.name))
            for one in entry.outputs.parameters
        ),
        tuple(OutputArtifact(one.name, value=TaskArtifact(entry.name, one.name)) for one in entry.outputs.artifacts),
    )
    graph = Template(name, Graph((Task(entry.name, entry.name, given),)), outputs=outputs)
    return msgspec.structs.replace(workflow, entrypoint=name, templates=(graph, *workflow.templates))


def _handler(handler: Handler, known: Mapping[str, Template], workflow: Workflow) -> Handler:
    """The handler by the name that it has without one, given the parameters of the run that its template reads.

    Argo gives them where nothing else is given (workflow/controller/operator.go, executeTemplate for `onExit`).
    """
    template = known.get(handler.call)
    given = {each.name for each in handler.arguments}
    more: Iterable[str] = ()
    if template is not None and handler.on == "exit":
        of_run = {parameter.name for parameter in workflow.parameters}
        more = [one.name for one in template.inputs.parameters if one.name in of_run - given]
    arguments = (*handler.arguments, *(Argument(name, WorkflowParameter(name)) for name in more))
    names = {each.name for each in workflow.handlers}
    name = ON_EXIT if handler.name == "onExit" and ON_EXIT not in names else handler.name
    return msgspec.structs.replace(handler, name=name, arguments=arguments)
