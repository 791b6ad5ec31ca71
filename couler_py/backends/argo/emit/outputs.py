"""The outputs of graphs. None of them may fail to resolve: Argo then reports the run Succeeded, or hangs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from couler_py.backends.argo.emit.arguments import literal_text, plain_literal, report
from couler_py.backends.argo.emit.artifacts import expression as artifact_expression
from couler_py.backends.argo.emit.artifacts import reference
from couler_py.backends.argo.emit.expressions import UnprovenError, present, translate
from couler_py.backends.argo.emit.values import SIMPLE, Value, to_json, to_plain, to_wire
from couler_py.ir.expr import First, InputArtifact, OrElse, TaskArtifact, TaskOutput
from couler_py.ir.model import OutputArtifact, OutputParameter

if TYPE_CHECKING:
    from couler_py.backends.argo.emit.graph import GraphWriter

JSON = dict[str, Any]
ABSENT = "'null'"
"""What a mapped graph gives where its result is absent. Present values of items begin with a quote."""


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
    presence = writer.program.possibilities.presence(writer.template)
    missing = presence.absent_source(output.value) is not None
    value = translate(output.value, writer.scope, missing)
    item = writer.variant == "item"
    if item:
        text = f"toJson({to_json(value)})"
    elif (writer.template.name, output.name) in writer.program.plain_outputs:
        text = to_plain(value, output.type)
    else:
        text = to_wire(value, output.type)
    if missing:
        condition = present(output.value, writer.scope) or "true"
        return {"expression": f"({condition} ? {text} : nil) ?? {ABSENT if item else _nothing(output)}"}
    if _is_reference(output, value, text):
        return {"parameter": "{{" + value.tag + "}}"}
    return {"expression": text}


def _is_reference(output: OutputParameter, value: Value, text: str) -> bool:
    return isinstance(output.value, TaskOutput) and text == value.text and bool(value.tag) and value.type in SIMPLE


def _nothing(output: OutputParameter) -> str:
    # The checker allows an absent output on mapped graphs only; this keeps any other from hanging the run.
    return "''"


def constant(value: Any, output: OutputParameter, plain: bool) -> str:
    """A constant output's text."""
    return (plain_literal if plain else literal_text)(value, output.type)


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
