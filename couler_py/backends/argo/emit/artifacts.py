"""Artifacts on their way between tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from couler_py.backends.argo.emit.literals import string
from couler_py.backends.argo.emit.storage import storage
from couler_py.backends.argo.emit.text import render
from couler_py.ir.expr import Expr, First, InputArtifact, OrElse, TaskArtifact
from couler_py.ir.model import ArtifactArgument, Task

if TYPE_CHECKING:
    from couler_py.backends.argo.emit.graph import GraphWriter
    from couler_py.backends.argo.emit.scope import GraphScope

JSON = dict[str, Any]


def artifact_arguments(writer: GraphWriter, task: Task) -> list[JSON]:
    """What a task gives to its template's input artifacts."""
    found = []
    for given in task.artifacts:
        entry: JSON = {"name": writer._input_name(task, given.name)}
        entry |= artifact_source(writer, task, given)
        found.append(entry)
    return found


def artifact_source(writer: GraphWriter, task: Task, given: ArtifactArgument) -> JSON:
    """Where one artifact comes from."""
    expr, optional = given.value, given.optional
    if given.storage is not None:
        rendered = render(writer.emission, writer.template, writer.scope)
        found = storage(writer.emission, given.storage, rendered, task.display or task.name, task.source)
        return found | ({"optional": True} if optional else {})
    while isinstance(expr, OrElse):  # the only default of an artifact is that there is none
        expr, optional = expr.value, True
    if isinstance(expr, First):
        name = picked(writer, expr)
        writer.waits.append(name)
        found = {"from": "{{" + f"tasks.{name}.outputs.artifacts.first" + "}}"}
    elif isinstance(expr, TaskArtifact) and writer.scope.tasks[expr.task].each is not None:
        return gathered(writer, expr)
    elif isinstance(expr, InputArtifact | TaskArtifact):
        found = {"from": "{{" + reference(writer.scope, expr) + "}}"}
        optional = optional or (isinstance(expr, TaskArtifact) and may_be_missing(writer, expr))
    else:
        writer.emission.problem(
            "CLR402",
            f"the artifact {given.name!r} is no reference to an artifact",
            step=task.display or task.name,
            source=task.source,
        )
        return {}
    return found | ({"optional": True} if optional else {})


def may_be_missing(writer: GraphWriter, expr: TaskArtifact) -> bool:
    """Whether a step that succeeds may leave the artifact out."""
    callee = writer.emission.program.callee(writer.scope.tasks[expr.task])
    return callee is not None and any(left.optional for left in callee.outputs.artifacts if left.name == expr.name)


def reference(scope: GraphScope, expr: Expr) -> str:
    """A reference to an artifact, without its tag."""
    if isinstance(expr, InputArtifact):
        return f"inputs.artifacts.{scope.input_name(expr.name)}"
    assert isinstance(expr, TaskArtifact)
    name = scope.program.field(scope.program.callee(scope.tasks[expr.task]), expr.name)
    return f"{scope.root}.{scope.names[expr.task]}.outputs.artifacts.{name}"


def expression(scope: GraphScope, expr: Expr) -> str:
    """An artifact in a template's `fromExpression`."""
    if isinstance(expr, TaskArtifact):
        name = scope.program.field(scope.program.callee(scope.tasks[expr.task]), expr.name)
        return f"{scope.task(expr.task)}.outputs.artifacts[{string(name)}]"
    assert isinstance(expr, InputArtifact)
    return f"inputs.artifacts[{string(scope.input_name(expr.name))}]"


def gathered(writer: GraphWriter, expr: TaskArtifact) -> JSON:
    """The folder in which a fan-out left an artifact of each item; with no items there is none."""
    name = writer.names[expr.task]
    kind = writer.emission.options.repository
    key = "blob" if kind == "azure" else "path" if kind == "hdfs" else "key"
    prefix = "{{" + f"{writer.scope.root}.{name}.outputs.parameters.couler-folder" + "}}"
    return {kind: {key: f"{prefix}/{expr.name}"}, "optional": True}


