"""Chains of short Python steps, as one step: one pod, or one process, starts instead of several.

Two tasks are joined where the first is read by the second alone, which waits for nothing else, and both are Python
steps that would run in equal pods and say nothing of retries, time limits, caches or locks. Between them values go the
way that they would go through the engine: encoded, held against their types, and built anew. The joined task keeps the
name of the last one; its log says which function wrote what, and a traceback shows the line of the one that failed.
What is not kept apart is what functions change around them: the working folder, the environment, modules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from couler_py.ir.expr import Literal, TaskOutput
from couler_py.ir.graph import templates_by_name
from couler_py.ir.interface import Argument, Inputs, Parameter
from couler_py.ir.model import Function, Graph, Link, LinkInput, LinkOutput, Task, Template, Workflow
from couler_py.ir.names import take_name
from couler_py.passes.parallel.chains import Chain, chains
from couler_py.passes.parallel.making import keep, with_made
from couler_py.passes.situation import Note, Situation

STARTS = {"local": 0.02, "argo": 4.0, "airflow": 6.0}
"""About how many seconds it takes until a step's own work begins and after it has ended: a process forked on this
machine, a pod of Argo's with its executor, a task of Airflow with a pod (as measured on a cluster of one idle node)."""

LONGEST = 60
"""Characters of the names of joined templates."""


def merged(workflow: Workflow, situation: Situation, most: float) -> tuple[Workflow, tuple[Note, ...]]:
    """The workflow with its chains joined, of steps that took at most so many seconds as far as is known."""
    known = templates_by_name(workflow)
    made: dict[str, Template] = {}
    notes: list[Note] = []
    templates = []
    for template in workflow.templates:
        body = template.body
        found = chains(template, known, situation, workflow.name, most) if isinstance(body, Graph) else ()
        if found and isinstance(body, Graph):
            template = replace(template, body=_joined(body, found, known, made))
            notes.extend(_note(each, situation.engine) for each in found)
        templates.append(template)
    if not made:
        return workflow, ()
    return with_made(replace(workflow, templates=tuple(templates)), made), tuple(notes)


def _joined(graph: Graph, found: Sequence[Chain], known: Mapping[str, Template], made: dict[str, Template]) -> Graph:
    by_last = {chain.tasks[-1].name: chain for chain in found}
    gone = {task.name for chain in found for task in chain.tasks[:-1]}
    tasks = []
    for task in graph.tasks:
        if task.name in by_last:
            tasks.append(_task(by_last[task.name], known, made))
        elif task.name not in gone:
            tasks.append(task)
    return replace(graph, tasks=tuple(tasks))


def _task(chain: Chain, known: Mapping[str, Template], made: dict[str, Template]) -> Task:
    """The one task of a chain: the first one's edges, everybody's arguments from outside, the last one's name."""
    head, last = chain.tasks[0], chain.tasks[-1]
    links: list[Link] = []
    parameters: list[Parameter] = []
    arguments: list[Argument] = []
    taken: set[str] = set()
    for task, template in zip(chain.tasks, chain.templates, strict=True):
        assert isinstance(template.body, Function)
        given = {argument.name: argument for argument in task.arguments}
        inputs = []
        for parameter in template.inputs.parameters:
            argument = given.get(parameter.name)
            inside = argument.value if argument is not None and task is not head else Literal(None)
            if isinstance(inside, TaskOutput):
                inputs.append(LinkInput(parameter.name, parameter.type, output=inside.name))
                continue
            name = take_name(parameter.name, taken, "_")
            parameters.append(replace(parameter, name=name))
            if argument is not None:
                arguments.append(replace(argument, name=name))
            inputs.append(LinkInput(parameter.name, parameter.type, parameter=name))
        outputs = (
            () if task is last else tuple(LinkOutput(each.name, each.type) for each in template.outputs.parameters)
        )
        body = template.body
        links.append(Link(task.display or task.name, body.name, body.returns, tuple(inputs), outputs))
    whole = _template(chain, tuple(links), tuple(parameters), known, made)
    return replace(
        head, name=last.name, call=whole, arguments=tuple(arguments), display=last.display, source=last.source
    )


def _template(
    chain: Chain,
    links: tuple[Link, ...],
    parameters: tuple[Parameter, ...],
    known: Mapping[str, Template],
    made: dict[str, Template],
) -> str:
    """The name of the joined template, made unless there is one like it already."""
    last = chain.templates[-1]
    bodies = [each.body for each in chain.templates if isinstance(each.body, Function)]
    pieces = tuple(dict.fromkeys(piece for body in bodies for piece in body.pieces))
    effects = tuple(dict.fromkeys(effect for each in chain.templates for effect in each.effects))
    whole = replace(
        last,
        name="-".join(each.name for each in chain.templates)[:LONGEST].rstrip("-"),
        body=replace(bodies[-1], pieces=pieces, links=links),
        inputs=Inputs(parameters),
        effects=effects,
        description="",
        display="",
    )
    return keep(whole, known, made)


def _note(chain: Chain, engine: str) -> Note:
    names = [task.display or task.name for task in chain.tasks]
    saved = STARTS.get(engine, STARTS["argo"]) * (len(names) - 1)
    what = f"{len(names)} steps in one: {', '.join(names)}"
    return Note(
        names[-1], what, "each is read by the next alone", f"about {saved:.2g} s of starting", chain.tasks[0].source
    )
