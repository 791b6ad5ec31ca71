"""Fan-out by Argo's rules: its items, each with its own condition and hooks, and the texts that they leave."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from couler_py.backends.local.context import Halted
from couler_py.backends.local.imported import words
from couler_py.backends.local.imported.hooks import ImportedWatch
from couler_py.backends.local.imported.scope import at_item
from couler_py.backends.local.scheduling import tasks
from couler_py.backends.local.scheduling.fanout import all_of
from couler_py.backends.local.scope import TaskFailure
from couler_py.ir.evaluate import EvaluationError
from couler_py.ir.model import Each, Sequence, Task, Template
from couler_py.store import runs
from couler_py.store.records import Result, TaskRecord

if TYPE_CHECKING:
    from couler_py.backends.local.imported.graphs import ImportedGraph


async def run(around: ImportedGraph, task: Task, each: Each, path: str) -> Result:
    """Run a task for each item, and gather."""
    context = around.context
    record = TaskRecord(path, "map", task.name, "Running", started=runs.now())
    context.journal.task(record)
    try:
        result = await _spread(around, task, each, path)
    except TaskFailure as failure:
        result = Result("Failed", message=str(failure), errored=True)
    except (asyncio.CancelledError, Halted):
        record.state, record.finished = ("Stopped" if context.halting else "Failed"), runs.now()
        context.journal.task(record)
        raise
    record.state, record.message, record.result, record.finished = result.state, result.message, result, runs.now()
    context.journal.task(record)
    return result


async def _spread(around: ImportedGraph, task: Task, each: Each, path: str) -> Result:
    template = tasks.template_of(around.context, task)
    wanted = _wanted(around, task)
    try:
        items = items_of(around, each)
    except TaskFailure:
        if wanted is not False:
            raise
        items = []  # nobody reads the items of a task that is switched off
    if not items:
        return Result("Skipped", message="there are no items")
    works = [partial(_item, around, task, template, wanted, item, index, path) for index, item in enumerate(items)]
    results = await all_of(around.context, path, works, each.parallel)
    around.scope.fanned[task.name] = results
    return gather(template, results)


def _wanted(around: ImportedGraph, task: Task) -> bool | None:
    """What the condition says of all items alike; None where that depends on the item, or is an error."""
    if task.when is None:
        return True
    try:
        return around.scope.condition(task.when)
    except TaskFailure:
        return None


def items_of(around: ImportedGraph, each: Each) -> list[Any]:
    """The items of a fan-out. Raises `TaskFailure` for what is no list."""
    if isinstance(each.items, Sequence):
        return sequence(around, each.items)
    try:
        items = around.scope.value(each.items)
    except EvaluationError as error:
        raise TaskFailure(f"the items have no value: {error}") from None
    if not isinstance(items, list | tuple):
        raise TaskFailure(f"the items are not a list but {items!r:.60}")
    return list(items)


def sequence(around: ImportedGraph, numbers: Sequence) -> list[str]:
    """The numbers of a sequence as texts, downwards where the end is below the start. Raises `TaskFailure`."""
    try:
        start, end, count = (
            None if part is None else int(words.said(around.scope.value(part)))
            for part in (numbers.start, numbers.end, numbers.count)
        )
    except (EvaluationError, ValueError) as error:
        raise TaskFailure(f"a sequence needs whole numbers: {error}") from None
    first = start or 0
    if end is None and count == 0:
        return []
    last = end if end is not None else first + (count or 0) - 1
    found = range(first, last + 1) if first <= last else range(first, last - 1, -1)
    try:
        return [(numbers.form or "%d") % number for number in found]
    except (TypeError, ValueError) as error:
        raise TaskFailure(f"the format {numbers.form!r} can't be used: {error}") from None


async def _item(
    around: ImportedGraph, task: Task, template: Template, wanted: bool | None, item: Any, index: int, path: str
) -> Result:
    """Run the task for one item."""
    context, scope = around.context, at_item(around.scope, item)
    where = f"{path}[{index}]"
    try:
        if wanted is False or (wanted is None and task.when is not None and not scope.condition(task.when)):
            result = Result("Skipped")
            tasks.note(context, where, task, result)
            return result
        call = await tasks.bind(context, scope, task, template)
    except TaskFailure as failure:
        result = Result("Failed", message=str(failure), errored=True)
        tasks.note(context, where, task, result)
        return result
    call.path, call.slots, call.depth, call.item_index = where, around.slots, around.made.depth + 1, index
    watch = ImportedWatch(around, task, index, scope) if task.hooks else None
    try:
        result = await context.call(context, call)
    except BaseException:
        if watch is not None:
            await watch.end()
        raise
    return result if watch is None else await watch.ended(result)


def gather(template: Template, results: list[Result]) -> Result:
    """What a fan-out leaves: its outputs as texts of JSON lists, of the items that Succeeded, in their order."""
    good = [result.parameters for result in results if result.state == "Succeeded"]
    parameters: dict[str, Any] = {}
    for output in template.outputs.parameters:
        texts = [words.said(each[output.name]) for each in good if output.name in each]
        if not output.stdout:
            if texts:
                parameters[output.name] = words.aggregate(texts)
            continue
        try:
            parameters[output.name] = words.results(texts)
        except ValueError:
            continue  # Argo has no list of results that aren't all JSON
    failed = [index for index, result in enumerate(results) if result.state == "Failed"]
    if not failed:
        return Result("Succeeded", parameters)
    message = f"{len(failed)} of {len(results)} items failed; item {failed[0]}: {results[failed[0]].message}"
    return Result("Failed", parameters, message=message, errored=results[failed[-1]].errored)