def gathered_folder(writer: GraphWriter, expr: TaskArtifact) -> str:
    """A reference to the folder of a fan-out as an output artifact, through a task of its own without a pod."""
    key = ("folder", expr)
    name = writer.added.get(key, "")
    if not name:
        name = writer.added[key] = writer.helper(f"folder-{writer.names[expr.task]}-{expr.name}")
        template = {
            "inputs": {"artifacts": [{"name": "folder", "optional": True}]},
            "outputs": {"artifacts": [{"name": "folder", "from": "{{inputs.artifacts.folder}}", "optional": True}]},
            "dag": {"failFast": False, "tasks": [{"name": "pass", "template": writer.emission.no_op()}]},
        }
        writer.extra.append(
            {
                "name": name,
                "depends": writer.names[expr.task],
                "template": writer.emission.shared("couler-folder", "helper", template),
                "arguments": {"artifacts": [{"name": "folder"} | gathered(writer, expr)]},
            }
        )
    return f"tasks.{name}.outputs.artifacts.folder"


def picked(writer: GraphWriter, expr: First) -> str:
    """The name of an added task that gives out the first of several artifacts.

    Arguments can't say `fromExpression`, outputs can; so a graph of one task without a pod gets all of them, as
    optional inputs, and the states of their tasks.
    """
    options = [option for option in expr.options if isinstance(option, TaskArtifact)]
    if len(options) < len(expr.options) or any(writer.scope.tasks[option.task].each is not None for option in options):
        writer.emission.problem(
            "CLR402",
            "the first of several files can't be said on Argo where one is an input or the folder of a fan-out",
            step=writer.template.display or writer.template.name,
            source=writer.template.source,
            help="let a step take both, and return the one that is there",
        )
    key = ("first", *options)
    name = writer.added.get(key, "")
    if not name:
        wish = "-or-".join(f"{writer.names[option.task]}-{option.name}" for option in options)
        name = writer.added[key] = writer.helper(f"first-{wish}")
        writer.extra.append(_pick(writer, name, options))
    return name


def _pick(writer: GraphWriter, name: str, options: list[TaskArtifact]) -> JSON:
    states = [f"{writer.scope.task(option.task)}.status == 'Succeeded'" for option in options]
    names = [writer.names[option.task] for option in options]
    return {
        "name": name,
        "depends": " && ".join(dict.fromkeys(names)),
        "when": "{{= " + " || ".join(states) + " }}",
        "template": writer.emission.shared(
            f"couler-first-of-{len(options)}", "helper", pick_template(writer, len(options))
        ),
        "arguments": {
            "parameters": [
                {"name": f"state-{index}", "value": "{{" + f"tasks.{task}.status" + "}}"}
                for index, task in enumerate(names)
            ],
            "artifacts": [
                {"name": f"option-{index}", "from": "{{" + reference(writer.scope, option) + "}}", "optional": True}
                for index, option in enumerate(options)
            ],
        },
    }


def pick_template(writer: GraphWriter, count: int) -> JSON:
    """The graph that gives out the first of `count` artifacts whose task succeeded."""
    choice = f"inputs.artifacts['option-{count - 1}']"
    for index in reversed(range(count - 1)):
        choice = f"inputs.parameters['state-{index}'] == 'Succeeded' ? inputs.artifacts['option-{index}'] : {choice}"
    return {
        "inputs": {
            "parameters": [{"name": f"state-{index}"} for index in range(count)],
            "artifacts": [{"name": f"option-{index}", "optional": True} for index in range(count)],
        },
        "outputs": {"artifacts": [{"name": "first", "fromExpression": choice}]},
        "dag": {"failFast": False, "tasks": [{"name": "pick", "template": writer.emission.no_op()}]},
    }
