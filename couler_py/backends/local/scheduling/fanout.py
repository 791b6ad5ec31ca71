"""Fan-out: a task for each item of a list; and fan-in: what the items that Succeeded leave, in item order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from couler_py.backends.local.artifacts import remote
from couler_py.backends.local.context import Context, Halted
from couler_py.backends.local.scheduling import tasks
from couler_py.backends.local.scheduling.works import Works
from couler_py.backends.local.scope import Scope, TaskFailure
from couler_py.ir.evaluate import EvaluationError
from couler_py.ir.model import Each, Task, Template
from couler_py.ir.model import Sequence as Numbers
from couler_py.store import artifacts, runs
from couler_py.store.records import ArtifactRef, Result, TaskRecord

if TYPE_CHECKING:
    from couler_py.backends.local.scheduling.graphs import GraphRun


async def run(context: Context, around: GraphRun, task: Task, each: Each, path: str) -> Result:
    """Run a task for each item, and gather."""
    record = TaskRecord(path, "map", task.name, "Running", started=runs.now())
    context.journal.task(record)
    template = tasks.template_of(context, task)
    try:
        items = items_of(each, around.scope)
    except TaskFailure as failure:
        result = Result("Failed", message=str(failure))
        _close(context, record, result)
        return result
    try:
        results = await all_of(
            context,
            path,
            [partial(_item, context, around, task, template, item, index, path) for index, item in enumerate(items)],
            each.parallel,
        )
    except (asyncio.CancelledError, Halted):
        record.state, record.finished = ("Stopped" if context.halting else "Failed"), runs.now()
        context.journal.task(record)
        raise
    await remote.listed(context, (ref for result in results for ref in result.artifacts.values()))
    result = gather(context, each, template, items, results)
    await remote.kept(context, path, result)
    _close(context, record, result)
    return result


def _close(context: Context, record: TaskRecord, result: Result) -> None:
    record.state, record.message, record.result, record.finished = result.state, result.message, result, runs.now()
    context.journal.task(record)


def items_of(each: Each, scope: Scope) -> list[Any]:
    """The items of a fan-out. Raises `TaskFailure` for what is no list, or too long a one."""
    try:
        items = sequence(each.items, scope) if isinstance(each.items, Numbers) else scope.value(each.items)
    except EvaluationError as error:
        raise TaskFailure(f"the items have no value: {error}") from None
    if not isinstance(items, list | tuple):
        raise TaskFailure(f"the items are not a list but {items!r:.60}")
    if len(items) > each.max_items:
        raise TaskFailure(
            f"{len(items)} items, and at most {each.max_items} are allowed: "
            f"write couler.map(..., max_items={len(items)}), or return fewer"
        )
    return list(items)


def sequence(numbers: Numbers, scope: Scope) -> list[Any]:
    """The numbers of a sequence, both ends included, downwards where the end is below the start."""

    def whole(expr: Any, missing: int) -> int:
        value = missing if expr is None else scope.value(expr)
        try:
            return int(value)
        except (TypeError, ValueError):
            raise TaskFailure(f"a sequence needs whole numbers, not {value!r}") from None

    start = whole(numbers.start, 0)
    if numbers.count is not None:
        found = list(range(start, start + whole(numbers.count, 0)))
    else:
        end = whole(numbers.end, 0)
        found = list(range(start, end + 1)) if end >= start else list(range(start, end - 1, -1))
    if not numbers.form:
        return found
    try:
        return [numbers.form % number for number in found]
    except (TypeError, ValueError) as error:
        raise TaskFailure(f"the format {numbers.form!r} can't be used: {error}") from None


async def _item(
    context: Context, around: GraphRun, task: Task, template: Template, item: Any, index: int, path: str
) -> Result:
    """Run the task for one item."""
    scope = msgspec.structs.replace(around.scope, item=item)
    where = f"{path}[{index}]"
    try:
        call = await tasks.bind(context, scope, task, template)
    except TaskFailure as failure:
        result = Result("Failed", message=str(failure))
        tasks.note(context, where, task, result)
        return result
    call.path, call.slots, call.depth, call.item_index = where, around.slots, around.made.depth + 1, index
    return await context.call(context, call)


async def all_of(
    context: Context, path: str, items: Sequence[Callable[[], Awaitable[Result]]], parallel: int | None
) -> list[Result]:
    """The results of all items of a fan-out, at most `parallel` of them running at once."""
    results = [Result("Skipped")] * len(items)
    left = iter(range(len(items)))
    works = Works(context.journal)
    most = parallel or len(items)

    async def one(index: int) -> None:
        results[index] = await items[index]()

    def advance() -> None:
        while works.count < most and not works.full and (index := next(left, None)) is not None:
            works.begin(f"{path}[{index}]", one(index))

    await works.run(advance)
    return results


def gather(context: Context, each: Each, template: Template, items: list[Any], results: list[Result]) -> Result:
    """What a fan-out leaves: lists of the outputs of the items that Succeeded, and folders of their files."""
    failed = [index for index, result in enumerate(results) if result.state == "Failed"]
    if len(failed) > each.tolerate:
        first = results[failed[0]].message
        bound = f", and {each.tolerate} may" if each.tolerate else ""
        return Result("Failed", message=f"{len(failed)} of {len(items)} items failed{bound}; item {failed[0]}: {first}")
    good = [(index, result) for index, result in enumerate(results) if result.state == "Succeeded"]
    parameters = {
        output.name: [result.parameters.get(output.name) for _, result in good]
        for output in template.outputs.parameters
    }
    gathered: dict[str, ArtifactRef] = {}
    for output in template.outputs.artifacts:
        members = [(index, result.artifacts[output.name]) for index, result in good if output.name in result.artifacts]
        gathered[output.name] = artifacts.gather(context.home, members)
    return Result("Succeeded", parameters, gathered, [items[index] for index, _ in good])
