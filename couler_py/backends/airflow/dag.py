"""The DAG itself: when it runs, with which parameters, how much at once, and what people read about it."""

from __future__ import annotations

from msgspec import UNSET

from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.leaf import display
from couler_py.backends.airflow.options import Deadline, Own
from couler_py.backends.airflow.policies import seconds
from couler_py.backends.airflow.types import schema_of
from couler_py.ir.model import Parameter, Schedule
from couler_py.ir.names import legal_name
from couler_py.printer.layout import Doc, call, items, keyword
from couler_py.printer.literal import literal, quoted


def dag_id(emission: Emission) -> str:
    """The id of the DAG: the workflow's name, legal on Airflow, unless the caller chose one."""
    return emission.options.dag_id or legal_name("airflow", "workflow", emission.workflow.name)


def dag_call(emission: Emission) -> Doc:
    """The decorator of the function that makes the tasks."""
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
    if own.deadline is not None:
        found["deadline"] = _deadline(own.deadline)
    if workflow.parameters:
        found["params"] = display({each.name: _param(each) for each in workflow.parameters})
    if defaults := _defaults(emission):
        found["default_args"] = display(defaults)
    if tags := _tags(emission):
        found["tags"] = literal(tags)
    if schedule is not None and schedule.suspended:
        found["is_paused_upon_creation"] = "True"
    found["doc_md"] = "__doc__"
    return call("dag", quoted(dag_id(emission)), *(keyword(name, value) for name, value in found.items()))


def _deadline(deadline: Deadline) -> Doc:
    """What is called when a run takes too long: Airflow looks for it in its triggerer."""
    since = {"queued": "DAGRUN_QUEUED_AT", "scheduled": "DAGRUN_LOGICAL_DATE"}[deadline.since]
    given = [keyword("kwargs", literal(deadline.arguments))] if deadline.arguments else []
    return call(
        "DeadlineAlert",
        keyword("reference", f"DeadlineReference.{since}"),
        keyword("interval", seconds(deadline.after)),
        keyword("callback", call("AsyncCallback", quoted(deadline.callback), *given)),
    )


LONGEST_TAG = 100
"""Characters of a tag (airflow.sdk.definitions.dag, TAG_MAX_LEN)."""


def _tags(emission: Emission) -> list[str]:
    """The tags of the workflow, and its labels."""
    workflow = emission.workflow
    tags = [*emission.own.tags, *(f"{key}={value}" if value else key for key, value in workflow.labels)]
    for tag in tags:
        if len(tag) > LONGEST_TAG:
            emission.problem(
                "CLR517",
                f"the tag {tag[:40]}… of {workflow.name!r} has {len(tag)} characters, and Airflow takes {LONGEST_TAG}",
                severity="warning",
                step=workflow.name,
                source=workflow.source,
                help="it is left out; give the workflow a shorter label",
            )
    return [tag for tag in tags if len(tag) <= LONGEST_TAG]


def _defaults(emission: Emission) -> dict[str, Doc]:
    found: dict[str, Doc] = {}
    if emission.own.owner:
        found["owner"] = quoted(emission.own.owner)
    if emission.options.operators == "kubernetes" and emission.options.namespace:
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
