"""What is known of a DAG, as the program in Airflow's environment says it (`inspecting.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

MARK = "$"
"""The member of an object in place of something that JSON can't say: what that is."""


class Expansion(msgspec.Struct, frozen=True):
    """What a task or group is mapped over: lists by argument, or (`whole`) a list of objects with all arguments.

    `arguments` tells whether these are a function's, and not the operator's own.
    """

    whole: bool
    value: Any
    arguments: bool


class Task(msgspec.Struct, frozen=True):
    """A task: its operator's classes (nearest first), what it waits for, and what it was given.

    `overrides` are the methods of Airflow's classes in whose place a class of somebody else's has its own.
    """

    id: str
    label: str
    kinds: tuple[str, ...]
    shown: str
    overrides: tuple[str, ...]
    upstream: tuple[str, ...]
    rule: str
    group: str | None
    mapped_group: str | None
    given: dict[str, Any]
    policies: dict[str, Any]
    expand: Expansion | None
    params: dict[str, Any]
    multiple: bool
    outlets: tuple[Any, ...]

    def is_a(self, *names: str) -> bool:
        """Whether the operator is of one of the classes, by their names."""
        return any(kind.rpartition(".")[2] in names for kind in self.kinds)

    @property
    def teardown(self) -> bool:
        """Whether it tidies up after others."""
        return bool(self.policies.get("is_teardown"))


class Group(msgspec.Struct, frozen=True):
    """A task group; `roots` are the tasks in it that wait for no other in it."""

    id: str
    parent: str | None
    tooltip: str
    roots: tuple[str, ...]
    expand: Expansion | None


class Schedule(msgspec.Struct, frozen=True):
    """When runs start: the class of the timetable and what it says.

    `assets` are URIs of which all (`all`) have to change; none where the condition is another one.
    """

    kind: str
    crons: tuple[str, ...]
    timezone: str
    text: str
    assets: tuple[str, ...]
    all: bool


class Param(msgspec.Struct, frozen=True):
    """A parameter of the DAG; `has` tells whether it has a value by default."""

    has: bool
    value: Any
    schema: dict[str, Any]
    description: str


class Dag(msgspec.Struct, frozen=True):
    """One DAG. `standard_runs` and `standard_tasks` are the bounds that this installation gives to all."""

    id: str
    file: str
    description: str
    doc: str
    schedule: Schedule
    start_date: str | None
    end_date: str | None
    timezone: str
    catchup: bool
    max_active_runs: int
    max_active_tasks: int
    standard_runs: int
    standard_tasks: int
    timeout: float | None
    native: bool
    paused: bool
    fail_fast: bool
    tags: tuple[str, ...]
    owner: str
    params: dict[str, Param]
    callbacks: tuple[str, ...]
    macros: tuple[str, ...]
    deadline: bool
    tasks: tuple[Task, ...]
    groups: tuple[Group, ...]


class Facts(msgspec.Struct, frozen=True):
    """All of a file of DAGs; `missing` is why Airflow could not be imported, `errors` why the file could not.

    `values` are the plain values of the modules with functions of tasks, by their files.
    """

    airflow: str = ""
    missing: str = ""
    errors: tuple[str, ...] = ()
    dags: tuple[Dag, ...] = ()
    values: dict[str, dict[str, Any]] = {}


def marked(value: Any) -> str:
    """What a value stands for, where JSON can't say it; else an empty text."""
    return str(value.get(MARK, "")) if isinstance(value, dict) else ""


def plain(value: Any) -> bool:
    """Whether a value is JSON through and through."""
    if isinstance(value, dict):
        return MARK not in value and all(map(plain, value.values()))
    return not isinstance(value, list) or all(map(plain, value))


def walk(value: Any) -> Iterator[Any]:
    """A value and everything in it."""
    yield value
    if isinstance(value, list):
        for each in value:
            yield from walk(each)
    elif isinstance(value, dict) and MARK not in value:
        for each in value.values():
            yield from walk(each)


def seconds(value: Any) -> float | None:
    """A span of time in seconds, as it was given: a timedelta, or a number."""
    if isinstance(value, dict):
        return float(value["value"]) if marked(value) == "seconds" else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
