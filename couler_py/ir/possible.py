"""Which states a task can end in, found without running anything.

Backends emit gates and guards only where these say that they are needed, and the checker demands
`or_else` only where a value can really be absent.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from couler_py.ir.complement import one_holds
from couler_py.ir.expr import (
    Expr,
    First,
    Input,
    InputArtifact,
    Item,
    Literal,
    NonFinite,
    OrElse,
    Record,
    Run,
    TaskArtifact,
    TaskItems,
    TaskOutput,
    TaskStatus,
    Text,
    WorkflowParameter,
    children,
)
from couler_py.ir.graph import Shape, all_calls, on_cycles, shape, strongly_connected, templates_by_name
from couler_py.ir.meaning import Edge, value_expressions
from couler_py.ir.model import Graph, Loop, Suspend, Task, Template, Workflow


class Possible(msgspec.Struct, frozen=True, gc=False):
    """What can become of a task. Each flag may be true although it never happens, never the other way.

    `skipped_by_edge` is skipped for another reason than the task's own `when`.
    """

    skipped: bool = False
    failed: bool = False
    blocked: bool = False
    skipped_by_edge: bool = False

    @property
    def surely_succeeds(self) -> bool:
        return not (self.skipped or self.failed or self.blocked)


class Possibilities:
    """The possible states of every task of a workflow, computed once for each graph.

    `shapes` are those that the caller already has, by template name.
    """

    def __init__(self, workflow: Workflow, shapes: Mapping[str, Shape] | None = None):
        self._templates = templates_by_name(workflow)
        calls = all_calls(workflow)
        groups = strongly_connected(calls)
        self._recursive = on_cycles(calls, groups)
        self._callees_first = (name for group in groups for name in group)
        self._shapes = dict(shapes or {})
        self._graphs: dict[str, dict[str, Possible]] = {}
        self._can_fail: dict[str, bool] = {}

    def of_graph(self, template: Template) -> dict[str, Possible]:
        """By task name, the possible states in a graph template. Raises `CycleError`."""
        known = self._graphs.get(template.name)
        if known is None:
            assert isinstance(template.body, Graph)
            known = self._graphs[template.name] = self._graph(template.body, self._shape(template))
        return known

    def presence(self, template: Template) -> Presence:
        """Which values of a graph template are there whenever it Succeeded. Raises `CycleError`."""
        assert isinstance(template.body, Graph)
        tasks = {task.name: task for task in template.body.tasks}
        return Presence(tasks, self.of_graph(template), absolved(self._shape(template)))

    def template_can_fail(self, name: str) -> bool:
        """Whether a run of the template can end Failed."""
        if name in self._recursive or name not in self._templates:
            return True
        template = self._templates[name]
        if name not in self._can_fail and not isinstance(template.body, Graph | Loop):
            self._can_fail[name] = self._body_can_fail(template)
        # Callees before callers, so that deep nesting of templates needs no deep recursion here.
        while name not in self._can_fail:
            callee = next(self._callees_first)
            if callee not in self._recursive:
                self._can_fail[callee] = self._body_can_fail(self._templates[callee])
        return self._can_fail[name]

    def _shape(self, template: Template) -> Shape:
        known = self._shapes.get(template.name)
        if known is None:
            assert isinstance(template.body, Graph)
            known = self._shapes[template.name] = shape(template.body)
        return known

    def _body_can_fail(self, template: Template) -> bool:
        if template.timeout is not None or template.deadline is not None:
            return True
        if isinstance(template.body, Graph):
            values = [output.value for output in template.outputs.parameters]
            values += [artifact.value for artifact in template.outputs.artifacts]
            return any(value is not None and can_err(value) for value in values) or any(
                possible.failed or possible.blocked for possible in self.of_graph(template).values()
            )
        # A suspend can be stopped from outside or time out, everything else can crash or lose its pod.
        return not (isinstance(template.body, Suspend) and template.body.duration == 0)

    def _graph(self, graph: Graph, graph_shape: Shape) -> dict[str, Possible]:
        tasks = {task.name: task for task in graph.tasks}
        found: dict[str, Possible] = {}
        for name in graph_shape.order():
            found[name] = self._task(tasks[name], graph_shape.edges[name], tasks, found)
        return found

    def _task(
        self, task: Task, task_edges: tuple[Edge, ...], tasks: Mapping[str, Task], known: Mapping[str, Possible]
    ) -> Possible:
        # A condition or a value that has no meaning makes the task Failed, whatever its template does.
        failed = (
            task.when is not None
            or task.each is not None
            or not isinstance(task.call, str)
            or self.template_can_fail(task.call)
            or any(can_err(expr) for expr in value_expressions(task))
        )
        if task.depends is not None:
            return Possible(skipped=task.when is not None, failed=failed, blocked=True)
        by_edge = False
        blocked = False
        for edge in task_edges:
            producers = [known[name] for name in edge.tasks]
            match edge.kind:
                case "order":
                    pass
                case "value":
                    by_edge = by_edge or producers[0].skipped
                case "on_failure":
                    by_edge = True
                    continue
                case "first":
                    by_edge = by_edge or not _one_runs(edge.tasks, tasks, known)
                case "always":
                    continue
            blocked = blocked or any(producer.failed or producer.blocked for producer in producers)
        return Possible(by_edge or task.when is not None, failed, blocked, by_edge)


class Presence(msgspec.Struct, frozen=True):
    """Which values of one graph are there whenever the graph Succeeded."""

    tasks: Mapping[str, Task]
    possible: Mapping[str, Possible]
    absolved: frozenset[str]

    def absent_source(self, expr: Expr) -> str | None:
        """The name of a task for lack of whose output an expression can be absent; None where it never is."""
        match expr:
            case TaskOutput(task=name) | TaskArtifact(task=name) | TaskItems(task=name):
                return name if may_be_absent(name, self.possible, self.absolved) else None
            case OrElse(value=value, default=default):
                return None if self.absent_source(value) is None else self.absent_source(default)
            case First(options=options):
                missing = [self.absent_source(option) for option in options]
                if None in missing:
                    return None
                names = [name for name in missing if name is not None]
                return None if names and self._one_succeeds(options, names) else names[0] if names else None
            case _:
                sources = [self.absent_source(child) for child in children(expr)]
                return next((source for source in sources if source is not None), None)

    def _one_succeeds(self, options: tuple[Expr, ...], names: list[str]) -> bool:
        plain = all(isinstance(option, TaskOutput | TaskArtifact | TaskItems) for option in options)
        return plain and not self.absolved.intersection(names) and _one_runs(tuple(names), self.tasks, self.possible)


def _one_runs(names: tuple[str, ...], tasks: Mapping[str, Task], possible: Mapping[str, Possible]) -> bool:
    """Whether never all of the tasks are skipped: one can't be, or they are by their conditions only, and one holds."""
    if any(not possible[name].skipped for name in names):
        return True
    if any(possible[name].skipped_by_edge for name in names):
        return False
    conditions = [task.when for name in names if (task := tasks[name]).depends is None]
    return one_holds([condition for condition in conditions if condition is not None])


def can_err(expr: Expr) -> bool:
    """Whether an expression can have no value although all that it refers to is present."""
    match expr:
        case Literal() | NonFinite() | Input() | InputArtifact() | WorkflowParameter() | Item() | Run():
            return False
        case TaskOutput() | TaskArtifact() | TaskStatus() | TaskItems():
            return False
        case OrElse() | First() | Record() | Text():
            return any(map(can_err, children(expr)))
        case _:
            return True


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
