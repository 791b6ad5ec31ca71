"""The DAG itself: when it runs, with which parameters, how much at once, and what people read about it."""

from __future__ import annotations

import shlex

from msgspec import UNSET

from couler_py import __version__
from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.leaf import display
from couler_py.backends.airflow.options import Own
from couler_py.backends.airflow.policies import seconds
from couler_py.backends.airflow.types import schema_of
from couler_py.ir.model import Parameter, Schedule
from couler_py.ir.names import legal_name
from couler_py.printer.layout import Doc, call, items, keyword
from couler_py.printer.literal import literal, quoted


def dag_id(emission: Emission) -> str:
    """The id of the DAG: the workflow's name, legal on Airflow, unless the caller chose one."""
    return emission.options.dag_id or legal_name("airflow", "workflow", emission.workflow.name)


def about(emission: Emission) -> str:
    """The docstring of the file, which Airflow shows as the DAG's documentation."""
    workflow = emission.workflow
    said = [workflow.description.strip() or f"The workflow {workflow.display or workflow.name}."]
    if emission.pools:
        said.append("It needs pools:")
        said += [f"    airflow pools set {shlex.quote(name)} {slots} ''" for name, slots in emission.pools.items()]
    said.append(f"\nWritten by couler-py {__version__}: change the program that it was made from, not this file.")
    return "\n".join(said) + "\n"


def dag_call(emission: Emission) -> Doc:
    """The call that makes the DAG."""
    workflow, own = emission.workflow, emission.own
    schedule = workflow.schedule
    zone = "" if schedule is None or schedule.timezone in ("", "UTC") else schedule.timezone
    start = own.start_date
    found: dict[str, Doc] = {
        "schedule": _schedule(schedule, own),
        "start_date": call(
            "datetime",
            *(str(each) for each in (start.year, start.month, start.day)),
            keyword("tzinfo", call("ZoneInfo", quoted(zone)) if zone else "UTC"),
        ),
        "catchup": repr(own.catchup),
    }
    if schedule is not None and schedule.concurrency == "Forbid":
        found["max_active_runs"] = "1"
    if workflow.parallelism is not None:
        found["max_active_tasks"] = str(workflow.parallelism)
    if workflow.deadline is not None:
        found["dagrun_timeout"] = seconds(workflow.deadline)
    if workflow.parameters:
        found["params"] = display({each.name: _param(each) for each in workflow.parameters})
    if defaults := _defaults(emission):
        found["default_args"] = display(defaults)
    tags = [*own.tags, *(f"{key}={value}" if value else key for key, value in workflow.labels)]
    if tags:
        found["tags"] = literal([tag[:100] for tag in tags])
    if schedule is not None and schedule.suspended:
        found["is_paused_upon_creation"] = "True"
    found["doc_md"] = "__doc__"
    return call("DAG", quoted(dag_id(emission)), *(keyword(name, value) for name, value in found.items()))


def _defaults(emission: Emission) -> dict[str, Doc]:
    found: dict[str, Doc] = {}
    if emission.own.owner:
        found["owner"] = quoted(emission.own.owner)
    if emission.options.operators == "kubernetes":
        found["namespace"] = quoted(emission.options.namespace)
    if emission.workflow.priority is not None:
        found |= {"priority_weight": str(emission.workflow.priority), "weight_rule": quoted("absolute")}
    return found


def asset(uri: str) -> Doc:
    """Something that runs bring up to date."""
    return call("Asset", quoted(uri))


def _schedule(schedule: Schedule | None, own: Own) -> Doc:
    if own.after:
        return items(asset(each) for each in own.after)
    if schedule is None:
        return "None"
    zone = keyword("timezone", quoted(schedule.timezone or "UTC"))
    if len(schedule.crons) == 1:
        return call("CronTriggerTimetable", quoted(schedule.crons[0]), zone)
    return call("MultipleCronTriggerTimetable", *(quoted(each) for each in schedule.crons), zone)


def _param(parameter: Parameter) -> Doc:
    more: dict[str, Doc] = {}
    schema = schema_of(parameter.type)
    if parameter.enum is not None:
        schema["enum"] = list(parameter.enum)
    if parameter.description:
        more["description"] = quoted(parameter.description)
    more |= {key: literal(value) for key, value in schema.items()}
    default = [] if parameter.default is UNSET else [literal(parameter.default)]
    return call("Param", *default, *(keyword(key, value) for key, value in more.items()))
