"""The life of one run: begun or taken up again, driven to its end, its handlers, its record."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Literal

from couler_py import settings
from couler_py.backends.local import control, metrics
from couler_py.backends.local.artifacts import remote
from couler_py.backends.local.cache.settling import settle
from couler_py.backends.local.context import Call, Context, Gate, Halted
from couler_py.backends.local.machine import sampling
from couler_py.backends.local.machine.locking import holding
from couler_py.backends.local.paths import shown
from couler_py.backends.local.runs import logbounds
from couler_py.backends.local.scheduling import handlers, tasks
from couler_py.backends.local.scheduling.calls import call
from couler_py.backends.local.scope import Scope, TaskFailure
from couler_py.backends.local.steps import attempts, volumes
from couler_py.ir.expr import WorkflowParameter
from couler_py.ir.model import Argument
from couler_py.store import artifacts, content, faults, runs
from couler_py.store.database import StoreError
from couler_py.store.records import Result, RunRecord, RunStatus

BEAT = 2.0  # seconds between two notes of how long the run has taken


class Engine:
    """Drives one run. `interrupt` may be called from any thread: once to end it cleanly, twice to kill.

    `spent` are the seconds of the run's deadline that earlier engines have used up.
    """

    def __init__(self, context: Context, run: RunRecord, spent: float = 0.0):
        self.context = context
        self.run = run
        self._spent = spent
        self._before = run.seconds
        self._began = self._noted = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._beginning = threading.Lock()
        self._work: asyncio.Task[Result] | None = None
        self._error: Exception | None = None
        self._pending: list[control.Request] = []
        self._sampler = sampling.Sampler(context)

    async def drive(self) -> RunRecord:
        """Work on the run until it has ended, was stopped, or the store can't be written. Raises `StoreError`."""
        context, run = self.context, self.run
        with self._beginning:
            self._loop = asyncio.get_running_loop()
        self._began = self._noted = time.monotonic()  # the clock that nobody sets back
        (context.folder / "attempts").mkdir(exist_ok=True)
        context.journal.on_error = self._fatal
        context.looked_at = self._look
        run.status, run.message, run.finished = "Running", "", None
        context.journal.run()
        requests = asyncio.create_task(self._heed_requests())
        requests.add_done_callback(self._no_longer_heeded)
        try:
            with self._signals():
                self._work = asyncio.create_task(self._main())
                if context.ending:  # interrupted before it began
                    self._work.cancel()
                result = await self._outcome()
                if not context.ending and self._error is None:
                    result = await self._handlers(result, self._seconds())
            await handlers.end_hooks(context, wait=False)
            await self._end_forgotten()
        finally:
            requests.cancel()
            self._sampler.close()
            context.wardens.close()
        faults.reach("run.ended")
        run.finished = runs.now()
        run.seconds = self._seconds()
        stopped = context.halting
        if self._error is not None:
            raise self._error
        for path in context.mounts:
            volumes.unmount(context, path)
        if not stopped:
            content.remove(str(context.folder / "volumes"))  # claims end with their run
        run.status = "Stopped" if stopped else "Succeeded" if result.state == "Succeeded" else "Failed"
        run.message = result.message
        run.published = dict(context.facts.published)
        if run.status == "Succeeded":
            run.outputs = dict(result.parameters)
            for name, ref in result.artifacts.items():
                run.outputs[name] = str(artifacts.visible(context.home, ref, context.folder / "outputs", name))
        context.journal.run()
        if not stopped:
            settle(context.connection, settings.load(), run.id)
        return run

    def _seconds(self) -> float:
        """How long engines have worked on the run, this one included."""
        return self._before + time.monotonic() - self._began

    async def _end_forgotten(self) -> None:
        """End what an earlier engine started and this one had no use for."""
        context = self.context
        for folder in (each for found in context.attempt_folders.values() for each in found):
            if folder not in context.taken_over and attempts.record(folder) is None:
                await attempts.end(folder, lambda: context.kill)

    def interrupt(self) -> None:
        """End the run: the first time steps are asked to end, the second time they are killed."""
        with self._beginning:
            loop = self._loop
            if loop is None:
                self.context.ending = True
                return
        loop.call_soon_threadsafe(self._interrupt)

    def _interrupt(self) -> None:
        context = self.context
        context.kill = context.ending
        context.ending = True
        if context.kill:
            for name in context.running.values():
                context.wardens.end(name, kill=True)
        elif self._work is not None:
            self._work.cancel()

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
        before = [signal.getsignal(number) for number in numbers]
        for number in numbers:
            loop.add_signal_handler(number, self._interrupt)
        try:
            yield
        finally:
            for number, handler in zip(numbers, before, strict=True):
                loop.remove_signal_handler(number)
                signal.signal(number, handler)

    async def _outcome(self) -> Result:
        assert self._work is not None
        try:
            return await self._work
        except asyncio.CancelledError:
            if not self.context.ending and self._error is None:
                raise
            return Result("Failed", message="ended by a signal; `couler resume` goes on with it")
        except Halted:
            return Result("Failed", message="stopped; `couler resume` goes on with it")

    async def _main(self) -> Result:
        context = self.context
        workflow = context.workflow
        scope = context.outer_scope()
        timer = asyncio.timeout(None if workflow.deadline is None else max(0.0, workflow.deadline - self._spent))
        try:
            async with timer, holding(context, workflow.locks, scope):
                made = await entry_call(context, scope)
                handlers.begin(context)
                result = await call(context, made)
                await remote.brought(context, result.artifacts)
                return result
        except TimeoutError:
            if not timer.expired():
                raise
            return Result("Failed", message=f"not done within the run's deadline of {workflow.deadline:g} seconds")
        except TaskFailure as failure:
            return Result("Failed", message=str(failure))

    async def _handlers(self, result: Result, seconds: float) -> Result:
        context = self.context
        if not context.workflow.handlers:
            return result
        stopped = context.gate.stopped
        context.gate = Gate()
        status: Literal["Succeeded", "Failed"] = "Succeeded" if result.state == "Succeeded" else "Failed"
        self._work = asyncio.create_task(handlers.run(context, status, seconds))
        failed = await self._outcome()
        context.gate.stopped |= stopped
        if failed.state == "Failed" and result.state == "Succeeded":
            return failed
        return result

    def _fatal(self, error: Exception) -> None:
        self._error = error if isinstance(error, StoreError) else StoreError(str(error))
        if self._work is not None:
            self._work.cancel()

    # ---- requests from outside

    async def _heed_requests(self) -> None:
        folder = self.context.folder / "requests"
        while True:
            for request in control.take(folder):
                self._heed(request)
            self._approve()
            self._look()
            metrics.look(self.context)
            self._sampler.look()
            logbounds.look(self.context)
            self.context.wardens.look(ending=self.context.ending)
            await asyncio.sleep(control.INTERVAL)

    def _no_longer_heeded(self, requests: asyncio.Task[None]) -> None:
        error = None if requests.cancelled() else requests.exception()
        if isinstance(error, Exception):
            self._fatal(error)  # a run that nobody can stop any more must not go on

    def _heed(self, request: control.Request) -> None:
        gate = self.context.gate
        self.context.journal.event("note", text=f"asked from outside: {request.verb}")
        if request.verb == "approve":
            self._pending.append(request)
        elif request.verb == "terminate":
            self._interrupt()
        elif request.verb == "stop":
            gate.stop()
            for approval in self.context.approvals.values():
                if not approval.done():  # answered, or stopped, a moment ago
                    approval.set_exception(Halted())
        elif request.verb == "suspend":
            gate.suspend()
        else:
            gate.resume()

    def _approve(self) -> None:
        for request in list(self._pending):
            for path, approval in self.context.approvals.items():
                if request.task in (None, shown(path)) and not approval.done():
                    approval.set_result(request.outputs)
                    self._pending.remove(request)
                    break

    def _look(self) -> None:
        """Keep the run's status in step with whether it only waits for a person."""
        context = self.context
        self.run.seconds = self._seconds()
        if time.monotonic() - self._noted >= BEAT:
            self._noted = time.monotonic()
            context.journal.beat()
        waiting = context.gate.suspended or bool(context.approvals)
        status: RunStatus = "Suspended" if waiting and not context.running else "Running"
        if self.run.status in ("Running", "Suspended") and self.run.status != status:
            self.run.status = status
            context.journal.run()


async def entry_call(context: Context, scope: Scope) -> Call:
    """The call of the entrypoint: its inputs are the run's parameters and artifacts of the same names."""
    template = context.templates[context.workflow.entrypoint]
    given = [
        Argument(parameter.name, WorkflowParameter(parameter.name))
        for parameter in template.inputs.parameters
        if parameter.name in context.facts.parameters
    ]
    made = await tasks.bind_call(context, scope, template, given, context.workflow.artifacts)
    if context.workflow.parallelism is not None:
        made.slots = (asyncio.Semaphore(context.workflow.parallelism),)
    return made
