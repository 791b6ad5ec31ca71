"""What a description of a workflow says, as bounded data: both front ends write it, `assemble` makes IR of it.

It is flat so that a model can fill it in: tasks by name, and blocks (a fan-out, a loop) that tasks name by `inside`.
`schema()` is its JSON schema; every text, list and number in it has a limit.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

Name: TypeAlias = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]*$", min_length=1, max_length=48)]
Ref: TypeAlias = Annotated[str, Meta(pattern=r"^([a-z][a-z0-9_]*)?$", max_length=48)]
Short: TypeAlias = Annotated[str, Meta(max_length=200)]
Long: TypeAlias = Annotated[str, Meta(max_length=2000)]
Scalar: TypeAlias = bool | int | float | Annotated[str, Meta(max_length=500)]
Item: TypeAlias = Scalar | Annotated[tuple[Scalar, ...], Meta(max_length=8)]
Names: TypeAlias = Annotated[tuple[Name, ...], Meta(max_length=40)]

Kind: TypeAlias = Literal["python", "shell", "container", "http", "wait", "approval"]
Gives: TypeAlias = Literal["nothing", "value", "number", "flag", "text", "list", "file"]
Operator: TypeAlias = Literal["<", "<=", ">", ">=", "==", "!="]
ValueType: TypeAlias = Literal["str", "int", "float", "bool", "list"]


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Parameter(_Part, frozen=True):
    """A parameter of the run. Without a default (None) whoever starts a run has to give it."""

    name: Name
    type: ValueType = "str"
    default: Scalar | Annotated[tuple[Scalar, ...], Meta(max_length=100)] | None = None
    description: Short = ""


class Argument(_Part, frozen=True):
    """What a task is given beside what other tasks give: a value, or (`parameter`) one of the run's parameters."""

    name: Name
    value: Scalar | Annotated[tuple[Scalar, ...], Meta(max_length=100)] | None = None
    parameter: Ref = ""


class Condition(_Part, frozen=True):
    """A comparison. Left is what `task` gives (`field` of it, where it gives several), or a `parameter` of the run.

    Right is a `value`, or what the task `other` gives.
    """

    task: Ref = ""
    field: Ref = ""
    parameter: Ref = ""
    op: Operator = "=="
    value: Scalar = True
    other: Ref = ""


Conditions: TypeAlias = Annotated[tuple[Condition, ...], Meta(max_length=8)]


class Resources(_Part, frozen=True):
    """What a task asks for: `cpu` in cores, `memory` and `disk` as Kubernetes quantities, `gpu` devices."""

    cpu: Annotated[float, Meta(gt=0, le=1000)] | None = None
    memory: Annotated[str, Meta(pattern=r"^([0-9]+(Ki|Mi|Gi|Ti|k|M|G|T)?)?$", max_length=12)] = ""
    disk: Annotated[str, Meta(pattern=r"^([0-9]+(Ki|Mi|Gi|Ti|k|M|G|T)?)?$", max_length=12)] = ""
    gpu: Annotated[int, Meta(ge=0, le=64)] = 0


class Retry(_Part, frozen=True):
    """`limit` further attempts; `wait` seconds before the first of them, `factor` times as long before each next."""

    limit: Annotated[int, Meta(ge=0, le=100)] = 0
    wait: Annotated[float, Meta(ge=0, le=86400)] = 0
    factor: Annotated[float, Meta(ge=1, le=10)] = 1


