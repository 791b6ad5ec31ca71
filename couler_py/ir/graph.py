"""Questions about the shape of a graph, each answered in time linear in its tasks and edges."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from couler_py.ir.expr import Expr, TaskArtifact, TaskItems, TaskOutput, walk
from couler_py.ir.meaning import Edge, graph_edges, value_expressions
from couler_py.ir.model import Graph, Inline, Loop, Task, Template, Workflow


class CycleError(ValueError):
    """A graph whose tasks wait for each other. `cycle` names them in order, the first again at the end."""

    def __init__(self, cycle: tuple[str, ...]):
        self.cycle = cycle
        super().__init__(f"these tasks wait for each other: {' -> '.join(cycle)}")


class Shape(msgspec.Struct, frozen=True):
    """The edges of a graph, ready to be asked: by task in program order, and both ways."""

    edges: dict[str, tuple[Edge, ...]]
    producers: dict[str, tuple[str, ...]]
    consumers: dict[str, tuple[str, ...]]

    def order(self) -> tuple[str, ...]:
        """The tasks so that each comes after its producers, otherwise in program order.

        Raises `CycleError`.
        """
        waiting = {name: len(names) for name, names in self.producers.items()}
        ready = deque(name for name, count in waiting.items() if count == 0)
        done: list[str] = []
        while ready:
            name = ready.popleft()
            done.append(name)
            for consumer in self.consumers[name]:
                waiting[consumer] -= 1
                if waiting[consumer] == 0:
                    ready.append(consumer)
        if len(done) < len(waiting):
            raise CycleError(self._cycle({name for name, count in waiting.items() if count > 0}))
        return tuple(done)

    def leaves(self) -> tuple[str, ...]:
        """The tasks that nobody waits for, in program order."""
        return tuple(name for name, names in self.consumers.items() if not names)

    def leaves_of_outcome(self) -> tuple[str, ...]:
        """The tasks that at most `always` edges leave: those whose states decide how the graph ends."""
        inner = {
            producer
            for task_edges in self.edges.values()
            for edge in task_edges
            if edge.kind != "always"
            for producer in edge.tasks
        }
        return tuple(name for name in self.edges if name not in inner)

    def levels(self) -> dict[str, int]:
        """The length of the longest path from a root to each task."""
        level: dict[str, int] = {}
        for name in self.order():
            level[name] = max((level[producer] + 1 for producer in self.producers[name]), default=0)
        return level

    def before(self, name: str) -> set[str]:
        """All that a task waits for, directly or by way of others."""
        return _reached(name, self.producers)

    def behind(self, name: str) -> set[str]:
        """All that waits for a task, directly or by way of others."""
        return _reached(name, self.consumers)

    def _cycle(self, stuck: set[str]) -> tuple[str, ...]:
        # Every stuck task has a stuck producer: walk back until one comes again.
        name = next(name for name in self.edges if name in stuck)
        path: dict[str, int] = {}
        while name not in path:
            path[name] = len(path)
            name = next(producer for producer in self.producers[name] if producer in stuck)
        names = list(path)[path[name] :]
        names.reverse()
        place = {name: number for number, name in enumerate(self.edges)}
        start = names.index(min(names, key=place.__getitem__))
        names = names[start:] + names[:start]
        return (*names, names[0])


def _reached(name: str, near: Mapping[str, Iterable[str]]) -> set[str]:
    found: set[str] = set()
    left = list(near.get(name, ()))
    while left:
        each = left.pop()
        if each not in found:
            found.add(each)
            left.extend(near[each])
    return found


def shape(graph: Graph) -> Shape:
    """The edges of a graph. Raises `KeyError` for an edge to a task that isn't there.

    It is found once for each graph that lives: checks, passes and engines ask for it one after the other.
    """
    key = id(graph)
    known = _shapes.get(key)
    if known is None:
        known = shape_of(graph_edges(graph))
        _shapes[key] = known
        weakref.finalize(graph, _shapes.pop, key, None)
    return known


_shapes: dict[int, Shape] = {}
"""By the identity of a graph, which no other has while it lives."""


def has_edges_alone(graph: Graph) -> bool:
    """Whether edges say all of the order: no groups, targets or `depends`, and no end at the first failure."""
    return (
        graph.form == "dag"
        and not graph.targets
        and not graph.fail_fast
        and all(task.depends is None for task in graph.tasks)
    )


def shape_of(found: dict[str, tuple[Edge, ...]]) -> Shape:
    """The shape that edges make, given by task in program order. Raises `KeyError` as `shape` does."""
    producers: dict[str, tuple[str, ...]] = {}
    consumers: dict[str, dict[str, None]] = {name: {} for name in found}
    for name, task_edges in found.items():
        if len(task_edges) == 1 and task_edges[0].kind != "first":
            names = task_edges[0].tasks
        else:
            names = tuple(dict.fromkeys(producer for edge in task_edges for producer in edge.tasks))
        producers[name] = names
        for producer in names:
            consumers[producer][name] = None
    return Shape(found, producers, {name: tuple(names) for name, names in consumers.items()})


def templates_by_name(workflow: Workflow) -> dict[str, Template]:
    """The templates of a workflow by name."""
    return {template.name: template for template in workflow.templates}


def called(template: Template) -> Iterator[str]:
    """The names of the templates of the same workflow that one calls, in program order, with repeats."""
    body = template.body
    if isinstance(body, Loop):
        yield body.body
    elif isinstance(body, Graph):
        for task in body.tasks:
            if isinstance(task.call, str):
                yield task.call
            elif isinstance(task.call, Inline):
                yield from called(task.call.template)
            for hook in task.hooks:
                yield hook.call


def reachable(workflow: Workflow, start: Iterable[str] | None = None) -> tuple[str, ...]:
    """The names of the templates that a run can call, in order of first call.

    Starts at the entrypoint and the handlers, or at the given names.
    """
    templates = templates_by_name(workflow)
    roots = [workflow.entrypoint, *(handler.call for handler in workflow.handlers)] if start is None else list(start)
    found: dict[str, None] = {}
    stack = roots[::-1]
    while stack:
        name = stack.pop()
        if name in found or name not in templates:
            continue
        found[name] = None
        if isinstance(templates[name].body, Graph | Loop):
            stack.extend(reversed(list(called(templates[name]))))
    return tuple(found)


def recursive(workflow: Workflow) -> frozenset[str]:
    """The names of the templates that call themselves, directly or through others."""
    calls = all_calls(workflow)
    return on_cycles(calls, strongly_connected(calls))


def all_calls(workflow: Workflow) -> dict[str, tuple[str, ...]]:
    """By each template that calls others, which it calls, each once. Most templates call none, and aren't in it."""
    return {
        template.name: tuple(dict.fromkeys(called(template)))
        for template in workflow.templates
        if isinstance(template.body, Graph | Loop)
    }


