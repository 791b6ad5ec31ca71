"""The outputs of graphs. None of them may fail to resolve: Argo then reports the run Succeeded, or hangs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from couler_py.backends.argo.emit.arguments import report
from couler_py.backends.argo.emit.artifacts import expression as artifact_expression
from couler_py.backends.argo.emit.artifacts import gathered_folder, reference
from couler_py.backends.argo.emit.edges import ended
from couler_py.backends.argo.emit.expressions import UnprovenError, available, translate
from couler_py.backends.argo.emit.literals import tag
from couler_py.backends.argo.emit.values import SIMPLE, Value, to_json, to_plain, to_wire
from couler_py.ir.expr import (
    Expr,
    First,
    InputArtifact,
    OrElse,
    TaskArtifact,
    TaskItems,
    TaskOutput,
    TaskStatus,
    walk,
)
from couler_py.ir.model import OutputArtifact, OutputParameter
from couler_py.ir.possible import can_err

if TYPE_CHECKING:
    from couler_py.backends.argo.emit.graph import GraphWriter

JSON = dict[str, Any]
ABSENT = "'null'"
"""What a mapped graph gives where its result is absent. Present values of items begin with a quote."""
NOTHING = "''"


def graph_outputs(writer: GraphWriter) -> JSON:
    """The `outputs` of a graph; empty where it has none."""
    outputs = writer.template.outputs
    found: JSON = {}
    if outputs.parameters:
        found["parameters"] = [_parameter(writer, output) for output in outputs.parameters]
    if outputs.artifacts:
        found["artifacts"] = [_artifact(writer, output) for output in outputs.artifacts]
    return found


def _parameter(writer: GraphWriter, output: OutputParameter) -> JSON:
    found: JSON = {"name": writer.program.field(writer.template, output.name)}
    if output.value is not None:
        try:
            found["valueFrom"] = _value_from(writer, output)
        except UnprovenError as error:
            report(
                writer.emission,
                error,
                f"the output {output.name!r}",
                writer.template.display or writer.template.name,
                writer.template.source,
            )
    if output.global_name:
        found["globalName"] = writer.program.published_name(output.global_name)
    return found


def _value_from(writer: GraphWriter, output: OutputParameter) -> JSON:
    assert output.value is not None
    item = "item" in writer.variant
    condition = _item_condition(writer) if item else _condition(writer, output.value)
    value = translate(output.value, writer.scope, bool(condition))
    if item:
        text = f"toJson({to_json(value)})"
    elif (writer.template.name, output.name) in writer.program.plain_outputs:
        text = to_plain(value, output.type)
    else:
        text = to_wire(value, output.type)
    if can_err(output.value):
        return computed(
            writer, output, f"({condition} ? {text} : nil) ?? {ABSENT if item else NOTHING}" if condition else text
        )
    if condition:
        # The checker allows an absent output on mapped graphs only; '' keeps any other from hanging the run.
        return {"expression": f"({condition} ? {text} : nil) ?? {ABSENT if item else NOTHING}"}
    if _is_reference(output, value, text):
        return {"parameter": "{{" + value.tag + "}}"}
    return {"expression": text}


def computed(writer: GraphWriter, output: OutputParameter, text: str) -> JSON:
    """An output whose expression can fail, through a task of its own: an output that can't be resolved would leave the
    run Succeeded or hang it, a task that fails makes the graph Failed.
    """
    assert output.value is not None
    name = writer.helper(f"output-{output.name}")
    absolved = writer.program.possibilities.presence(writer.template).absolved
    producers = dict.fromkeys(
        node.task for node in walk(output.value) if isinstance(node, TaskOutput | TaskItems | TaskStatus)
    )
    waits = [ended(writer.names[task]) if task in absolved else writer.names[task] for task in producers]
    task: JSON = {"name": name}
    if waits:
        task["depends"] = " && ".join(waits)
    task["template"] = writer.emission.shared("couler-value", "helper", value_template(writer))
    task["arguments"] = {"parameters": [{"name": "value", "value": tag(text)}]}
    writer.extra.append(task)
    return {"parameter": "{{tasks." + name + ".outputs.parameters.value}}"}


def value_template(writer: GraphWriter) -> JSON:
    """The graph that gives out what it is given, without a pod."""
    return {
        "inputs": {"parameters": [{"name": "value"}]},
        "outputs": {"parameters": [{"name": "value", "valueFrom": {"expression": "inputs.parameters.value"}}]},
        "dag": {"failFast": False, "tasks": [{"name": "pass", "template": writer.emission.no_op()}]},
    }


def _item_condition(writer: GraphWriter) -> str:
    """A condition that no output is absent: an item without one of them is missing from all lists alike."""
    values = [output.value for output in writer.template.outputs.parameters if output.value is not None]
    found = [condition for value in values if (condition := _condition(writer, value))]
    return " && ".join(f"({each})" if " || " in each else each for each in dict.fromkeys(found))


def _condition(writer: GraphWriter, value: Expr) -> str:
    """A condition that a value is there, when the graph succeeded; empty where that is sure."""
    presence = writer.program.possibilities.presence(writer.template)
    return "" if presence.absent_source(value) is None else available(value, writer.scope)


def _is_reference(output: OutputParameter, value: Value, text: str) -> bool:
    return isinstance(output.value, TaskOutput) and text == value.text and bool(value.tag) and value.type in SIMPLE


def _artifact(writer: GraphWriter, output: OutputArtifact) -> JSON:
    found: JSON = {"name": writer.program.field(writer.template, output.name)}
    expr, optional = output.value, output.optional
    while isinstance(expr, OrElse):
        expr, optional = expr.value, True
    if isinstance(expr, First):
        options = [option for option in expr.options if isinstance(option, TaskArtifact)]
        choice = artifact_expression(writer.scope, options[-1])
        for option in reversed(options[:-1]):
            state = f"{writer.scope.task(option.task)}.status == 'Succeeded'"
            choice = f"{state} ? {artifact_expression(writer.scope, option)} : {choice}"
        found["fromExpression"] = choice
    elif isinstance(expr, TaskArtifact) and writer.scope.tasks[expr.task].each is not None:
        found["from"] = "{{" + gathered_folder(writer, expr) + "}}"
        optional = True
    elif isinstance(expr, TaskArtifact | InputArtifact):
        found["from"] = "{{" + reference(writer.scope, expr) + "}}"
        if isinstance(expr, TaskArtifact):
            presence = writer.program.possibilities.presence(writer.template)
            optional = optional or presence.absent_source(expr) is not None
    if optional:
        found["optional"] = True
    if output.global_name:
        found["globalName"] = writer.program.published_name(output.global_name)
    return found
