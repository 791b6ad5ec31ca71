"""Edges by name: `dag` and `set_dependencies`.

Steps recorded here wait for what they are told to wait for, and for the values that they read, and for
nothing else; the steps after them wait for those that nothing waits for yet.
"""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from couler_py.dsl.frames import Frame, Node
from couler_py.dsl.ordering import link
from couler_py.dsl.problems import fail, problem
from couler_py.dsl.recorder import Recorder
from couler_py.dsl.sources import caller
from couler_py.dsl.verbs.calls import LAMBDA, DagScope, dag_scope, forwarded
from couler_py.dsl.verbs.depends import DependsError, parse, tasks_of
from couler_py.dsl.verbs.outputs import OutputArtifact, OutputJob, OutputParameter
from couler_py.dsl.verbs.state import Verbs, recording
from couler_py.ir.model import Source

FORWARDED = (OutputParameter, OutputArtifact, OutputJob)
"""The outputs that `set_dependencies` hands on, as Couler does."""


class Group(msgspec.Struct, frozen=True, eq=False):
    """The tasks that one function recorded: those that begin it, and those that end it."""

    name: str
    nodes: tuple[Node, ...]
    first: tuple[Node, ...]
    last: tuple[Node, ...]
    value: Any = None


def dag(dependency_graph: Any) -> None:
    """Record a graph from its edges: `[[a], [a, b], [a, c]]` runs a, then b and c.

    A list of more than two is a chain. A function that appears several times is one step: by identity, or,
    as lambdas are new each time, by the name of what it records.

    Raises `RecordingError` for a cycle, and for one name with two contents.

    >>> couler.dag([[lambda: job("A")], [lambda: job("A"), lambda: job("B")]])  # doctest: +SKIP
    """
    if isinstance(dependency_graph, str) or not isinstance(dependency_graph, list | tuple):
        fail("CLR181", f"dag needs a list of lists of functions, not {dependency_graph!r}")
    with recording() as here:
        frame = here.recorder.frame
        before = list(frame.previous)
        groups: dict[Any, Group] = {}
        kept: list[Any] = []  # so that an id stays the id of one function
        scope = DagScope()
        token = dag_scope.set(scope)
        try:
            for edges in dependency_graph:
                chain = _chain(edges)
                kept.extend(chain)
                found = [_group(here.recorder, scope, groups, function) for function in chain]
                for one, other in itertools.pairwise(found):
                    _connect(one, other)
        finally:
            dag_scope.reset(token)
        _close(frame, before, [node for group in groups.values() for node in group.nodes])


def set_dependencies(step_function: Callable[[], Any], dependencies: Sequence[str] | str | None = None) -> Any:
    """Record what a function calls, after the steps that are named, and return what it returns.

    `dependencies` is a list of names: the step runs once these succeeded or were skipped, and is given
    their outputs: values behind its `args`, files at their paths, each that it doesn't read already. Or it
    is a text in Argo's `depends` language, as "A && (B.Succeeded || C.Failed)". With None it waits for nothing.

    Raises `RecordingError` for a name that no step has, or more than one, and for a text that can't be read.

    >>> couler.set_dependencies(lambda: job("B"), dependencies=["A"])  # doctest: +SKIP
    """
    if not callable(step_function):
        fail("CLR181", f"set_dependencies needs a function, not {step_function!r}", help=LAMBDA)
    if dependencies is not None and not isinstance(dependencies, str | list | tuple):
        fail("CLR181", f"dependencies is a list of names or a text, not {dependencies!r}")
    source = caller()
    with recording() as here:
        recorder = here.recorder
        frame = recorder.frame
        before = list(frame.previous)
        tree, names = _depends(frame, dependencies, source)
        producers = list(names.values())
        handed = [] if tree is not None else _handed(here, producers)
        token = forwarded.set(handed)
        try:
            group = _record(recorder, step_function)
        finally:
            forwarded.reset(token)
        for node in group.first:
            if tree is not None:
                node.depends = (tree, names)
            for producer in producers if tree is None else ():
                link(producer, node, "order")
        _close(frame, before, group.nodes)
        return group.value


def _depends(frame: Frame, dependencies: Any, source: Source) -> tuple[Any, dict[str, Node]]:
    if dependencies is None:
        return None, {}
    if not isinstance(dependencies, str):
        return None, {str(name): _named(frame, name, source) for name in dependencies}
    try:
        tree = parse(dependencies)
    except DependsError as wrong:
        fail("CLR184", str(wrong), source=source, help="join names of steps, as A or A.Succeeded, by &&, || and !")
    return tree, {name: _named(frame, name, source) for name in tasks_of(tree)}


