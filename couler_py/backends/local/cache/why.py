"""Why a step of a run was computed and not taken from the cache: what differs from its nearest earlier success."""

from __future__ import annotations

import difflib
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from couler_py.backends.base import RunNotFoundError
from couler_py.backends.local.paths import maker, shown
from couler_py.ir.model import Function, Script, Template
from couler_py.report.text import duration
from couler_py.store import cache, runs
from couler_py.store.cache import Entry, Lookup, Part, Parts
from couler_py.store.database import connect
from couler_py.store.home import open_home
from couler_py.store.records import RunRecord, TaskRecord

Kind: TypeAlias = Literal["cached", "changed", "expired", "gone", "first", "no cache", "not reached"]

LOOKED_AT = 500  # so many earlier successes of a step are compared
LONGEST_DIFF = 40  # lines
NAMED = 20  # so many tasks are named where one is asked for that isn't there

SAID = {
    "source": "its source changed",
    "modules": "modules of yours that it imports changed",
    "interface": "its inputs or outputs are declared otherwise",
    "settings": "its working folder, mounts or pod are set otherwise",
    "command": "its command changed",
    "body": "its content changed",
    "checks": "its outputs are held to other checks, for somebody else reads them",
    "image": "the image",
    "packages": "the package set",
    "python": "Python",
    "runtime": "what it runs in",
    "version": "the version of its cache",
    "key": "the key of its cache",
}
"""What a part is called, and what is said where its values aren't shown."""

OF = {
    "input": "the input {!r}",
    "artifact": "the file of the input {!r}",
    "env": "the environment variable {}",
    "config map": "the ConfigMap {}",
    "parameter": "the workflow's parameter {!r}",
    "step": "the step {} that it calls",
}
"""The same, of a part that has a name."""


class Change(msgspec.Struct, frozen=True):
    """One part of a key that differs: its name in the key, what to say of it, and of source the lines."""

    part: str
    text: str
    diff: tuple[str, ...] = ()


class Why(msgspec.Struct, frozen=True):
    """Why a task was computed, or who made what it used.

    `earlier` is the run and task (`RUN/TASK`) that it is compared with, `age` how many seconds older that is, and
    `max_age` the limit in seconds of a result that had expired.
    """

    run: str
    task: str
    kind: Kind
    text: str
    earlier: str = ""
    age: float | None = None
    max_age: float | None = None
    changes: tuple[Change, ...] = ()


def explain(run: str, task: str, *, home: str | Path | None = None) -> Why:
    """Why a task of a run was computed. Raises `RunNotFoundError`, also for a task that the run doesn't have."""
    connection = connect(open_home(home))
    try:
        try:
            record = runs.load(connection, run)
        except runs.RunMissingError as error:
            raise RunNotFoundError(str(error)) from None
        path, found = _task(record, task)
        looked = cache.lookup(connection, run, path)
        if looked is None:
            return _without(connection, record, task, found)
        if looked.outcome is None:
            made_by = maker(found.cached)
            return Why(run, task, "cached", f"taken from {made_by}: the same content and inputs", made_by)
        return _missed(connection, record, task, path, looked)
    finally:
        connection.close()


