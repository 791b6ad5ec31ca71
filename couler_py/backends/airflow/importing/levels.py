"""The tasks of a DAG, or of a mapped group in it, as nodes of one graph: what waits for what there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from couler_py.backends.airflow.importing import facts
from couler_py.backends.airflow.importing.made import Slots
from couler_py.printer.names import Names, identifier


class Node(msgspec.Struct, frozen=True):
    """A task, or a mapped group of tasks: its id, what it is called here, and the nodes that it waits for.

    `chosen_by` are the ids by which a branch chooses it.
    """

    id: str
    name: str
    upstream: tuple[str, ...]
    rule: str
    chosen_by: tuple[str, ...]
    task: facts.Task | None = None
    group: facts.Group | None = None


class Level:
    """One graph. `places` says for each task of the DAG which node it is, or is in; `slots` are the graph's inputs."""

    def __init__(self, nodes: Iterable[Node], places: Mapping[str, str], group: facts.Group | None = None):
        self.group = group
        self.slots = Slots()
        self.places = places
        given = {node.id: node for node in nodes}
        self.nodes = {name: given[name] for name in _in_order(given)}
        self._before: dict[str, frozenset[str]] = {}
        for node in self.nodes.values():
            before = frozenset(node.upstream)
            self._before[node.id] = before.union(*(self._before[each] for each in before))

    def ancestors(self, node_id: str) -> frozenset[str]:
        """All nodes that a node waits for, directly or not."""
        return self._before[node_id]

    def downstream(self, node_id: str) -> list[Node]:
        """The nodes that wait for a node directly."""
        return [node for node in self.nodes.values() if node_id in node.upstream]


def levels(dag: facts.Dag, dropped: frozenset[str]) -> tuple[Level, dict[str, Level]]:
    """The graph of a DAG, and those of its mapped groups by their ids. Who waits for a dropped task waits for its own.

    The names of tasks are their ids, with the groups around them in front.
    """
    tasks = {task.id: task for task in dag.tasks if task.id not in dropped}
    waits = {task.id: _kept(task, dag, dropped) for task in tasks.values()}
    mapped = {group.id: group for group in dag.groups if group.expand is not None}
    roots = {root: group.id for group in dag.groups for root in group.roots}
    places = {task.id: task.mapped_group or task.id for task in tasks.values()}
    names = Names()
    known = {node: names.free(identifier(node.replace(".", "_"))) for node in dict.fromkeys(places.values())}
    outer: list[Node] = []
    for node_id in dict.fromkeys(places.values()):
        members = [task for task in tasks.values() if places[task.id] == node_id]
        before = dict.fromkeys(places[each] for task in members for each in waits[task.id])
        upstream = tuple(each for each in before if each != node_id)
        if node_id in mapped:
            chosen = (node_id, *mapped[node_id].roots)
            outer.append(Node(node_id, known[node_id], upstream, "all_success", chosen, group=mapped[node_id]))
        else:
            outer.append(_node(members[0], known[node_id], upstream, roots))
    inner: dict[str, Level] = {}
    for group_id, group in mapped.items():
        names = Names()
        members = [task for task in tasks.values() if task.mapped_group == group_id]
        ids = {task.id for task in members}
        nodes = [
            _node(
                task,
                names.free(identifier(task.id.removeprefix(f"{group_id}.").replace(".", "_"))),
                tuple(each for each in waits[task.id] if each in ids),
                roots,
            )
            for task in members
        ]
        inner[group_id] = Level(nodes, {task.id: task.id for task in members}, group)
    return Level(outer, places), inner


def _node(task: facts.Task, name: str, upstream: tuple[str, ...], roots: Mapping[str, str]) -> Node:
    chosen = (task.id, roots[task.id]) if task.id in roots else (task.id,)
    return Node(task.id, name, upstream, task.rule, chosen, task=task)


def _kept(task: facts.Task, dag: facts.Dag, dropped: frozenset[str]) -> tuple[str, ...]:
    """What a task waits for, without dropped tasks."""
    by_id = {each.id: each for each in dag.tasks}
    found: dict[str, None] = {}
    waiting = list(reversed(task.upstream))
    seen: set[str] = set()
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        if each in dropped:
            waiting += reversed(by_id[each].upstream)
        else:
            found[each] = None
    return tuple(found)


def _in_order(nodes: Mapping[str, Node]) -> list[str]:
    """Each node behind those that it waits for, else in the order in which they were given."""
    found: dict[str, None] = {}
    waiting = list(nodes)
    while waiting:
        ready = [each for each in waiting if all(before in found for before in nodes[each].upstream)]
        if not ready:  # a mapped group between two tasks that wait for each other through it
            ready = waiting[:1]
        first = ready[0]
        found[first] = None
        waiting.remove(first)
    return list(found)
