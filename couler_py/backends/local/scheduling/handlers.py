"""What runs when the run has ended: exit, success and failure handlers; and, imported, at any moment of it."""

from __future__ import annotations

import asyncio
from typing import Literal

from couler_py.backends.local.context import Context
from couler_py.backends.local.scheduling import tasks
from couler_py.backends.local.scope import TaskFailure
from couler_py.ir.model import Handler
from couler_py.store import runs
from couler_py.store.records import Result, TaskRecord


async def run(context: Context, status: Literal["Succeeded", "Failed"], seconds: float) -> Result:
    """Run the handlers that are for this status, side by side. Failed where one of them failed."""
    facts = context.facts
    facts.status, facts.duration = status, seconds
    facts.failures = list(context.failures)
    moments = {"exit", "success" if status == "Succeeded" else "failure"}
    _watch(context)
    due = [handler for handler in context.workflow.handlers if handler.on in moments]
    for handler in context.workflow.handlers:
        if handler.on not in moments and handler.name not in context.hooks:
            _skipped(context, handler)
    try:
        async with asyncio.TaskGroup() as group:
            work = [group.create_task(_run(context, handler)) for handler in due]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None  # a stop, or what ends the engine: each means the same as all
    await end_hooks(context, wait=True)
    failed = [
        (handler, each.result()) for handler, each in zip(due, work, strict=True) if each.result().state == "Failed"
    ]
    if not failed:
        return Result("Succeeded")
    handler, result = failed[0]
    return Result("Failed", message=f"the {handler.on} handler {handler.name} failed: {result.message}")


def begin(context: Context) -> None:
    """Start the hooks of the run whose moment is its beginning."""
    _watch(context)


def _watch(context: Context) -> None:
    """Start the hooks of the run whose moment has come. That one fails means nothing, as on Argo."""
    for handler in context.workflow.handlers:
        if handler.on == "when" and handler.name not in context.hooks and _is_due(context, handler):
            context.hooks[handler.name] = asyncio.create_task(_run(context, handler))


def _is_due(context: Context, handler: Handler) -> bool:
    try:
        return handler.when is not None and context.outer_scope().condition(handler.when)
    except TaskFailure:
        return False  # a value that isn't there yet


async def end_hooks(context: Context, *, wait: bool) -> None:
    """See the hooks of the run to their end, or end them."""
    running = list(context.hooks.values())
    if not wait:
        for each in running:
            each.cancel()
    await asyncio.gather(*running, return_exceptions=not wait)


def _skipped(context: Context, handler: Handler) -> Result:
    result = Result("Skipped")
    context.journal.task(
        TaskRecord(f"!{handler.name}", "task", handler.call, "Skipped", result=result, finished=runs.now())
    )
    return result


async def _run(context: Context, handler: Handler) -> Result:
    scope = context.outer_scope()
    try:
        if handler.when is not None and not scope.condition(handler.when):
            return _skipped(context, handler)
        template = context.templates[handler.call]
        call = await tasks.bind_call(context, scope, template, handler.arguments, handler.artifacts)
        call.path = f"!{handler.name}"
        return await context.call(context, call)
    except TaskFailure as failure:
        return Result("Failed", message=str(failure))
