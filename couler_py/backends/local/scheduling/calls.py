"""One call of a template, from its inputs to its result: what was known already, locks, cache, deadline, attempts."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

from couler_py.backends.local.artifacts import keys, remote
from couler_py.backends.local.cache import lookup
from couler_py.backends.local.context import MAX_DEPTH, Attempt, Call, Context, Halted
from couler_py.backends.local.imported import graphs as imported_graphs
from couler_py.backends.local.imported.deadlines import own_deadline
from couler_py.backends.local.machine.locking import holding
from couler_py.backends.local.scheduling import graphs, http, loops, suspends, waiting
from couler_py.backends.local.scope import AbsentOutputError, TaskFailure
from couler_py.backends.local.steps import attempts, leaves
from couler_py.ir.codec import digest as template_digest
from couler_py.ir.model import ContainerSet, Function, Graph, Http, Loop, RetryPolicy, Script, Suspend, Template
from couler_py.ir.pod import Container
from couler_py.passes.retry.recognise import Fault, recognise
from couler_py.store import runs
from couler_py.store.records import ENDED, Result, TaskRecord


async def call(context: Context, made: Call) -> Result:
    """Run a template, or take what an earlier engine has recorded of this very call."""
    template = made.template
    if made.depth > MAX_DEPTH:
        raise TaskFailure(
            f"{template.name} is called {MAX_DEPTH} calls deep: it calls itself without an end; "
            "give the call a condition, or use couler.loop"
        )
    identity = made.digest = call_digest(context, made)
    known = context.known.pop(made.path, None)
    if (
        known is not None
        and not template.daemon
        and known.digest == identity
        and known.state in ENDED
        and known.result is not None
    ):
        context.journal.task(known)
        _published(context, template, known.result)
        keys.remember(context, made, known.result)
        return known.result
    task = TaskRecord(made.path, kind_of(template), template.name, "Pending", digest=identity)
    task.item, task.item_index, task.ready = made.item, made.item_index, runs.now()
    if known is not None and isinstance(template.body, Graph | Loop | Suspend):
        task.started = known.started  # of a step, its attempts say it
    context.journal.task(task)
    try:
        result = await _deadline(context, made, task)
        await remote.kept(context, made.path, result)
        keys.remember(context, made, result)
    except TaskFailure as failure:
        result = Result("Failed", message=str(failure), errored=context.imported)
    except (asyncio.CancelledError, Halted):
        # A deadline around this call ends it for good; a stopped run comes back to it.
        task.state = "Stopped" if context.halting else "Failed"
        task.message = "" if task.state == "Stopped" else "ended by what is around it: a deadline, or a failure"
        task.finished = runs.now()
        context.journal.task(task)
        raise
    task.state, task.message, task.result, task.finished = result.state, result.message, result, runs.now()
    if task.started is None:  # nothing had to run
        task.started = task.finished
    context.journal.task(task)
    if result.state == "Failed":
        context.failures.append(
            {
                "displayName": made.path or template.name,
                "templateName": template.name,
                "phase": "Failed",
                "message": result.message,
            }
        )
    _published(context, template, result)
    return result


def kind_of(template: Template) -> str:
    """The word for a template's body."""
    tag = template.body.__struct_config__.tag
    assert isinstance(tag, str)
    return tag


