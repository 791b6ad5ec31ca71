"""What people wrote, and what a workflow has to be so that it is what they meant."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

Half: TypeAlias = Literal["develop", "held", "fresh"]
Value: TypeAlias = str | int | float | bool
HERE = Path(__file__).parent


class _Plain(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Comparison(_Plain, frozen=True):
    """A comparison with one of the operators `op` and one of the values."""

    op: tuple[Literal["==", "!=", "<", "<=", ">", ">="], ...]
    value: tuple[Value, ...]


class When(_Plain, frozen=True):
    """A role runs only where one of the tests holds for what `on` found. No `on`: of any task; no tests: any."""

    role: str
    on: str = ""
    tests: tuple[Comparison, ...] = ()


class Until(_Plain, frozen=True):
    """A role is repeated, together with others, until one of the tests holds, at most so many times."""

    role: str
    tests: tuple[Comparison, ...]
    most: int | None = None
    together: tuple[str, ...] = ()


class Each(_Plain, frozen=True):
    """A role runs once for each of the items (words for each, any of them), for so many, or for what a role gives.

    `start` "*" is any list that is known only when it runs. `parallel` is how many run at once.
    """

    role: str
    items: tuple[tuple[Value, ...], ...] = ()
    count: int | None = None
    start: str = msgspec.field(default="", name="from")
    parallel: int | None = None


class Parameter(_Plain, frozen=True):
    """A parameter of the workflow that has one of the words in its name."""

    name: tuple[str, ...]
    default: Value


class Holds(_Plain, frozen=True):
    """One of the values stands in the workflow: as an argument, a default, a place, an image, or in a command."""

    any: tuple[Value, ...]
    role: str = ""


class Schedule(_Plain, frozen=True):
    """It starts at the instants of one of the cron lines; or, where the text leaves it open, once `every` so often.

    Without a time zone any is right.
    """

    crons: tuple[str, ...] = ()
    timezone: str = ""
    every: Literal["", "hour", "day", "week", "month"] = ""


class Resources(_Plain, frozen=True):
    """What a step asks for. Memory within a tenth: people say GB for GiB."""

    cpu: str = ""
    memory: str = ""
    gpu: int = 0


class Distributed(_Plain, frozen=True):
    nodes: int
    processes: int


class Handler(_Plain, frozen=True):
    """What runs at the end of the run; one of the words stands in its name or arguments."""

    on: Literal["exit", "success", "failure"]
    words: tuple[str, ...]


class Wait(_Plain, frozen=True):
    """A role that waits: for a person, or for so many seconds."""

    role: str
    seconds: float | None = None


class Facts(_Plain, frozen=True):
    """What holds for a workflow that is right.

    `order` are chains of roles, each after the one before. `after_failure` are pairs: the second runs where the
    first failed. In `retries` and `timeouts` (seconds), "*" is every step, and "run" the whole run. `retries` are
    further attempts after the first, `backoff` the seconds before the first of them.
    `absent` stands nowhere in it; `no_task` are words that no task has in its name.
    """

    order: tuple[tuple[str, ...], ...] = ()
    parallel: tuple[tuple[str, ...], ...] = ()
    each: tuple[Each, ...] = ()
    when: tuple[When, ...] = ()
    until: tuple[Until, ...] = ()
    after_failure: tuple[tuple[str, str], ...] = ()
    parameters: tuple[Parameter, ...] = ()
    values: tuple[Holds, ...] = ()
    schedule: Schedule | None = None
    concurrency: Literal["", "Allow", "Forbid", "Replace"] = ""
    retries: dict[str, int] = {}
    backoff: dict[str, float] = {}
    timeouts: dict[str, float] = {}
    resources: dict[str, Resources] = {}
    distributed: dict[str, Distributed] = {}
    cache: tuple[str, ...] = ()
    handlers: tuple[Handler, ...] = ()
    waits: tuple[Wait, ...] = ()
    engine: Literal["", "argo", "airflow", "local"] = ""
    absent: tuple[str, ...] = ()
    no_task: tuple[str, ...] = ()


class Said(_Plain, frozen=True):
    """What has to be said to the person: a word of each list.

    `ask` in a question; `say` in a question, a refusal or a flag, or in a note that doesn't only repeat the text;
    `settled` in no question since the text answers it; `flag`: that the text tries to make it do something else.
    """

    ask: tuple[tuple[str, ...], ...] = ()
    say: tuple[tuple[str, ...], ...] = ()
    settled: tuple[tuple[str, ...], ...] = ()
    flag: bool = False


class Description(_Plain, frozen=True):
    """One text. `roles` are its tasks: for each, what it may be called (see `reading`)."""

    id: str
    language: str
    level: Literal["easy", "medium", "hard"]
    kind: Literal["plain", "open", "impossible", "hostile"]
    text: str
    roles: dict[str, tuple[str, ...]] = {}
    facts: Facts = Facts()
    said: Said = Said()


def half_of(name: str) -> Half:
    """Where the description of an id belongs: by the first byte of the sha256 of its family, the id up to the last dot.

    So all phrasings of one workflow are in the same half. Those in `fresh` belong to neither.

    >>> half_of("churn.1") == half_of("churn.6")
    True
    """
    family = name.rpartition(".")[0]
    return "held" if hashlib.sha256(family.encode()).digest()[0] % 2 else "develop"


def read(half: Half, folder: Path = HERE) -> tuple[Description, ...]:
    """The descriptions of one half, or the fresh ones, by id."""
    return tuple(read_one(path) for path in sorted((folder / half).glob("*.json")))


def read_one(path: Path) -> Description:
    """A description from its file. Raises `msgspec.ValidationError` for what isn't one."""
    return msgspec.json.decode(path.read_bytes(), type=Description)


def names_of_roles(description: Description) -> set[str]:
    """Every role that a fact speaks of."""
    facts: dict[str, Any] = msgspec.to_builtins(description.facts)
    found = {role for name in ("order", "parallel", "after_failure") for chain in facts.get(name, ()) for role in chain}
    for name in ("each", "when", "until", "values", "waits"):
        for fact in facts.get(name, ()):
            found |= {fact.get("role"), fact.get("on"), fact.get("from"), *fact.get("together", ())}
    for name in ("retries", "backoff", "timeouts", "resources", "distributed"):
        found |= set(facts.get(name, {}))
    return {str(role) for role in found | set(facts.get("cache", ())) if role not in (None, "", "*", "run")}