def _task(record: RunRecord, task: str) -> tuple[str, TaskRecord]:
    named = {shown(path) or each.template: (path, each) for path, each in record.tasks.items()}
    if task not in named:
        near = difflib.get_close_matches(task, named, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        rest = ", …" if len(named) > NAMED else ""
        raise RunNotFoundError(
            f"{record.id} has no task {task!r}{hint}; it has {', '.join(sorted(named)[:NAMED])}{rest}"
        )
    return named[task]


def _without(connection: sqlite3.Connection, record: RunRecord, task: str, found: TaskRecord) -> Why:
    template = _templates(connection, record.id).get(found.template)
    if template is None or template.cache is None:
        return Why(record.id, task, "no cache", "it has no cache=, so it is computed in every run")
    return Why(record.id, task, "not reached", f"it is {found.state}: nothing was looked for")


def _missed(connection: sqlite3.Connection, record: RunRecord, task: str, path: str, looked: Lookup) -> Why:
    miss = looked.outcome
    assert miss is not None
    maker = f"{miss.run}/{shown(miss.path)}"
    if miss.kind == "expired":
        rule = _templates(connection, record.id)[looked.step].cache
        limit = None if rule is None else rule.max_age
        text = f"what {maker} made was {duration(miss.age)} old, and max_age is {duration(limit or 0.0)}"
        return Why(record.id, task, "expired", text, maker, miss.age, limit)
    if miss.kind == "gone":
        text = f"files that {maker} made are gone from the store ({miss.digest[: cache.SHORT]})"
        return Why(record.id, task, "gone", text, maker, miss.age)
    nearest = _nearest(connection, record.id, path, looked)
    if nearest is None:
        return Why(record.id, task, "first", f"no earlier success of {looked.step} is kept")
    maker = f"{nearest.run}/{shown(nearest.path)}"
    changes = tuple(_changes(connection, record.id, nearest, looked))
    age = looked.time - nearest.created
    text = f"not as in {maker}, {duration(age)} before"
    return Why(record.id, task, "changed", text, maker, age, None, changes)


def _nearest(connection: sqlite3.Connection, run: str, path: str, looked: Lookup) -> Entry | None:
    """The earlier success with the fewest differences: rather of another run, and of the same task."""
    earlier = [
        each
        for each in cache.entries(connection, step=looked.step, before=looked.time, most=LOOKED_AT)
        if each.key != looked.key and each.parts
    ]
    return min(
        earlier,
        key=lambda each: (
            each.run == run,
            each.path != path,
            len(_differing(each.parts, looked.parts)),
            -each.created,
        ),
        default=None,
    )


def _differing(before: Parts, now: Parts) -> list[str]:
    names = dict.fromkeys([*now, *before])
    return [name for name in names if _digest(before.get(name)) != _digest(now.get(name))]


def _digest(part: Part | None) -> str:
    return "" if part is None else part.digest[: cache.SHORT]


def _changes(connection: sqlite3.Connection, run: str, nearest: Entry, looked: Lookup) -> Iterator[Change]:
    for name in _differing(nearest.parts, looked.parts):
        before, now = nearest.parts.get(name), looked.parts.get(name)
        diff: tuple[str, ...] = ()
        kind, _, of = name.partition(":")
        if kind in ("source", "step"):
            step = of or looked.step
            diff = _diff(_source(connection, nearest.run, step), _source(connection, run, step))
        yield Change(name, phrase(name, before, now), diff)


def phrase(name: str, before: Part | None, now: Part | None) -> str:
    """What to say of a part that differs.

    >>> phrase("input:c", Part("1", "1.0"), Part("2", "2.0"))
    "the input 'c' was 1.0, is 2.0"
    """
    kind, _, of = name.partition(":")
    what = OF[kind].format(of) if kind in OF else SAID.get(kind, name)
    if before is None:
        return f"{what} is new" + (f": {now.shown}" if now is not None and now.shown else "")
    if now is None:
        return f"{what} is no more" + (f": it was {before.shown}" if before.shown else "")
    if kind == "artifact":
        return f"{what} is another: its digest was {before.digest[: cache.SHORT]}, is {now.digest[: cache.SHORT]}"
    if before.shown != now.shown:
        return f"{what} was {before.shown or 'none'}, is {now.shown or 'none'}"
    return what if kind in SAID and kind not in ("image", "packages", "python", "version", "key") else f"{what} changed"


def _diff(before: str | None, now: str | None) -> tuple[str, ...]:
    if before is None or now is None:
        return ()  # the earlier run was deleted, or it is no source
    lines = list(difflib.unified_diff(before.splitlines(), now.splitlines(), lineterm="", n=2))[2:]
    if len(lines) > LONGEST_DIFF:
        lines = [*lines[:LONGEST_DIFF], f"… {len(lines) - LONGEST_DIFF:,} more lines"]
    return tuple(lines)


def _source(connection: sqlite3.Connection, run: str, step: str) -> str | None:
    template = _templates(connection, run).get(step)
    return None if template is None else source_of(template)


def source_of(template: Template) -> str | None:
    """The source text of a step; None for what has none."""
    body = template.body
    if isinstance(body, Function):
        return "\n\n".join(piece.text.strip("\n") for piece in body.pieces)
    if isinstance(body, Script):
        parts = [body.source] if isinstance(body.source, str) else body.source.parts
        return "".join(part if isinstance(part, str) else "{…}" for part in parts)
    return None


def _templates(connection: sqlite3.Connection, run: str) -> Mapping[str, Template]:
    """The templates of a run's workflow; none of a run that is no more."""
    row = connection.execute("SELECT workflow FROM runs WHERE id=?", (run,)).fetchone()
    if row is None:
        return {}
    return {template.name: template for template in runs.workflow(connection, row[0]).templates}
