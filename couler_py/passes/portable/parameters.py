"""Parameters of imported templates as those of ours: each is given a text, and no default stands in for anything."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from couler_py.ir.expr import Expr, Literal, TaskOutput, Text
from couler_py.ir.model import Argument, Graph, Parameter, Task, Template, Workflow
from couler_py.ir.types import STR
from couler_py.ir.wire import as_text


def with_parameters(workflow: Workflow) -> Workflow:
    """The workflow, its parameters ours where nothing depends on their being Argo's."""
    templates = tuple(_arguments(template) for template in workflow.templates)
    imported = {
        task.call
        for template in templates
        if isinstance(template.body, Graph)
        for task in template.body.tasks
        if isinstance(task.call, str) and any(each.extra is not None for each in task.arguments)
    }
    made = tuple(template if template.name in imported else _plain(template) for template in templates)
    parameters = tuple(map(_ours, workflow.parameters))
    return msgspec.structs.replace(workflow, templates=made, parameters=parameters)


def _plain(template: Template) -> Template:
    given = template.inputs.parameters
    made = tuple(map(_ours, given))
    if made == given:
        return template
    return msgspec.structs.replace(template, inputs=msgspec.structs.replace(template.inputs, parameters=made))


def _ours(parameter: Parameter) -> Parameter:
    if parameter.portable or parameter.type != STR or parameter.extra is not None or parameter.value_from is not None:
        return parameter
    default = parameter.default if parameter.default is UNSET else as_text(parameter.default)
    return msgspec.structs.replace(parameter, default=default, portable=True)


def _arguments(template: Template) -> Template:
    if not isinstance(template.body, Graph):
        return template
    lists = {task.name for task in template.body.tasks if task.each is not None}
    tasks = tuple(_task(task, lists) for task in template.body.tasks)
    return msgspec.structs.replace(template, body=msgspec.structs.replace(template.body, tasks=tasks))


def _task(task: Task, lists: set[str]) -> Task:
    arguments = tuple(_argument(each, lists) for each in task.arguments)
    return task if arguments == task.arguments else msgspec.structs.replace(task, arguments=arguments)


def _argument(argument: Argument, lists: set[str]) -> Argument:
    if argument.extra is not None:
        return argument
    return msgspec.structs.replace(argument, value=_text(argument.value, lists))


def _text(value: Expr, lists: set[str]) -> Expr:
    """A value as the text that Argo would give."""
    if isinstance(value, Literal):
        return Literal(as_text(value.value))
    return Text((value,)) if isinstance(value, TaskOutput) and value.task in lists else value
