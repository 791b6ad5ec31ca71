"""Two runs beside each other: what went in, what was done, how each task ended, what came out, how long it took."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from couler_py.backends.local.cache.why import source_of
from couler_py.backends.local.paths import last_attempts, shown
from couler_py.ir.codec import digest
from couler_py.ir.model import Template, Workflow
from couler_py.store import runs
from couler_py.store.records import Result, RunRecord, TaskRecord

GROUPS = ("graph", "loop", "map")


class Difference(msgspec.Struct, frozen=True):
    """A value by name that is not the same in both; unset where a run has none."""

    name: str
    before: Any | UnsetType = UNSET
    after: Any | UnsetType = UNSET


class StepDifference(msgspec.Struct, frozen=True):
    """A step of the workflow that is not the same in both; `diff` are the lines of its source."""

    step: str
    kind: Literal["added", "removed", "changed"]
    diff: tuple[str, ...] = ()


class TaskDifference(msgspec.Struct, frozen=True):
    """A task in both runs: its state (None where a run has no such task), seconds, and the outputs that differ."""

    task: str
    before: str | None
    after: str | None
    seconds_before: float | None = None
    seconds_after: float | None = None
    outputs: tuple[Difference, ...] = ()

    @property
    def alike(self) -> bool:
        """Whether it ended alike in both, with the same outputs."""
        return self.before == self.after and not self.outputs


class RunDifference(msgspec.Struct, frozen=True):
    """Two runs. `paused` are seconds in which nobody worked on them.

    `tasks` are all, in the order in which they ran; of everything else it is what differs.
    """

    before: str
    after: str
    status_before: str
    status_after: str
    seconds_before: float | None
    seconds_after: float | None
    workflows: tuple[str, str]
    parameters: tuple[Difference, ...] = ()
    steps: tuple[StepDifference, ...] = ()
    tasks: tuple[TaskDifference, ...] = ()
    outputs: tuple[Difference, ...] = ()
    paused: tuple[float, float] = (0.0, 0.0)


def compare(before: RunRecord, after: RunRecord, old: Workflow, new: Workflow) -> RunDifference:
    """What differs between two runs, given with their workflows."""
    return RunDifference(
        before.id,
        after.id,
        before.status,
        after.status,
        _took(before),
        _took(after),
        (before.name, after.name),
        _values(before.parameters, after.parameters),
        _steps(old, new),
        _tasks(before, after),
        _values(_outputs(before), _outputs(after)),
        (before.paused(runs.now()), after.paused(runs.now())),
    )


def _took(run: RunRecord) -> float | None:
    return None if run.finished is None else run.seconds or run.finished - run.created


def _values(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Difference, ...]:
    return tuple(
        Difference(name, before.get(name, UNSET), after.get(name, UNSET))
        for name in dict.fromkeys([*before, *after])
        if not _same(before.get(name, UNSET), after.get(name, UNSET))
    )


def _same(before: Any, after: Any) -> bool:
    # NaN is the same as NaN here, and 1 is not the same as True.
    return before is after or (type(before) is type(after) and (before == after or repr(before) == repr(after)))


def _outputs(run: RunRecord) -> dict[str, Any]:
    """The outputs of a run; of a file, its digest: where a copy of it lies says nothing."""
    entry = run.tasks.get("")
    files = _results(entry.result)[1] if entry is not None else {}
    return {name: files.get(name, value) for name, value in run.outputs.items()}


def _results(result: Result | None) -> tuple[dict[str, Any], dict[str, Any]]:
    if result is None:
        return {}, {}
    return result.parameters, {name: f"{ref.kind} {ref.digest[:16]}" for name, ref in result.artifacts.items()}


def _steps(old: Workflow, new: Workflow) -> tuple[StepDifference, ...]:
    before = {template.name: template for template in old.templates}
    after = {template.name: template for template in new.templates}
    found = []
    for name in dict.fromkeys([*before, *after]):
        was, now = before.get(name), after.get(name)
        if was is None or now is None:
            found.append(StepDifference(name, "added" if was is None else "removed"))
        elif digest(was) != digest(now):
            found.append(StepDifference(name, "changed", _diff(was, now)))
    return tuple(found)


def _diff(was: Template, now: Template) -> tuple[str, ...]:
    before, after = source_of(was), source_of(now)
    if before is None or after is None:
        return ()
    return tuple(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]


def _tasks(before: RunRecord, after: RunRecord) -> tuple[TaskDifference, ...]:
    old, new = _by_name(before), _by_name(after)
    found = []
    for name in dict.fromkeys([*new, *old]):
        was, now = old.get(name), new.get(name)
        outputs: tuple[Difference, ...] = ()
        if was is not None and now is not None and was.result is not None and now.result is not None:
            (values, files), (new_values, new_files) = _results(was.result), _results(now.result)
            outputs = _values(values | files, new_values | new_files)
        found.append(
            TaskDifference(
                name,
                None if was is None else was.state,
                None if now is None else now.state,
                _seconds(was),
                _seconds(now),
                outputs,
            )
        )
    return tuple(found)


def _by_name(run: RunRecord) -> dict[str, TaskRecord]:
    return {
        shown(path) or task.template: task
        for path, task in last_attempts(run.tasks).items()
        if path or task.kind not in GROUPS
    }


def _seconds(task: TaskRecord | None) -> float | None:
    return None if task is None or task.finished is None or task.started is None else task.seconds
