"""What a DAG says about itself: parameters, schedule, bounds, and what only Airflow reads."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from couler_py.backends.airflow.importing import facts
from couler_py.backends.airflow.importing.facts import plain
from couler_py.ir.model import Parameter, Schedule
from couler_py.ir.schedules import cron_problem
from couler_py.ir.types import ANY, BOOL, FLOAT, INT, NONE, STR, Choice, DictOf, ListOf, Type, UnionOf

SHOWN = frozenset(
    [
        "type",
        "enum",
        "items",
        "additionalProperties",
        "anyOf",
        "oneOf",
        "const",
        "default",
        "title",
        "description",
        "description_md",
        "examples",
        "values_display",
        "section",
        "custom_html_form",
        "$schema",
    ]
)
"""Members of a parameter's JSON schema that its type says, or that only the page of Airflow reads."""
CRONS = ("CronTriggerTimetable", "CronDataIntervalTimetable", "MultipleCronTriggerTimetable")
LeftOut = tuple[str, str]


def parameters(dag: facts.Dag) -> tuple[Parameter, ...]:
    """The parameters of the run, each with its type."""
    return tuple(_parameter(name, given) for name, given in dag.params.items())


def _parameter(name: str, given: facts.Param) -> Parameter:
    type_ = type_of(given.schema) if _typed(given.schema) else _type_of_value(given)
    value = given.value if given.has and plain(given.value) else UNSET
    words = type_.values if isinstance(type_, Choice) else ()
    texts = tuple(each for each in words if isinstance(each, str))
    enum = texts if texts and len(texts) == len(words) else None
    return Parameter(name, type_, value, enum, given.description)


def _typed(schema: dict[str, Any]) -> bool:
    return any(name in schema for name in ("type", "enum", "const", "anyOf", "oneOf"))


def _type_of_value(given: facts.Param) -> Type:
    match given.value:
        case bool():
            return BOOL
        case int():
            return INT
        case float():
            return FLOAT
        case str():
            return STR
        case list():
            return ListOf(ANY)
        case dict():
            return DictOf(ANY)
    return ANY


def type_of(schema: Any) -> Type:
    """The type that a JSON schema describes; any where it says nothing of it."""
    if not isinstance(schema, dict):
        return ANY
    if isinstance(schema.get("enum"), list) and all(_scalar(each) for each in schema["enum"]):
        return Choice(tuple(schema["enum"]))
    if "const" in schema and _scalar(schema["const"]):
        return Choice((schema["const"],))
    options = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(options, list):
        return _union([type_of(each) for each in options])
    said = schema.get("type")
    if isinstance(said, list):
        return _union([type_of({**schema, "type": each}) for each in said])
    match said:
        case "array":
            return ListOf(type_of(schema.get("items")))
        case "object":
            return DictOf(type_of(schema.get("additionalProperties")))
    return {"string": STR, "integer": INT, "number": FLOAT, "boolean": BOOL, "null": NONE}.get(str(said), ANY)


def _scalar(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _union(options: list[Type]) -> Type:
    distinct = tuple(dict.fromkeys(options))
    if ANY in distinct:
        return ANY
    return distinct[0] if len(distinct) == 1 else UnionOf(distinct)


def schedule(dag: facts.Dag) -> Schedule | None:
    """When runs start, where that is by the clock."""
    given = dag.schedule
    if given.kind not in CRONS or not given.crons or any(cron_problem(each) for each in given.crons):
        return None
    concurrency = "Forbid" if dag.max_active_runs == 1 else "Allow"
    return Schedule(given.crons, given.timezone, concurrency, suspended=dag.paused)  # type: ignore[arg-type]


def engines(dag: facts.Dag) -> dict[str, Any]:
    """What only Airflow reads: `engines={"airflow": ...}`."""
    found: dict[str, Any] = {}
    if dag.owner not in ("", "airflow"):
        found["owner"] = dag.owner
    if dag.tags:
        found["tags"] = list(dag.tags)
    if dag.start_date is not None:
        found["start_date"] = _day(dag.start_date, dag.timezone)
    if dag.catchup:
        found["catchup"] = True
    if dag.schedule.assets and dag.schedule.all:
        found["after"] = list(dag.schedule.assets)
    if assets := outlets(dag):
        found["assets"] = assets
    return {"airflow": found} if found else {}


def _day(instant: str, timezone: str) -> str:
    import zoneinfo

    try:
        zone: datetime.tzinfo = zoneinfo.ZoneInfo(timezone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        zone = datetime.UTC
    return datetime.datetime.fromisoformat(instant).astimezone(zone).date().isoformat()


def outlets(dag: facts.Dag) -> list[str]:
    """The assets that tasks bring up to date."""
    found = {each["uri"] for task in dag.tasks for each in task.outlets if facts.marked(each) == "asset"}
    return sorted(found)


def left_out(dag: facts.Dag) -> Iterator[LeftOut]:
    """What a DAG says that has no word here: what it is, and the way out."""
    given = dag.schedule
    if "Asset" in given.kind and not given.assets:
        yield "the schedule by assets", "name those of which all change: engines={'airflow': {'after': [...]}}"
    elif not given.assets and given.kind != "NullTimetable" and schedule(dag) is None:
        yield f"the schedule {given.text}", 'write it as a cron line: @couler.workflow(schedule="0 3 * * *")'
    if dag.max_active_runs == 1 and schedule(dag) is None:
        yield "max_active_runs=1", "it stands beside a schedule: concurrency='Forbid'"
    elif dag.max_active_runs not in (1, dag.standard_runs):
        yield f"max_active_runs={dag.max_active_runs}", "runs are bounded to one (concurrency='Forbid') or not at all"
    if dag.end_date is not None:
        yield f"the end_date {dag.end_date}", "suspend the schedule when it is over"
    if dag.fail_fast:
        yield "fail_fast", "branches that have nothing to do with a failure go on"
    if dag.deadline:
        yield "the deadline alert", "@couler.workflow(deadline=...) ends a run that takes too long"
    for name in dag.callbacks:
        yield f"{name} (a function that Airflow calls)", "couler.on_failure(step), couler.on_success(step)"
    if dag.macros:
        yield f"macros and filters of its own: {', '.join(dag.macros)}", "compute what they give in a Python step"
    for name, parameter in dag.params.items():
        bounds = sorted(set(parameter.schema) - SHOWN)
        if bounds:
            yield f"{', '.join(bounds)} of the parameter {name}", "check it in the first step that reads it"


def parallelism(dag: facts.Dag) -> int | None:
    """How many tasks of a run are at work at once, where the DAG says so."""
    return dag.max_active_tasks if dag.max_active_tasks != dag.standard_tasks else None
