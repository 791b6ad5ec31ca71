"""Whole workflows: parameters, templates from the leaves up, handlers, schedule."""

from __future__ import annotations

import msgspec

from couler_py.ir import expr as x
from couler_py.ir.graph import reachable
from couler_py.ir.model import Argument, Handler, Parameter, Schedule, Template, Workflow
from couler_py.ir.types import STR
from tests.strategies.dice import Dice, chance, pick
from tests.strategies.expressions import Known, expression
from tests.strategies.graphs import graph, loop
from tests.strategies.leaves import leaf
from tests.strategies.text import IDENTIFIERS, hostile, name
from tests.strategies.typed import make_type, make_value


def make_workflow(dice: Dice) -> Workflow:
    """Any valid workflow, without templates that nothing calls."""
    taken: set[str] = set()
    parameters = _parameters(dice)
    templates: list[Template] = []
    for _ in range(dice.number(1, 3)):
        templates.append(leaf(dice, name(dice, taken), parameters))
    for _ in range(dice.number(0, 2)):
        if chance(dice, 25):
            templates.append(loop(dice, name(dice, taken), pick(dice, templates)))
        else:
            templates.append(graph(dice, name(dice, taken), templates, parameters, 3))
    main = graph(dice, name(dice, taken), templates, parameters, 5, inputs=False)
    workflow = Workflow(name(dice, set()), main.name, (*templates, main), parameters)
    workflow = msgspec.structs.replace(
        workflow,
        handlers=_handlers(dice, workflow),
        schedule=_schedule(dice, parameters),
        parallelism=4 if chance(dice, 10) else None,
        deadline=600.0 if chance(dice, 5) else None,
        description=hostile(dice) if chance(dice, 10) else "",
        display=hostile(dice) if chance(dice, 10) else "",
    )
    reached = set(reachable(workflow))
    kept = tuple(template for template in workflow.templates if template.name in reached)
    return msgspec.structs.replace(workflow, templates=kept)


def _parameters(dice: Dice) -> tuple[Parameter, ...]:
    taken: set[str] = set()
    parameters = []
    for _ in range(dice.number(0, 2)):
        type_ = make_type(dice, 1)
        given = {} if chance(dice, 10) else {"default": make_value(dice, type_)}
        parameters.append(Parameter(name(dice, taken, IDENTIFIERS), type_, **given))
    return tuple(parameters)


def _handlers(dice: Dice, workflow: Workflow) -> tuple[Handler, ...]:
    if not chance(dice, 20):
        return ()
    reached = set(reachable(workflow))
    alone = [
        one for one in workflow.templates[:-1] if not any(not artifact.optional for artifact in one.inputs.artifacts)
    ]
    if not alone:
        return ()
    called = pick(dice, alone)
    running = [one for one in workflow.templates if one.name in reached]
    outputs = [output for one in running for output in one.outputs.parameters if output.global_name]
    known = Known(
        (*((x.WorkflowParameter(p.name), p.type) for p in workflow.parameters), (x.Run("status"), STR)),
        tuple((x.Published(output.global_name), output.type) for output in outputs),
    )
    given = tuple(
        Argument(parameter.name, expression(dice, parameter.type, known))
        for parameter in called.inputs.parameters
        if parameter.default is msgspec.UNSET
    )
    when = x.Compare("!=", x.Run("status"), x.Literal("Succeeded")) if chance(dice, 30) else None
    return (Handler("notify", called.name, pick(dice, ("exit", "success", "failure")), when, given),)


def _schedule(dice: Dice, parameters: tuple[Parameter, ...]) -> Schedule | None:
    if any(parameter.default is msgspec.UNSET for parameter in parameters) or not chance(dice, 10):
        return None
    return Schedule((pick(dice, ("0 3 * * *", "*/5 * * * 1-5", "@daily")),), pick(dice, ("UTC", "Europe/Berlin")))
