"""Graphs, fan-outs and loops over templates that are already there."""

from __future__ import annotations

from collections.abc import Sequence as Many

import msgspec

from couler_py.ir import expr as x
from couler_py.ir.meaning import edges
from couler_py.ir.model import (
    After,
    Argument,
    ArtifactArgument,
    Carry,
    Each,
    Graph,
    Hook,
    InputArtifact,
    Inputs,
    Loop,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Sequence,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.possible import Possibilities, Presence
from couler_py.ir.storage import RawData
from couler_py.ir.types import ANY, INT, STR, ListOf, Type, accepts, type_of
from tests.strategies.dice import Dice, chance, pick, some
from tests.strategies.expressions import Known, condition, expression
from tests.strategies.text import IDENTIFIERS, hostile, name
from tests.strategies.typed import make_type, make_value


class Made(msgspec.Struct, frozen=True):
    """A task that is already in the graph, and what it gives."""

    task: Task
    template: Template

    def outputs(self) -> list[tuple[x.Expr, Type]]:
        given: list[tuple[x.Expr, Type]] = []
        for output in self.template.outputs.parameters:
            type_ = output.type if self.task.each is None else ListOf(output.type)
            given.append((x.TaskOutput(self.task.name, output.name), type_))
        return given

    def files(self) -> list[x.Expr]:
        return [x.TaskArtifact(self.task.name, artifact.name) for artifact in self.template.outputs.artifacts]


def graph(
    dice: Dice, own: str, templates: Many[Template], parameters: tuple[Parameter, ...], most: int, inputs: bool = True
) -> Template:
    """A graph of up to `most` tasks that call the given templates."""
    taken: set[str] = set()
    given = _inputs(dice) if inputs else Inputs()
    outside = tuple((x.WorkflowParameter(p.name), p.type) for p in parameters)
    outside += tuple((x.Input(p.name), p.type) for p in given.parameters)
    outside += ((x.Run("id"), STR),)
    made: list[Made] = []
    for _ in range(dice.number(1, most)):
        made.append(_task(dice, name(dice, taken), pick(dice, templates), made, outside, given.artifacts, templates))
    tasks = tuple(one.task for one in made)
    template = Template(own, Graph(tasks, fail_fast=chance(dice, 3)), given, parallelism=2 if chance(dice, 5) else None)
    known = Possibilities(Workflow("w", own, (*templates, template)))
    outputs = _outputs(dice, made, outside, known.presence(template))
    return msgspec.structs.replace(template, outputs=outputs)


def _inputs(dice: Dice) -> Inputs:
    taken: set[str] = set()
    parameters = []
    for _ in range(dice.number(0, 2)):
        type_ = make_type(dice, 1)
        given = {"default": make_value(dice, type_)} if chance(dice, 25) else {}
        parameters.append(Parameter(name(dice, taken, IDENTIFIERS), type_, **given))
    artifacts = [InputArtifact(name(dice, taken, IDENTIFIERS), optional=True)] if chance(dice, 10) else []
    return Inputs(tuple(parameters), tuple(artifacts))


def _task(
    dice: Dice,
    own: str,
    template: Template,
    made: list[Made],
    outside: tuple[tuple[x.Expr, Type], ...],
    files: tuple[InputArtifact, ...],
    templates: Many[Template],
) -> Made:
    always = bool(made) and chance(dice, 10)
    outputs = tuple(output for one in made for output in one.outputs())
    known = Known(outside, outputs) if always else Known((*outside, *outputs[-6:]))
    each = _each(dice, known) if chance(dice, 20) else None
    within = known
    if each is not None:
        within = Known((*known.plain, (x.Item(), _item_type(each, known)), *_items(made, always)), known.careful)
    arguments = tuple(
        Argument(parameter.name, expression(dice, parameter.type, within))
        for parameter in template.inputs.parameters
        if parameter.default is msgspec.UNSET or chance(dice, 60)
    )
    artifacts = tuple(
        argument
        for artifact in template.inputs.artifacts
        if (argument := _file(dice, artifact, [] if always else made, files)) is not None
    )
    when = condition(dice, known) if not always and chance(dice, 25) else None
    task = Task(own, template.name, arguments, artifacts, when=when, each=each)
    task = msgspec.structs.replace(task, after=_after(dice, task, made, always))
    if chance(dice, 3):
        task = msgspec.structs.replace(task, hooks=_hooks(templates, task))
    if chance(dice, 5):
        task = msgspec.structs.replace(task, display=hostile(dice))
    return Made(task, template)


def _items(made: list[Made], always: bool) -> list[tuple[x.Expr, Type]]:
    fan_outs = [one.task for one in made if one.task.each is not None and isinstance(one.task.each.items, Sequence)]
    if always:
        return []
    return [(x.TaskItems(task.name), ListOf(STR if task.each and _form(task.each) else INT)) for task in fan_outs]


def _form(each: Each) -> str:
    return each.items.form if isinstance(each.items, Sequence) else ""


def _each(dice: Dice, known: Known) -> Each:
    bounds = {"parallel": dice.number(1, 3) if chance(dice, 25) else None, "tolerate": 1 if chance(dice, 20) else 0}
    lists = [(expr, type_) for expr, type_ in known.plain if isinstance(type_, ListOf)]
    match dice.number(0, 2):
        case 0:
            type_ = make_type(dice, 1)
            items: x.Expr | Sequence = x.Literal([make_value(dice, type_) for _ in range(dice.number(0, 4))])
        case 1 if lists:
            items = pick(dice, lists)[0]
        case _:
            start = x.Literal(dice.number(-2, 2)) if chance(dice, 30) else None
            items = Sequence(start, count=x.Literal(dice.number(0, 4)), form="item-%02d" if chance(dice, 10) else "")
    return Each(items, **bounds)


def _item_type(each: Each, known: Known) -> Type:
    if isinstance(each.items, Sequence):
        return STR if each.items.form else INT
    if isinstance(each.items, x.Literal):
        literal = type_of(each.items.value)
        return literal.item if isinstance(literal, ListOf) else ANY
    types = [type_ for expr, type_ in known.plain if expr == each.items]
    return types[0].item if types and isinstance(types[0], ListOf) else ANY


def _file(
    dice: Dice, artifact: InputArtifact, made: list[Made], files: tuple[InputArtifact, ...]
) -> ArtifactArgument | None:
    sources = [expr for one in made for expr in one.files()]
    if sources and chance(dice, 70):
        found = pick(dice, sources)
        if artifact.optional and chance(dice, 40):
            found = x.OrElse(found, x.Literal(None))
        return ArtifactArgument(artifact.name, found)
    if artifact.optional:
        optional = [file for file in files if file.optional]
        if optional and chance(dice, 50):
            return ArtifactArgument(artifact.name, x.InputArtifact(pick(dice, optional).name), optional=True)
        return None
    return ArtifactArgument(artifact.name, storage=RawData(hostile(dice)))


def _after(dice: Dice, task: Task, made: list[Made], always: bool) -> tuple[After, ...]:
    names = [one.task.name for one in made]
    if always:
        watched = some(dice, names, 2) or [names[0]]
        return tuple(After(name, "always") for name in watched)
    read = {producer for edge in edges(task) for producer in edge.tasks}
    free = [name for name in names if name not in read]
    return tuple(After(name, pick(dice, ("order", "order", "on_failure"))) for name in some(dice, free, 2))


def _hooks(templates: Many[Template], task: Task) -> tuple[Hook, ...]:
    simple = [t for t in templates if not any(p.default is msgspec.UNSET for p in t.inputs.parameters)]
    simple = [t for t in simple if not any(not a.optional for a in t.inputs.artifacts)]
    return (Hook("exit", simple[0].name),) if simple else ()


def _outputs(dice: Dice, made: list[Made], outside: tuple[tuple[x.Expr, Type], ...], presence: Presence) -> Outputs:
    parameters: list[OutputParameter] = []
    for expr, type_ in some(dice, [output for one in made for output in one.outputs()], 2):
        value = expr
        if presence.absent_source(expr) is not None:
            value = x.OrElse(expr, x.Literal(make_value(dice, type_)))
        parameters.append(OutputParameter(f"out{len(parameters)}", type_, value=value))
    if chance(dice, 20):
        parameters.append(OutputParameter("text", STR, value=expression(dice, STR, Known(outside))))
    present = [expr for one in made for expr in one.files() if presence.absent_source(expr) is None]
    files = [OutputArtifact("file", value=pick(dice, present))] if present and chance(dice, 40) else []
    return Outputs(tuple(parameters), tuple(files))


def loop(dice: Dice, own: str, body: Template) -> Template:
    """A loop over a template; it has the body's inputs, and some or all of its outputs."""
    outputs = body.outputs.parameters
    until = condition(dice, Known(tuple((x.Own(output.name), output.type) for output in outputs)), 1)
    carry = []
    for parameter in body.inputs.parameters:
        fitting = [output for output in outputs if accepts(parameter.type, output.type)]
        if fitting and chance(dice, 60):
            carry.append(Carry(pick(dice, fitting).name, parameter.name))
    parameters = tuple(msgspec.structs.replace(parameter, description="") for parameter in body.inputs.parameters)
    artifacts = tuple(InputArtifact(artifact.name, optional=artifact.optional) for artifact in body.inputs.artifacts)
    given = tuple(OutputParameter(output.name, output.type, value=x.Own(output.name)) for output in outputs)
    return Template(
        own,
        Loop(body.name, until, tuple(carry), dice.number(1, 5)),
        Inputs(parameters, artifacts),
        Outputs(given),
    )