class Task(_Part, frozen=True):
    """One step.

    `takes` names the tasks whose results it reads, `after` those that it only waits for. `fields` are numbers that it
    gives by name: several, or (`gives` is "file") beside a file. `command`, `image` and `url` are only for the kinds
    that have them. `on_failure` names tasks: it runs only where one of them failed; `always` those after which it runs
    in any case.
    """

    name: Name
    kind: Kind = "python"
    role: Ref = ""
    text: Long = ""
    takes: Names = ()
    after: Names = ()
    arguments: Annotated[tuple[Argument, ...], Meta(max_length=40)] = ()
    gives: Gives = "value"
    fields: Annotated[tuple[Name, ...], Meta(max_length=8)] = ()
    inside: Ref = ""
    when: Conditions = ()
    on_failure: Names = ()
    always: Names = ()
    command: Long = ""
    image: Short = ""
    url: Short = ""
    method: Literal["GET", "POST", "PUT", "DELETE"] = "GET"
    seconds: Annotated[float, Meta(ge=0, le=31536000)] | None = None
    packages: Annotated[tuple[Short, ...], Meta(max_length=20)] = ()
    retry: Retry = Retry()
    timeout: Annotated[float, Meta(ge=0, le=31536000)] | None = None
    cache: bool = False
    resources: Resources = Resources()


class Block(_Part, frozen=True):
    """Tasks that run several times: once for each item ("each"), or again until a condition holds ("loop").

    Items are given (`items`), the numbers from 0 to `count`, or what a task (`items_from`) or a parameter of the run
    (`parameter`) gives. `item` names one of them. A loop reads the condition `until` of what its own tasks give.
    `inside` is the block around it.
    """

    name: Name
    kind: Literal["each", "loop"] = "each"
    item: Name = "item"
    items: Annotated[tuple[Item, ...], Meta(max_length=200)] = ()
    items_from: Ref = ""
    parameter: Ref = ""
    count: Annotated[int, Meta(ge=1, le=100000)] | None = None
    parallel: Annotated[int, Meta(ge=1, le=1000)] | None = None
    tolerate: Annotated[int, Meta(ge=0, le=1000)] = 0
    until: Conditions = ()
    most: Annotated[int, Meta(ge=1, le=1000)] = 50
    when: Conditions = ()
    inside: Ref = ""


class Schedule(_Part, frozen=True):
    """When it starts by itself: cron lines of five fields, in a zone of the tz database."""

    crons: Annotated[tuple[Short, ...], Meta(min_length=1, max_length=8)]
    timezone: Short = "UTC"
    overlap: Literal["Allow", "Forbid", "Replace"] = "Allow"


class Notice(_Part, frozen=True):
    """Who is told when the run has ended: `channel` is email, slack, a webhook…, `target` an address."""

    on: Literal["failure", "success", "exit"] = "failure"
    channel: Short = ""
    target: Short = ""
    text: Short = ""


class Outline(_Part, frozen=True):
    """A whole description. `parallelism` bounds how many steps run at once, `deadline` is in seconds."""

    name: Name
    description: Long = ""
    tasks: Annotated[tuple[Task, ...], Meta(min_length=1, max_length=100)] = ()
    blocks: Annotated[tuple[Block, ...], Meta(max_length=20)] = ()
    parameters: Annotated[tuple[Parameter, ...], Meta(max_length=40)] = ()
    schedule: Schedule | None = None
    notices: Annotated[tuple[Notice, ...], Meta(max_length=10)] = ()
    engine: Literal["", "local", "argo", "airflow"] = ""
    parallelism: Annotated[int, Meta(ge=1, le=1000)] | None = None
    deadline: Annotated[float, Meta(gt=0, le=31536000)] | None = None
    retries: Annotated[int, Meta(ge=0, le=100)] = 0


def schema() -> dict[str, Any]:
    """The JSON schema of an outline, to constrain what a model says.

    >>> schema()["$ref"]
    '#/$defs/Outline'
    """
    return msgspec.json.schema(Outline)


def read(text: str | bytes) -> Outline:
    """An outline from JSON. Raises `msgspec.ValidationError`, which names the place, and `msgspec.DecodeError`.

    >>> read('{"name": "nightly", "tasks": [{"name": "load"}]}').tasks[0].kind
    'python'
    """
    return msgspec.json.decode(text, type=Outline)
