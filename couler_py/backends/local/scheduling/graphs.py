"""A graph while it runs: who is ready, what becomes of each task, and how the graph ends.

The work is proportional to the tasks and edges: each ended task counts down what its consumers wait for.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

import msgspec

from couler_py.backends.local.context import Call, Context, Daemon
from couler_py.backends.local.scheduling import fanout, hooks, tasks
from couler_py.backends.local.scheduling.works import Works
from couler_py.backends.local.scope import AbsentOutputError, Scope, TaskFailure, plain
from couler_py.ir import wire
from couler_py.ir.evaluate import AbsentError, EvaluationError
from couler_py.ir.graph import Shape, shape
from couler_py.ir.meaning import State, Verdict, decide, depends_holds, outcome
from couler_py.ir.model import Each, Graph, Task, Template
from couler_py.passes.split.mark import helpers_of
from couler_py.store.records import ArtifactRef, Result


async def run(context: Context, made: Call, graph: Graph, attempt: int) -> Result:
    """Run a graph to its end."""
    return await GraphRun(context, made, graph, attempt).run()


class GraphRun:
    """One graph while it runs."""

    def __init__(self, context: Context, made: Call, graph: Graph, attempt: int):
        self.context = context
        self.made = made
        self.graph = graph
        self.attempt = attempt
        self.shape, self.tasks = _shape(context, made.template, graph)
        self.scope: Scope = context.scope(made)
        self.states: dict[str, State] = {}
        self.waiting = {name: len(self.shape.producers[name]) for name in self.tasks}
        self.ready: deque[str] = deque(name for name, count in self.waiting.items() if count == 0)
        self.works = Works(context.journal)
        self.failed = False
        self.daemons: list[Daemon] = []
        bound = made.template.parallelism
        self.slots = made.slots if bound is None else (asyncio.Semaphore(bound), *made.slots)

    async def run(self) -> Result:
        try:
            await self.works.run(self._advance)
        finally:
            for daemon in self.daemons:
                await daemon.end()
        if self.outcome() == "Failed":
            return self.failure()
        return self._outputs()

    # ---- the rules, of which those for imported workflows have others

    def outcome(self) -> State:
        """How the graph ends, all its tasks having ended."""
        return outcome({name: self.shape.edges[name] for name in self.tasks}, self.states)

    def failure(self) -> Result:
        """The result of a graph that has failed."""
        return Result("Failed", message=self.why())

    def verdict(self, task: Task) -> Verdict:
        """Whether a task goes on to its own `when`, everything that it waits for having ended."""
        if task.depends is not None:
            verdict: Verdict = "go" if depends_holds(task.depends, self.states) else "block"
        else:
            verdict = decide(self.shape.edges[task.name], self.states)
        handles_failure = any(after.kind in ("on_failure", "always") for after in task.after)
        if verdict == "go" and self.failed and self.graph.fail_fast and not handles_failure:
            return "block"
        return verdict

    def forgiven(self, task: Task, result: Result) -> bool:
        """Whether the failure of a task counts as none."""
        return bool(task.continue_on)

    async def fan_out(self, task: Task, each: Each, path: str) -> Result:
        """Run a task for each item of a list."""
        return await fanout.run(self.context, self, task, each, path)

    def watch(self, task: Task) -> hooks.Watch | None:
        """What looks after the hooks of a task that begins."""
        return hooks.Watch(self, task) if task.hooks else None

    # ---- the run of it

    def why(self) -> str:
        failed = [name for name in self.tasks if self.scope.results[name].state == "Failed"]
        if not failed:
            return "tasks were blocked"
        if helpers := helpers_of(self.context.workflow):
            failed = [name for name in failed if self.tasks[name].call not in helpers]
            if not failed:
                return "tasks in its parts failed"
        lines = [line.strip() for line in self.scope.results[failed[0]].message.splitlines() if line.strip()]
        # How it ended, and the last line of its traceback, which says what went wrong.
        said = ": ".join(dict.fromkeys([*lines[:1], *lines[-1:]]))
        more = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        return f"{failed[0]} failed{more}" + (f": {said}" if said else "")

    def _advance(self) -> None:
        """Deal with the tasks that wait for nothing more, as many as may begin."""
        while self.ready and not self.works.full:
            name = self.ready.popleft()
            task = self.tasks[name]
            result = self._settled(task)
            if result is not None:
                tasks.note(self.context, self.made.inside(name, self.attempt), task, result)
                self._ended(name, result)
                continue
            self.works.begin(self.made.inside(name, self.attempt), self._work(task))

    def _settled(self, task: Task) -> Result | None:
        """The result of a task that doesn't run; None for one that does."""
        verdict = self.verdict(task)
        if verdict == "block":
            return Result("Blocked")
        if verdict == "skip":
            return Result("Skipped")
        if task.when is None or (task.each is not None and self.context.imported):  # Argo asks for each item
            return None
        try:
            return None if self.scope.condition(task.when) else Result("Skipped")
        except TaskFailure as failure:
            return Result("Failed", message=str(failure), errored=self.context.imported)

    def _ended(self, name: str, result: Result) -> None:
        self.scope.results[name] = result
        state: State = result.state
        if state == "Failed":
            self.failed = True
            if self.forgiven(self.tasks[name], result):
                state = "Succeeded"
        self.states[name] = state
        for consumer in self.shape.consumers[name]:
            if consumer in self.waiting:
                self.waiting[consumer] -= 1
                if self.waiting[consumer] == 0:
                    self.ready.append(consumer)

    async def _work(self, task: Task) -> None:
        watch = self.watch(task)
        try:
            result = await self._result(task)
        except TaskFailure as failure:
            result = Result("Failed", message=str(failure), errored=self.context.imported)
            tasks.note(self.context, self.made.inside(task.name, self.attempt), task, result)
        except BaseException:
            if watch is not None:
                await watch.end()
            raise
        if watch is not None:
            result = await watch.ended(result)
        self._ended(task.name, result)

    async def _result(self, task: Task) -> Result:
        path = self.made.inside(task.name, self.attempt)
        if task.each is not None:
            return await self.fan_out(task, task.each, path)
        template = tasks.template_of(self.context, task)
        call = await tasks.bind(self.context, self.scope, task, template)
        call.path, call.slots, call.depth = path, self.slots, self.made.depth + 1
        result = await self.context.call(self.context, call)
        if template.daemon:
            self.daemons.extend(self.context.daemons.pop(path, ()))
        return result

    def _outputs(self) -> Result:
        template = self.made.template
        parameters: dict[str, Any] = {}
        artifacts: dict[str, ArtifactRef] = {}
        for output in template.outputs.parameters:
            if output.value is None:
                continue
            try:
                value = self.scope.value(output.value)
            except AbsentError as error:
                if output.default is msgspec.UNSET:
                    raise AbsentOutputError(
                        f"its output {output.name!r} is absent ({error}): give it .or_else(...)"
                    ) from None
                value = output.default
            except EvaluationError as error:
                if not self.context.imported or output.default is msgspec.UNSET:
                    raise TaskFailure(f"its output {output.name!r} has no value: {error}") from None
                value = output.default  # Argo's is for every reason
            parameters[output.name] = wire.restore(plain(output.type), value)
        for left in template.outputs.artifacts:
            if left.value is None:
                continue
            try:
                found = self.scope.value(left.value)
            except AbsentError as error:
                if left.optional:
                    continue
                raise AbsentOutputError(f"its output {left.name!r} is absent ({error})") from None
            if isinstance(found, ArtifactRef):
                artifacts[left.name] = found
        return Result("Succeeded", parameters, artifacts)


_shapes: dict[int, tuple[Graph, Shape, dict[str, Task]]] = {}


def _shape(context: Context, template: Template, graph: Graph) -> tuple[Shape, dict[str, Task]]:
    """The edges of a graph and the tasks that run, made once for each graph."""
    known = _shapes.get(id(graph))
    if known is not None and known[0] is graph:
        return known[1], known[2]
    found = shape(graph)
    names = set(found.edges)
    if graph.targets:
        names = set()
        stack = list(graph.targets)
        while stack:
            name = stack.pop()
            if name not in names:
                names.add(name)
                stack.extend(found.producers[name])
    chosen = {task.name: task for task in graph.tasks if task.name in names}
    if len(_shapes) > 10_000:
        _shapes.clear()
    _shapes[id(graph)] = (graph, found, chosen)
    return found, chosen
