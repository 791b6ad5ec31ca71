"""Which states a task can end in, found without running anything.

Backends emit gates and guards only where these say that they are needed, and the checker demands
`or_else` only where a value can really be absent.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from couler_py.ir.graph import Shape, recursive, shape, templates_by_name
from couler_py.ir.meaning import Edge
from couler_py.ir.model import Graph, Suspend, Task, Template, Workflow


class Possible(msgspec.Struct, frozen=True):
    """What can become of a task. Each flag may be true although it never happens, never the other way."""

    skipped: bool = False
    failed: bool = False
    blocked: bool = False

    @property
    def surely_succeeds(self) -> bool:
        return not (self.skipped or self.failed or self.blocked)


class Possibilities:
    """The possible states of every task of a workflow, computed once for each graph."""

    def __init__(self, workflow: Workflow):
        self._templates = templates_by_name(workflow)
        self._recursive = recursive(workflow)
        self._graphs: dict[str, dict[str, Possible]] = {}
        self._can_fail: dict[str, bool] = {}

    def of_graph(self, template: Template) -> dict[str, Possible]:
        """By task name, the possible states in a graph template. Raises `CycleError`."""
        known = self._graphs.get(template.name)
        if known is None:
            assert isinstance(template.body, Graph)
            known = self._graphs[template.name] = self._graph(template.body)
        return known

    def template_can_fail(self, name: str) -> bool:
        """Whether a run of the template can end Failed."""
        if name in self._recursive or name not in self._templates:
            return True
        known = self._can_fail.get(name)
        if known is None:
            known = self._can_fail[name] = self._body_can_fail(self._templates[name])
        return known

    def _body_can_fail(self, template: Template) -> bool:
        if isinstance(template.body, Graph):
            return any(possible.failed or possible.blocked for possible in self.of_graph(template).values())
        # A suspend can be stopped from outside or time out, everything else can crash or lose its pod.
        return not (isinstance(template.body, Suspend) and template.body.duration == 0)

    def _graph(self, graph: Graph) -> dict[str, Possible]:
        graph_shape = shape(graph)
        tasks = {task.name: task for task in graph.tasks}
        found: dict[str, Possible] = {}
        for name in graph_shape.order():
            found[name] = self._task(tasks[name], graph_shape.edges[name], found)
        return found

    def _task(self, task: Task, task_edges: tuple[Edge, ...], known: Mapping[str, Possible]) -> Possible:
        failed = not isinstance(task.call, str) or self.template_can_fail(task.call) or task.each is not None
        if task.depends is not None:
            return Possible(skipped=task.when is not None, failed=failed, blocked=True)
        skipped = task.when is not None
        blocked = False
        for edge in task_edges:
            producers = [known[name] for name in edge.tasks]
            can_fail = any(producer.failed or producer.blocked for producer in producers)
            match edge.kind:
                case "order":
                    blocked = blocked or can_fail
                case "value":
                    blocked = blocked or can_fail
                    skipped = skipped or producers[0].skipped
                case "on_failure":
                    skipped = True
                case "first":
                    blocked = blocked or can_fail
                    skipped = skipped or all(producer.skipped for producer in producers)
                case "always":
                    pass
        # A condition or a value that has no meaning makes the task Failed, whatever its template does.
        return Possible(skipped=skipped, failed=failed or task.when is not None, blocked=blocked)


def absolved(graph_shape: Shape) -> frozenset[str]:
    """The tasks that may end Failed or Blocked in a graph that Succeeded.

    Such a task is no leaf, and every way from it to a leaf goes through an `on_failure` edge.
    """
    found: set[str] = set()
    leaving: dict[str, list[tuple[str, str]]] = {name: [] for name in graph_shape.edges}
    for name, task_edges in graph_shape.edges.items():
        for edge in task_edges:
            if edge.kind != "always":
                for producer in edge.tasks:
                    leaving[producer].append((edge.kind, name))
    for name in reversed(graph_shape.order()):
        ways = leaving[name]
        if ways and all(kind == "on_failure" or consumer in found for kind, consumer in ways):
            found.add(name)
    return frozenset(found)


def may_be_absent(name: str, possible: Mapping[str, Possible], forgiven: frozenset[str]) -> bool:
    """Whether a task's outputs can be absent although its graph Succeeded (`forgiven` is `absolved` of the graph)."""
    state = possible[name]
    return state.skipped or ((state.failed or state.blocked) and name in forgiven)
