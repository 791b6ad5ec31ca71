"""A graph by Argo's rules: what a task waits for, which failure counts, what a fan-out comes to."""

from __future__ import annotations

from couler_py.backends.local.context import Call, Context
from couler_py.backends.local.imported import fanout
from couler_py.backends.local.imported.hooks import ImportedWatch
from couler_py.backends.local.imported.scope import ImportedScope
from couler_py.backends.local.scheduling import tasks
from couler_py.backends.local.scheduling.graphs import GraphRun
from couler_py.backends.local.scope import TaskFailure
from couler_py.ir.meaning import State, Verdict, outcome
from couler_py.ir.model import Depends, DependsAll, DependsAny, DependsNot, DependsOn, Each, External, Graph, Task
from couler_py.store.records import Result


async def run(context: Context, made: Call, graph: Graph, attempt: int) -> Result:
    """Run a graph to its end."""
    return await ImportedGraph(context, made, graph, attempt).run()


class ImportedGraph(GraphRun):
    """One graph while it runs. `failFast` changes nothing: what can start has started before Argo looks at it."""

    scope: ImportedScope

    def __init__(self, context: Context, made: Call, graph: Graph, attempt: int):
        super().__init__(context, made, graph, attempt)
        self.groups = {name: group for group in graph.groups for name in group}
        self.refused: dict[tuple[str, ...], str] = {}
        """By group of steps, why none of it starts; "" for one that starts."""
        self.scope.outputs = {
            task.name: tasks.template_of(context, task).outputs
            for task in graph.tasks
            if not isinstance(task.call, External)
        }
        self.scope.record_of = lambda name: context.journal.find(made.inside(name, attempt))

    def outcome(self) -> State:
        """Failed where a task without successors failed, or didn't run after one that failed; steps: where any did."""
        results = self.scope.results
        if self.graph.form == "steps":
            failed = any(result.state == "Failed" and self.states[name] == "Failed" for name, result in results.items())
            return "Failed" if failed or any(self.refused.values()) else "Succeeded"
        leaves = set(self.shape.leaves())
        states: dict[str, State] = {
            name: self.states[name] if name in leaves else results[name].state for name in self.tasks
        }
        return outcome({name: self.shape.edges[name] for name in self.tasks}, states)

    def failure(self) -> Result:
        """The result of a graph that has failed: Error, in a dag, where its first failed task is."""
        results = self.scope.results
        failed = [results[name] for name in sorted(self.tasks) if self.states[name] == "Failed"]
        errored = self.graph.form == "dag" and bool(failed) and failed[0].errored
        reasons = [reason for reason in self.refused.values() if reason]
        return Result("Failed", message=reasons[0] if reasons else self.why(), errored=errored)

    def verdict(self, task: Task) -> Verdict:
        if task.depends is not None:
            return "go" if self._holds(task.depends) else "block"
        waits = [producer for edge in self.shape.edges[task.name] for producer in edge.tasks]
        if not all(self._holds(DependsOn(producer)) for producer in waits):
            return "block"
        group = self.groups.get(task.name)
        return "go" if group is None or not self._refusal(group) else "block"

    def _refusal(self, group: tuple[str, ...]) -> str:
        """Why none of a group of steps starts: a condition of one of them has no value (resolveReferences)."""
        if group not in self.refused:
            self.refused[group] = ""
            for task in (self.tasks[name] for name in group):
                if task.when is not None and task.each is None:
                    try:
                        self.scope.condition(task.when)
                    except TaskFailure as failure:
                        self.refused[group] = f"{task.name}: {failure}"
        return self.refused[group]

    def _holds(self, depends: Depends) -> bool:
        match depends:
            case DependsAll(operands=operands):
                return all(map(self._holds, operands))
            case DependsAny(operands=operands):
                return any(map(self._holds, operands))
            case DependsNot(operand=operand):
                return not self._holds(operand)
            case DependsOn(task=name, state=wanted):
                return self._in_state(name, wanted)

    def _in_state(self, name: str, wanted: str) -> bool:
        result = self.scope.results[name]
        match wanted:
            case "":
                return self.states[name] in ("Succeeded", "Skipped")
            case "Succeeded":
                return result.state == "Succeeded" and not self._daemon(name)
            case "Daemoned":
                return result.state == "Succeeded" and self._daemon(name)
            case "Failed":
                return result.state == "Failed" and not result.errored
            case "Errored":
                return result.state == "Failed" and result.errored
            case "Omitted":
                return result.state == "Blocked"
            case "AnySucceeded":
                return any(item.state == "Succeeded" for item in self.scope.fanned.get(name, ()))
            case "AllFailed":
                items = self.scope.fanned.get(name, [])
                return bool(items) and all(item.state == "Failed" and not item.errored for item in items)
        return result.state == wanted

    def _daemon(self, name: str) -> bool:
        return tasks.template_of(self.context, self.tasks[name]).daemon

    def forgiven(self, task: Task, result: Result) -> bool:
        return ("error" if result.errored else "failed") in task.continue_on

    async def fan_out(self, task: Task, each: Each, path: str) -> Result:
        return await fanout.run(self, task, each, path)

    def watch(self, task: Task) -> ImportedWatch | None:
        return ImportedWatch(self, task) if task.hooks and task.each is None else None
