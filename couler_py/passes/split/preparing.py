"""What is done to a graph before it is split: a choice among tasks that the outputs make becomes a task."""

from __future__ import annotations

import msgspec

from couler_py.ir.expr import Expr, First, Input, TaskArtifact, TaskItems, TaskOutput, TaskStatus, walk
from couler_py.ir.expr import InputArtifact as ArtifactRead
from couler_py.ir.graph import shape, templates_by_name
from couler_py.ir.interface import InputArtifact
from couler_py.ir.model import (
    Argument,
    ArtifactArgument,
    Graph,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Suspend,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.names import take_name
from couler_py.ir.possible import absolved
from couler_py.passes.split.mark import marked

READS = (TaskOutput, TaskArtifact, TaskItems, TaskStatus)


def prepared(workflow: Workflow) -> Workflow:
    """The workflow whose outputs read values of tasks alone: a choice by `first`, items and states become such values.

    That one of the tasks of a `first` surely has a value follows from their conditions, which another part doesn't
    know; items and states don't leave a part. Where a task may fail and be absolved, the choice stays where it is: it
    looks at values, and a task's at states.
    """
    templates = templates_by_name(workflow)
    template = templates.get(workflow.entrypoint)
    if template is None or not isinstance(template.body, Graph):
        return workflow
    forgiven = absolved(shape(template.body))
    made: list[Template] = []
    tasks = list(template.body.tasks)
    taken = {task.name for task in tasks} | set(templates)

    def chosen(name: str, value: Expr | None, make: Template) -> Task | None:
        choices = [node for node in walk(value) if isinstance(node, First | TaskItems | TaskStatus)]
        names = {node.task for node in walk(value) if isinstance(node, READS)}
        if not choices or names & forgiven or value is None:
            return None
        made.append(make)
        wish = take_name(f"output-{name}", taken)
        if make.outputs.artifacts:
            return Task(wish, make.name, artifacts=(ArtifactArgument("value", value),))
        return Task(wish, make.name, (Argument("value", value),))

    parameters, files = [], []
    nothing = take_name("split-wait", taken)
    for each in template.outputs.parameters:
        body = Graph((Task("wait", nothing),))
        passing = Template(
            take_name(f"output-of-{each.name}", taken),
            body,
            Inputs((Parameter("value", each.type),)),
            Outputs((OutputParameter("value", each.type, value=Input("value")),)),
        )
        if task := chosen(each.name, each.value, passing):
            tasks.append(task)
            each = msgspec.structs.replace(each, value=TaskOutput(task.name, "value"))
        parameters.append(each)
    for file in template.outputs.artifacts:
        passing = Template(
            take_name(f"output-of-{file.name}", taken),
            Graph((Task("wait", nothing),)),
            Inputs(artifacts=(InputArtifact("value"),)),
            Outputs(artifacts=(OutputArtifact("value", value=ArtifactRead("value")),)),
        )
        if task := chosen(file.name, file.value, passing):
            tasks.append(task)
            file = msgspec.structs.replace(file, value=TaskArtifact(task.name, "value"))
        files.append(file)
    if not made:
        return workflow
    changed = msgspec.structs.replace(
        template,
        body=msgspec.structs.replace(template.body, tasks=tuple(tasks)),
        outputs=Outputs(tuple(parameters), tuple(files)),
    )
    others = [changed if each.name == changed.name else each for each in workflow.templates]
    waiting = Template(nothing, Suspend(duration=0))
    ready = msgspec.structs.replace(workflow, templates=(*others, *made, waiting))
    return marked(ready, (), [nothing, *(each.name for each in made)])
