"""Graphs and loops inside a graph: a function of the file that makes their tasks, called for every use."""

from __future__ import annotations

import msgspec

from couler_py.backends.airflow import expressions
from couler_py.backends.airflow.calls import UNROLLED, loop_parts, output_values
from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.graph import GraphWriter
from couler_py.backends.airflow.leaf import display
from couler_py.backends.airflow.scope import Scope
from couler_py.backends.airflow.source import Assign, Definition, Return, Statement
from couler_py.ir.expr import Input, InputArtifact, TaskArtifact, TaskOutput
from couler_py.ir.model import Argument, ArtifactArgument, Graph, Loop, Outputs, Task, Template
from couler_py.printer.layout import Doc, Group, call, items, keyword
from couler_py.printer.literal import quoted

PARAMETERS = ("inputs=dict", "when=None", "item=None")


def group_function(emission: Emission, template: Template) -> str:
    """The name of the function that makes the tasks of a graph or loop."""
    known = emission.known.get(template.name)
    if known is None:
        known = emission.known[template.name] = emission.names.free(f"{template.name}_tasks")
        body = _loop(emission, template) if isinstance(template.body, Loop) else _graph(emission, template)
        about = template.description.strip().partition("\n")[0]
        emission.definitions.append(Definition(known, PARAMETERS, about, body))
    return known


def group_scope(emission: Emission, template: Template, start: str) -> Scope:
    """What expressions inside a graph see: its inputs stand in what its first task gave."""
    names = [each.name for each in template.inputs.parameters] + [each.name for each in template.inputs.artifacts]
    return Scope(
        inputs={name: call("out", start, quoted(name)) for name in names},
        input_types={each.name: each.type for each in template.inputs.parameters},
        parameters=emission.parameters,
        published=emission.published,
    )


def _graph(emission: Emission, template: Template) -> tuple[Statement, ...]:
    assert isinstance(template.body, Graph)
    names = emission.names.inner()
    start = names.free("start")
    scope = group_scope(emission, template, start)
    writer = GraphWriter(emission, template, scope, names, start)
    inputs = "inputs"
    made = writer.write()
    outputs = graph_outputs(template, scope)
    if writer.judged:
        last = call("judge", start, judged(writer), *outputs)
    else:
        last = call("finish", start, items(writer.ends()), *outputs)
    return (Assign(start, call("begin", inputs, "when", "item")), *made, Return(last))


def judged(writer: GraphWriter) -> Doc:
    """The tasks of a graph with those that each waits for."""
    return items(Group("(", (name, items(before)), ")") for name, before in writer.graph_of_judge())


def graph_outputs(template: Template, scope: Scope) -> list[Doc]:
    """How the outputs of a graph are read."""
    outputs = {name: expressions.value(value, scope) for name, value in output_values(template).items()}
    return [expressions.late(display(outputs))] if outputs else []


def _loop(emission: Emission, template: Template) -> tuple[Statement, ...]:
    body = template.body
    assert isinstance(body, Loop)
    if body.max_iterations > UNROLLED:
        emission.problem(
            "CLR504",
            f"the loop {template.display or template.name!r} may run a graph {body.max_iterations} times, and Airflow "
            f"gets each turn as tasks of its own: at most {UNROLLED}",
            step=template.display or template.name,
            source=template.source,
            help=f"give it max_iterations={UNROLLED} or fewer, or make its body one step, which may repeat at will",
        )
    inner = emission.templates[body.body]
    parts = loop_parts(emission, template, Scope(parameters=emission.parameters))
    if isinstance(inner.body, Graph | Loop):
        maker = group_function(emission, inner)
    else:
        maker = group_function(emission, around_step(emission, inner))
    made = call("repeat_group", maker, "inputs", *parts, keyword("when", "when"), keyword("item", "item"))
    return (Return(made),)


def around_step(emission: Emission, step: Template) -> Template:
    """The template of a graph around one step."""
    name = f"one-{step.name}"
    known = emission.templates.get(name)
    if known is not None:
        return known
    task = Task(
        step.name,
        step.name,
        arguments=tuple(Argument(each.name, Input(each.name)) for each in step.inputs.parameters),
        artifacts=tuple(ArtifactArgument(each.name, InputArtifact(each.name)) for each in step.inputs.artifacts),
    )
    made = surrounding(name, step, task)
    emission.add(made)
    return made


def surrounding(name: str, step: Template, task: Task) -> Template:
    """The template of a graph of one task, with the task's inputs and outputs."""
    parameters = tuple(
        msgspec.structs.replace(each, value=TaskOutput(task.name, each.name), path="", stdout=False, global_name="")
        for each in step.outputs.parameters
    )
    artifacts = tuple(
        msgspec.structs.replace(each, value=TaskArtifact(task.name, each.name), path="", global_name="")
        for each in step.outputs.artifacts
    )
    return Template(name, Graph((task,)), inputs=step.inputs, outputs=Outputs(parameters, artifacts))
