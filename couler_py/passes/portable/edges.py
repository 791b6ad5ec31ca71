"""The edges of an imported graph as people write them, where these mean what its `depends` says.

What is proved, with the edge table of `couler_py.ir.meaning`: a bare name is an `order` edge; a value of a task that
has Succeeded whenever this one goes is a `value` edge that changes nothing. A bare name of what this one goes through
has Succeeded or was Skipped, and so has everything behind it. Everything else stays a tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import msgspec
from msgspec import UNSET

from couler_py.ir.expr import Expr, Literal, OrElse, TaskArtifact, TaskOutput, walk
from couler_py.ir.graph import CycleError, shape
from couler_py.ir.meaning import edges, value_expressions
from couler_py.ir.model import (
    After,
    Argument,
    Depends,
    DependsAll,
    DependsAny,
    DependsNot,
    DependsOn,
    Graph,
    Task,
    Template,
)
from couler_py.passes.portable.nodes import changed

FAILURES = frozenset({"Failed", "Errored"})
BARE = frozenset({"Succeeded", "Skipped", "Daemoned"})


class Natural(msgspec.Struct, frozen=True):
    """A graph template with edges for trees, as far as these say the same.

    `handlers` are the tasks whose tree became an edge that says a little else, `readers` those that read what may be
    left by a task that failed.
    """

    template: Template
    handlers: tuple[Task, ...] = ()
    readers: tuple[Task, ...] = ()


def natural(template: Template, templates: Mapping[str, Template]) -> Natural:
    """A graph template with the edges that people write.

    Tasks stand behind those that they wait for. A graph of a circle, or with edges that lead nowhere, stays as it is:
    the checker says so.
    """
    assert isinstance(template.body, Graph)
    try:
        graph = _ordered(template.body)
    except (CycleError, KeyError):
        return Natural(template)
    made = _Edges(graph, templates)
    tasks = tuple(map(made.task, graph.tasks))
    template = msgspec.structs.replace(template, body=msgspec.structs.replace(graph, tasks=tasks))
    handlers = tuple(task for task in tasks if task.name in made.handlers)
    readers = tuple(task for task in tasks if made.reads_failures(task))
    return Natural(template, handlers, readers)


def _ordered(graph: Graph) -> Graph:
    tasks = {task.name: task for task in graph.tasks}
    found = shape(graph)
    place = {name: number for number, name in enumerate(tasks)}
    order = found.order()
    if all(place[producer] < place[name] for name in tasks for producer in found.producers[name]):
        return graph
    return msgspec.structs.replace(graph, tasks=tuple(tasks[name] for name in order))


class _Edges:
    """The tasks of one graph, seen in their order."""

    def __init__(self, graph: Graph, templates: Mapping[str, Template]):
        self.templates = templates
        self.tasks = {task.name: task for task in graph.tasks}
        self.waited = {name for task in graph.tasks if task.depends is not None for name in _names(task.depends)}
        self.through: dict[str, tuple[str, ...]] = {}
        """By task, those that have Succeeded or were Skipped whenever it goes on to its own condition."""
        self.handlers: set[str] = set()

    def task(self, task: Task) -> Task:
        found = self._kinds(task)
        direct = _through(task.depends)
        self.through[task.name] = direct
        task = msgspec.structs.replace(task, arguments=tuple(self._given(task, each) for each in task.arguments))
        task = changed(task, partial(self._present, task.name))
        plain = None if found is None else self._plain(task, found)
        if plain is None:
            return task
        if any(edge.kind == "on_failure" for edge in plain.after):
            self.handlers.add(task.name)
        return plain

    def reads_failures(self, task: Task) -> bool:
        """Whether a task reads an output of one that may have failed when it goes."""
        values = (node for expr in value_expressions(task) for node in walk(expr))
        read = {node.task for node in values if isinstance(node, TaskOutput | TaskArtifact)}
        return any(name in self.tasks and not self._behind(task.name, name) for name in read)

    # ---- the tree

    def _kinds(self, task: Task) -> dict[str, str] | None:
        """By producer, what a tree asks of it: "order" or "on_failure"; None where it asks more."""
        kinds: dict[str, str] = {}
        for operand in _conjunction(task.depends):
            names = _names(operand)
            states = _states(operand)
            if len(names) != 1 or states is None:
                return None
            (name,) = names
            kind = self._kind(name, states, task)
            if kind is None or kinds.setdefault(name, kind) != kind:
                return None
        return kinds

    def _kind(self, name: str, states: frozenset[str], task: Task) -> str | None:
        good = frozenset({"Daemoned" if self._daemon(name) else "Succeeded"})
        if self._maybe_skipped(name):
            good |= {"Skipped"}
        producer = self.tasks[name]
        bad = FAILURES | ({"Omitted"} if producer.depends is not None else frozenset())
        said = states & (good | bad)
        if said == good:
            return "order"
        # A handler of errors that nobody waits for: whether it was Skipped or Omitted says nothing to anybody.
        alone = task.name not in self.waited and task.each is None
        return "on_failure" if "Failed" in said and not said & good and alone else None

    def _daemon(self, name: str) -> bool:
        call = self.tasks[name].call
        return isinstance(call, str) and call in self.templates and self.templates[call].daemon

    def _maybe_skipped(self, name: str) -> bool:
        """Whether a task can end Skipped, on Argo or by our rules; on Argo that is also a fan-out without items."""
        task = self.tasks[name]
        empty = task.each is not None and not (isinstance(task.each.items, Literal) and task.each.items.value)
        return self._skipped(name) or empty

    def _skipped(self, name: str) -> bool:
        return self.tasks[name].when is not None or name in self.handlers

    # ---- values

    def _given(self, task: Task, argument: Argument) -> Argument:
        """An argument; the default of who reads it stands in for a value that can be absent."""
        value = argument.value
        callee = self.templates.get(task.call) if isinstance(task.call, str) else None
        if not isinstance(value, TaskOutput) or callee is None or value.task not in self.tasks:
            return argument
        default = next((each.default for each in callee.inputs.parameters if each.name == argument.name), UNSET)
        if default is UNSET or self._succeeded(task.name, value.task):
            return argument
        return msgspec.structs.replace(argument, value=OrElse(value, Literal(default)))

    def _present(self, name: str, expr: Expr) -> Expr:
        """An expression without the default of a value that is never absent."""
        value = expr.value if isinstance(expr, OrElse) else None
        known = isinstance(value, TaskOutput) and value.task in self.tasks
        return value if isinstance(value, TaskOutput) and known and self._succeeded(name, value.task) else expr

    def _succeeded(self, name: str, producer: str) -> bool:
        """Whether a producer has Succeeded whenever a task goes."""
        return not self._skipped(producer) and self._behind(name, producer)

    def _behind(self, name: str, producer: str) -> bool:
        """Whether a producer has Succeeded or was Skipped whenever a task goes."""
        if producer in self.through[name]:
            return True
        seen: set[str] = set()
        stack = list(self.through[name])
        while stack:
            one = stack.pop()
            if one == producer:
                return True
            if one not in seen:
                seen.add(one)
                stack.extend(self.through.get(one, ()))
        return False

    def _plain(self, task: Task, kinds: Mapping[str, str]) -> Task | None:
        """The task with edges; None where a value would make an edge that says something else."""
        bare = msgspec.structs.replace(task, depends=None)
        written = tuple(After(name, kind) for name, kind in kinds.items())  # type: ignore[arg-type]
        implied: set[str] = set()
        for edge in edges(msgspec.structs.replace(bare, after=written)):
            if edge.kind in ("on_failure", "first"):
                continue
            (producer,) = edge.tasks
            if producer not in self.tasks or not self._behind(task.name, producer):
                return None
            if kinds.get(producer) == "on_failure":  # it never goes, and what it reads must not stand for that
                return None
            if edge.kind == "value":
                if self._skipped(producer):
                    return None
                implied.add(producer)
        implied |= {each.tasks[0] for each in edges(bare) if each.kind == "order"}
        kept = tuple(each for each in written if each.kind == "on_failure" or each.task not in implied)
        return msgspec.structs.replace(bare, after=kept)


def _conjunction(tree: Depends | None) -> Iterator[Depends]:
    if isinstance(tree, DependsAll):
        for operand in tree.operands:
            yield from _conjunction(operand)
    elif tree is not None:
        yield tree


def _through(tree: Depends | None) -> tuple[str, ...]:
    """The tasks that have Succeeded or were Skipped where a tree holds, as far as its conjunction says so."""
    found: dict[str, None] = {}
    for operand in _conjunction(tree):
        states = _states(operand)
        if states is not None and states <= BARE:
            found |= dict.fromkeys(_names(operand))
    return tuple(found)


def _states(tree: Depends) -> frozenset[str] | None:
    """The states that a leaf, or an alternative of leaves, asks for; None for anything else."""
    match tree:
        case DependsOn(state=""):
            return BARE
        case DependsOn(state="AnySucceeded" | "AllFailed"):
            return None
        case DependsOn(state=state):
            return frozenset({state})
        case DependsAny(operands=operands):
            found = [_states(operand) for operand in operands]
            known = [states for states in found if states is not None]
            return frozenset[str]().union(*known) if len(known) == len(found) else None
        case _:
            return None


def _names(tree: Depends) -> frozenset[str]:
    match tree:
        case DependsOn(task=task):
            return frozenset({task})
        case DependsNot(operand=operand):
            return _names(operand)
        case DependsAll(operands=operands) | DependsAny(operands=operands):
            return frozenset[str]().union(*map(_names, operands))


def tells_failures_apart(tree: Depends) -> bool:
    """Whether a tree holds for one kind of failure, or one end of a fan-out's items, and not for the other."""
    return _read(tree, "Failed") != _read(tree, "Errored") or bool(_leaves(tree) & {"AnySucceeded", "AllFailed"})


def _read(tree: Depends, state: str) -> object:
    """A tree in a form without an order, in which one kind of failure is the sort that is meant."""
    other = "Errored" if state == "Failed" else "Failed"
    match tree:
        case DependsOn(task=task, state=said):
            return (task, "this" if said == state else "that" if said == other else said)
        case DependsNot(operand=operand):
            return ("not", _read(operand, state))
        case DependsAll(operands=operands) | DependsAny(operands=operands):
            kind = "all" if isinstance(tree, DependsAll) else "any"
            return (kind, frozenset(_read(operand, state) for operand in operands))


def _leaves(tree: Depends) -> frozenset[str]:
    match tree:
        case DependsOn(state=state):
            return frozenset({state})
        case DependsNot(operand=operand):
            return _leaves(operand)
        case DependsAll(operands=operands) | DependsAny(operands=operands):
            return frozenset[str]().union(*map(_leaves, operands))
