"""Templates that run at moments of a task's life: when an expression turns true, or at its end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import msgspec

from couler_py.backends.local.scheduling import tasks
from couler_py.backends.local.scope import Scope, TaskFailure
from couler_py.ir.model import Hook, Task
from couler_py.store.records import Result

if TYPE_CHECKING:
    from couler_py.backends.local.scheduling.graphs import GraphRun


class Watch:
    """The hooks of one task. Each runs at most once, and the task has ended when they have.

    A hook that fails makes the task Failed. An expression is read when the task starts and when it ends. Of an item
    of a fan-out, `index` is its number and `scope` what it sees.
    """

    def __init__(self, around: GraphRun, task: Task, index: int | None = None, scope: Scope | None = None):
        self.around = around
        self.task = task
        self.name = task.name if index is None else f"{task.name}[{index}]"
        self.scope = around.scope if scope is None else scope
        self.left = list(task.hooks)
        self.running: list[asyncio.Task[Result]] = []
        self._look("Running", None)

    async def ended(self, result: Result) -> Result:
        """Run what is left to run at the end, and give the task's result with the hooks in it."""
        self._look(result.state, result)
        try:
            results = await asyncio.gather(*self.running)
        except BaseException:
            await self.end()
            raise
        failed = next((each for each in results if each.state == "Failed"), None)
        if failed is None or result.state == "Failed":
            return result
        return Result("Failed", message=f"a hook failed: {failed.message}")

    async def end(self) -> None:
        """End the hooks that run, for the task itself is ended."""
        for each in self.running:
            each.cancel()
        if self.running:
            await asyncio.wait(self.running)

    def _look(self, state: str, result: Result | None) -> None:
        name = self.task.name
        scope = msgspec.structs.replace(self.scope)
        scope.states = {name: state}
        if result is not None:
            scope.results = scope.results | {name: result}
        for hook in list(self.left):
            if self.due(hook, scope, result):
                self.left.remove(hook)
                self.running.append(asyncio.create_task(self._run(hook, scope)))

    def due(self, hook: Hook, scope: Scope, result: Result | None) -> bool:
        """Whether a hook is to run now; `result` is that of a task that has ended."""
        if hook.when is None:
            return result is not None
        try:
            return scope.condition(hook.when)
        except TaskFailure:
            return False  # a value that isn't there yet

    async def _run(self, hook: Hook, scope: Scope) -> Result:
        around = self.around
        context = around.context
        path = around.made.inside(f"{self.name}!{hook.name}", around.attempt)
        try:
            call = await tasks.bind_call(context, scope, context.templates[hook.call], hook.arguments, hook.artifacts)
            call.path, call.slots, call.depth = path, around.slots, around.made.depth + 1
            return await context.call(context, call)
        except TaskFailure as failure:
            return Result("Failed", message=str(failure))