def call_digest(context: Context, made: Call) -> str:
    """The identity of a call: its template's content and what it is given."""
    own = context.digests.get(made.template.name)
    if own is None:
        own = context.digests[made.template.name] = template_digest(made.template)
    artifacts = {name: ref.digest for name, ref in made.artifacts.items()}
    text = json.dumps([own, made.parameters, artifacts], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _published(context: Context, template: Template, result: Result) -> None:
    if result.state != "Succeeded":
        return
    for output in template.outputs.parameters:
        if output.global_name and output.name in result.parameters:
            context.facts.published[output.global_name] = result.parameters[output.name]
    for left in template.outputs.artifacts:
        if left.global_name and left.name in result.artifacts:
            context.facts.files[left.global_name] = result.artifacts[left.name]


async def _deadline(context: Context, made: Call, task: TaskRecord) -> Result:
    limit = made.template.deadline
    if context.imported and limit is None:
        limit = own_deadline(context.scope(made), made.template)
    if limit is None:
        return await _locked(context, made, task)
    timer = asyncio.timeout(limit)
    try:
        async with timer:
            return await _locked(context, made, task)
    except TimeoutError:
        if not timer.expired():
            raise
        return Result("Failed", message=f"not done within its deadline of {limit:g} seconds")


async def _locked(context: Context, made: Call, task: TaskRecord) -> Result:
    if made.template.locks:
        context.journal.waits(made.path, waiting.LOCKED)
    async with holding(context, made.template.locks, context.scope(made)) as handles:

        async def compute() -> Result:
            return await _attempts(context, made, task, handles)

        rule = made.template.cache
        return await compute() if rule is None else await lookup.cached(context, made, task, rule, compute)


async def _attempts(context: Context, made: Call, task: TaskRecord, locks: list[int]) -> Result:
    retry = made.template.retry
    began = runs.now()
    number = attempts.last(context.attempt_folders.get(attempts.key_of(made.path), []))
    while True:
        task.attempts = number + 1
        attempt_began = runs.now()
        try:
            attempt = await _attempt(context, made, number, locks)
        except AbsentOutputError as absent:
            if made.item_index is not None and not context.imported:
                return Result("Skipped", message=str(absent))
            attempt = Attempt(Result("Failed", message=str(absent), errored=context.imported), "error")
        except TaskFailure as failure:
            attempt = Attempt(Result("Failed", message=str(failure), errored=context.imported), "error")
        if attempt.result.state != "Failed" or retry is None or number >= retry.limit:
            return attempt.result
        last = {
            "exit_code": -1 if attempt.exit_code is None else attempt.exit_code,
            "status": "Error" if attempt.reason in ("error", "lost") else "Failed",
            "message": attempt.result.message,
            "duration": runs.now() - attempt_began,
        }
        fault = _fault(made.template, attempt) if retry.policy == "OnPlatformFault" else None
        pause = _pause(retry, number, fault)
        if retry.policy == "OnPlatformFault" and fault is None:
            return attempt.result
        if not _again(context, made, retry, attempt, last, runs.now() - began + pause):
            return attempt.result
        whose = f" ({fault.pattern.title})" if fault is not None else ""
        context.journal.event("note", made.path, text=f"attempt {number + 1} failed{whose}: {attempt.result.message}")
        if pause:
            task.message = f"attempt {number + 1} failed; the next one begins after {pause:g} seconds"
            context.journal.task(task)
            await asyncio.sleep(pause)
        number += 1


def _pause(retry: RetryPolicy, number: int, fault: Fault | None) -> float:
    if retry.backoff is None:
        return 0.0 if fault is None else fault.pause(number)
    return retry.backoff.duration * retry.backoff.factor**number


def _fault(template: Template, attempt: Attempt) -> Fault | None:
    """The fault of the platform that another attempt may be spared; none where what a step does could be done twice."""
    found = recognise(attempt.result.message, attempt.exit_code)
    if found is None or not found.again or (template.effects and found.pattern.begun):
        return None
    return found


def _again(
    context: Context, made: Call, retry: RetryPolicy, attempt: Attempt, last: dict[str, Any], elapsed: float
) -> bool:
    backoff = retry.backoff
    if backoff is not None and backoff.maximum is not None and elapsed > backoff.maximum:
        return False
    if retry.policy == "OnFailure" and last["status"] == "Error":
        return False
    if retry.policy == "OnError" and last["status"] == "Failed":
        return False
    if retry.policy == "OnTransientError" and attempt.reason != "lost":
        return False
    return retry.when is None or context.scope(made, last=last).condition(retry.when)


async def _attempt(context: Context, made: Call, number: int, locks: list[int]) -> Attempt:
    body = made.template.body
    if isinstance(body, Function | Container | Script | ContainerSet):
        return await leaves.run(context, made, number, locks)
    limit = made.template.timeout
    timer = asyncio.timeout(limit)
    try:
        async with timer:
            return Attempt(await _body(context, made, number))
    except TimeoutError:
        if not timer.expired():
            raise
        return Attempt(Result("Failed", message=f"timed out after {limit:g} seconds"), "timeout")


async def _body(context: Context, made: Call, number: int) -> Result:
    body = made.template.body
    match body:
        case Graph():
            context.journal.began(made.path)
            if context.imported:
                return await imported_graphs.run(context, made, body, number)
            return await graphs.run(context, made, body, number)
        case Loop():
            context.journal.began(made.path)
            return await loops.run(context, made, body, number)
        case Suspend():
            return await suspends.run(context, made, body)
        case Http():
            return await http.run(context, made, body)
        case _:
            raise TaskFailure(f"{kind_of(made.template)} steps don't run on this machine")


__all__ = ["call", "call_digest", "kind_of"]
