"""How a run begins and ends: parameters, schedule, handlers."""

from __future__ import annotations

import msgspec

from couler_py.ir.model import Schedule
from couler_py.ir.schedules import cron_problem, is_timezone
from couler_py.ir.types import accepts, describe
from couler_py.passes.check.arguments import check_arguments
from couler_py.passes.check.calls import check_called
from couler_py.passes.check.facts import Facts, Signature
from couler_py.passes.check.findings import Findings, Place, related
from couler_py.passes.check.outputs import check_parameter
from couler_py.passes.check.policies import check_keeping
from couler_py.passes.check.scope import IN_HANDLERS, Scope
from couler_py.passes.check.typing import check_condition


def check_start(facts: Facts, findings: Findings) -> None:
    """The workflow's parameters, and that they and its files give the entrypoint what it needs."""
    workflow = facts.workflow
    place = Place(workflow.name, workflow.source)
    for parameter in workflow.parameters:
        check_parameter(parameter, "the workflow's parameter", findings, place)
    entry = facts.signature_of(workflow.entrypoint)
    if entry is None:
        return
    files = {artifact.name for artifact in workflow.artifacts}
    see = related((f"the entrypoint {entry.name}", entry.source))
    for name, asked in entry.parameters.items():
        given = facts.parameters.get(name)
        if given is None:
            if name in entry.required:
                message = f"the entrypoint needs {name}, and the workflow has no parameter of that name"
                findings.error("CLR211", message, place, related=see)
        elif not accepts(asked.type, given.type):
            message = (
                f"the workflow's parameter {name} is {describe(given.type)}, and the entrypoint takes "
                f"{describe(asked.type)}"
            )
            findings.error("CLR213", message, place, related=see)
    for name in entry.required_artifacts:
        if name not in files:
            findings.error("CLR211", f"the entrypoint needs the file {name}, and it isn't given", place, related=see)


def check_handlers(facts: Facts, findings: Findings) -> None:
    """The handlers of the run: they see parameters and the run, never the outputs of steps."""
    for handler in facts.workflow.handlers:
        place = Place(handler.name, handler.source or facts.workflow.source)
        check_called(handler.call, facts, findings, place)
        scope = Scope(facts, findings, place, "the condition", run=IN_HANDLERS)
        if handler.when is not None:
            check_condition(handler.when, scope)
        check_arguments(
            _beside_imported(facts.signature_of(handler.call), facts), handler.arguments, handler.artifacts, scope
        )


def _beside_imported(target: Signature | None, facts: Facts) -> Signature | None:
    """A handler's template without what Argo gives it from the parameters of an imported workflow."""
    if target is None:
        return None
    given = {name for name, parameter in facts.parameters.items() if not parameter.portable}
    required = tuple(name for name in target.required if name not in given)
    return msgspec.structs.replace(target, required=required)


def check_schedule(facts: Facts, findings: Findings) -> None:
    """The schedule can be kept: its times and zone exist, and nobody needs to be asked for parameters."""
    schedule = facts.workflow.schedule
    if schedule is None:
        return
    place = Place(facts.workflow.name, facts.workflow.source)
    if not schedule.crons:
        findings.error("CLR255", "the schedule names no time", place)
    _check_times(schedule, findings, place)
    check_keeping(schedule, findings, place)
    for parameter in facts.workflow.parameters:
        if parameter.default is msgspec.UNSET and parameter.value_from is None:
            findings.error(
                "CLR257",
                f"the workflow starts by itself, and its parameter {parameter.name} has no default",
                place,
                help=f"give {parameter.name} a default",
            )


def _check_times(schedule: Schedule, findings: Findings, place: Place) -> None:
    for cron in schedule.crons:
        problem = cron_problem(cron)
        if problem is not None:
            findings.error("CLR255", f"{cron!r} is no time of a schedule: {problem}", place, help='write "0 3 * * *"')
    if not is_timezone(schedule.timezone):
        message = f"there is no time zone {schedule.timezone!r}"
        findings.error("CLR256", message, place, help='write a name of the tz database, as "Europe/Berlin"')