def _named(frame: Frame, name: Any, source: Source) -> Node:
    """The step of a name in the graph at hand."""
    found = [node for node in frame.nodes if name in (node.base, node.display)]
    exact = frame.names.get(name) if isinstance(name, str) else None
    if exact is not None and exact not in found:
        return exact
    if len(found) == 1:
        return found[0]
    if found:
        places = tuple((node.name, node.source) for node in found[1:] if node.source is not None)
        fail(
            "CLR183",
            f"{len(found)} steps are named {name!r}",
            source=source,
            help=f"give each a step_name of its own; counted, they are {', '.join(node.name for node in found)}",
            related=places,
        )
    names = list(dict.fromkeys(node.base for node in frame.nodes))
    near = difflib.get_close_matches(str(name), names, 1)
    known = f"the steps so far are {', '.join(names[:20])}" if names else "there is no step yet"
    raise problem(
        "CLR182",
        f"there is no step {name!r} to wait for",
        source=source,
        help=f"did you mean {near[0]!r}?" if near else known,
    )


def _handed(here: Verbs, producers: list[Node]) -> list[Any]:
    return [output for node in producers for output in here.outputs.get(node, ()) if isinstance(output, FORWARDED)]


@contextmanager
def _apart(frame: Frame) -> Iterator[None]:
    """Record steps that don't wait for what was recorded before."""
    before, frame.previous = frame.previous, []
    try:
        yield
    finally:
        frame.previous = before


def _record(recorder: Recorder, function: Callable[[], Any]) -> Group:
    frame = recorder.frame
    start = len(frame.nodes)
    with _apart(frame):
        value = function()
    return _grouped(_label(function), frame.nodes[start:], value)


def _grouped(name: str, nodes: Sequence[Node], value: Any = None) -> Group:
    inside = set(nodes)
    waiting = {node: {earlier for earlier, _ in node.after} & inside for node in nodes}
    waited = {earlier for found in waiting.values() for earlier in found}
    first = tuple(node for node in nodes if not waiting[node])
    last = tuple(node for node in nodes if node not in waited)
    return Group(name, tuple(nodes), first, last, value)


def _group(recorder: Recorder, scope: DagScope, groups: dict[Any, Group], function: Callable[[], Any]) -> Group:
    key = _identity(function)
    if key not in groups:
        frame = recorder.frame
        start, scope.touched = len(frame.nodes), []
        with _apart(frame):
            function()
        new = frame.nodes[start:]
        nodes = list(dict.fromkeys([*scope.touched, *new]))
        nodes = [node for node in nodes if node.frame is frame]
        if not nodes:
            fail("CLR181", f"{_label(function)} calls no step", help="call a verb or a step in it")
        _check_repeated(groups, new)
        groups[key] = _grouped(nodes[0].name, nodes)
    return groups[key]


def _identity(function: Any) -> Any:
    own = getattr(function, "__self__", None)
    return (id(own), id(function.__func__)) if own is not None and hasattr(function, "__func__") else id(function)


def _check_repeated(groups: dict[Any, Group], new: list[Node]) -> None:
    """Refuse the same step of the new style in two lambdas: it would silently run twice."""
    for node in new:
        for group in groups.values():
            for earlier in group.nodes:
                if earlier.call is node.call and earlier.base == node.base and earlier.arguments == node.arguments:
                    fail(
                        "CLR183",
                        f"{node.base} is called alike by two functions of one dag",
                        source=node.source,
                        why="it would run twice: one step is the same function object, or a name of a verb's step",
                        help="give the same function in each edge: `a = lambda: step()`, then [[a], [a, b]]",
                        related=(("the other call", earlier.source),) if earlier.source else (),
                    )


def _chain(edges: Any) -> list[Callable[[], Any]]:
    if isinstance(edges, str) or not isinstance(edges, list | tuple) or not edges:
        fail("CLR181", f"an edge of dag is a list of functions, not {edges!r}")
    for function in edges:
        if not callable(function):
            fail(
                "CLR181",
                f"an edge of dag holds {function!r}, which is no function",
                help=LAMBDA,
            )
    return list(edges)


def _connect(one: Group, other: Group) -> None:
    for producer in one.last:
        for consumer in other.first:
            link(producer, consumer, "order")


def _close(frame: Frame, before: list[Node], nodes: Sequence[Node]) -> None:
    """What the next step in program order waits for: all that nothing waits for yet."""
    waited = {earlier for node in nodes for earlier, _ in node.after}
    waited |= {producer for node in nodes if node.depends is not None for producer in node.depends[1].values()}
    frame.previous = [node for node in dict.fromkeys([*before, *nodes]) if node not in waited]


def _label(function: Any) -> str:
    return getattr(function, "__name__", "the function")
