"""What an engine says of sizes: how tasks weigh there, and how large a split workflow is as it is really emitted."""

from __future__ import annotations

from typing import Protocol

from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Graph, Workflow
from couler_py.passes.plan import plan
from couler_py.passes.split.budget import Budget, SplitError
from couler_py.passes.split.mark import parts_of
from couler_py.passes.split.splitting import Weights


class Scale(Protocol):
    """The sizes of an engine."""

    def weights(self, workflow: Workflow, budget: Budget) -> Weights:
        """What the tasks of the first graph weigh, and what a part may: the budget, and what the engine takes."""
        ...

    def fullness(self, workflow: Workflow, budget: Budget) -> float:
        """The largest share of a limit that a part takes as it is emitted, or the whole where it isn't split.

        1.0 is as much as it may be; 0.0, that nothing has a limit.
        """
        ...


class TaskScale:
    """Sizes where the engine has no limit of its own: tasks and pods are counted, if the budget bounds them."""

    def weights(self, workflow: Workflow, budget: Budget) -> Weights:
        for name in ("bytes", "status"):
            if getattr(budget, name) is not None:
                raise SplitError(f"{name} bound nothing on this engine: give tasks or pods")
        graph = templates_by_name(workflow)[workflow.entrypoint].body
        assert isinstance(graph, Graph)
        pods = _pods(workflow) if budget.pods is not None else {}
        sizes = {task.name: (1, pods.get(str(task.call), 0)) for task in graph.tasks}
        return Weights(("tasks", "pods"), (budget.tasks, budget.pods), sizes, (3, 0), (1, 0), (0, 0))

    def fullness(self, workflow: Workflow, budget: Budget) -> float:
        templates = templates_by_name(workflow)
        graph = templates[workflow.entrypoint].body
        assert isinstance(graph, Graph)
        parts = set(parts_of(workflow))
        calls = {task.call for task in graph.tasks if task.name in parts} or {workflow.entrypoint}
        pods = _pods(workflow) if budget.pods is not None else {}
        found = 0.0
        for name in calls:
            body = templates[str(name)].body
            assert isinstance(body, Graph)
            if budget.tasks is not None:
                found = max(found, len(body.tasks) / budget.tasks)
            if budget.pods is not None:
                found = max(found, sum(pods.get(str(task.call), 0) for task in body.tasks) / budget.pods)
        return found


def _pods(workflow: Workflow) -> dict[str, int]:
    """The pods that a call of each template starts, where every list that only the run knows has one item."""
    import msgspec

    found = {}
    for template in workflow.templates:
        alone = msgspec.structs.replace(workflow, entrypoint=template.name, handlers=())
        found[template.name] = plan(alone).pods.least
    return found