def on_cycles(calls: Mapping[str, tuple[str, ...]], groups: Iterable[tuple[str, ...]]) -> frozenset[str]:
    """The names that reach themselves; `groups` are `strongly_connected(calls)`."""
    return frozenset(name for group in groups if len(group) > 1 or group[0] in calls[group[0]] for name in group)


def strongly_connected(calls: Mapping[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The groups of names that reach each other, each after the groups it calls (Tarjan, without recursion).

    Targets that aren't names of `calls` count as nothing.
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    on_stack: set[str] = set()
    stack: list[str] = []
    found: list[tuple[str, ...]] = []
    for root in calls:
        if root in index:
            continue
        work = [(root, iter(calls[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            name, targets = work[-1]
            for target in targets:
                if target not in calls:
                    continue
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(calls[target])))
                    break
                if target in on_stack:
                    low[name] = min(low[name], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    component = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        component.append(member)
                        if member == name:
                            break
                    found.append(tuple(component))
    return found


def readers(graph: Graph) -> dict[str, tuple[Task, ...]]:
    """By task, the tasks of the graph that read one of its outputs or items."""
    found: dict[str, dict[str, Task]] = {task.name: {} for task in graph.tasks}
    for task in graph.tasks:
        for expr in value_expressions(task):
            for node in walk(expr):
                if isinstance(node, TaskOutput | TaskArtifact | TaskItems):
                    found[node.task][task.name] = task
    return {name: tuple(tasks.values()) for name, tasks in found.items()}


def expressions(template: Template) -> Iterator[Expr]:
    """Every expression of a graph or loop template that is read inside it: of tasks, hooks and outputs."""
    body = template.body
    if isinstance(body, Graph):
        for task in body.tasks:
            yield from value_expressions(task)
            for hook in task.hooks:
                if hook.when is not None:
                    yield hook.when
                yield from (argument.value for argument in hook.arguments)
    if isinstance(body, Loop):
        yield body.until
    yield from (output.value for output in template.outputs.parameters if output.value is not None)
    yield from (output.value for output in template.outputs.artifacts if output.value is not None)
