"""The tasks of a workflow, read out of the task instances of its DAG.

A DAG has more tasks than its workflow: gates, the first and last task of each group, what splitting added. Their ids
tell what they are, for `backends/airflow/names.py` keeps these ids to itself. So a run can be read without the workflow
that it is of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from couler_py.backends.airflow.names import EACH, END, HANDLERS, OF_SPLIT, RESULT, START
from couler_py.backends.base import TaskPhase
from couler_py.backends.rest.request import JSON

FINISH, ENDED = "finish", "ended"
PHASES: dict[str, TaskPhase] = {
    "running": "Running",
    "restarting": "Running",
    "up_for_retry": "Running",
    "up_for_reschedule": "Running",
    "deferred": "Running",
    "awaiting_input": "Suspended",
    "success": "Succeeded",
    "failed": "Failed",
    "skipped": "Skipped",
    "upstream_failed": "Blocked",
}
"""What Airflow's states are here; all others are before a start."""

ASKS, WAITS = ("Approval", "HITLEntryOperator"), "PythonSensor"
"""The operators of a suspend: one that asks a person (before 3.3 such a task was `deferred`), one that waits a time."""

GATE = re.compile(r"(.+)__(?:order|first|on_failure|always|none_failed|one_failed|goes)(?:_\d+)?")
ITEM = re.compile(rf"{EACH}_(\d+)")
TURN = re.compile(r"turn_(\d+)")


class Place(msgspec.Struct, frozen=True):
    """A task of the workflow: its path, how it stands, and the task instance that it is.

    A graph, loop or fan-out is none, but has a `first` and a `last`; only graphs and loops count as `attempted`.
    """

    path: str
    phase: TaskPhase
    instance: JSON | None = None
    first: JSON | None = None
    last: JSON | None = None
    attempted: bool = False


class Node(msgspec.Struct):
    """An id of the DAG, or what its ids begin with: instances by their map index, and what is below."""

    instances: dict[int, JSON] = {}
    below: dict[str, Node] = {}


def places(instances: Sequence[JSON]) -> Iterator[Place]:
    """The tasks of a run by their paths, as every engine names them."""
    root = Node()
    for each in instances:
        if each.get("state") != "removed":
            node = root
            for part in each["task_id"].split("."):
                node = node.below.setdefault(part, Node())
            node.instances[each["map_index"]] = each
    helpers = (RESULT, FINISH, HANDLERS)
    yield from _graph({name: node for name, node in root.below.items() if name not in helpers}, "", -1)
    if HANDLERS in root.below:
        inside = {name: node for name, node in root.below[HANDLERS].below.items() if name != ENDED}
        yield from _graph(inside, "onExit/", -1)


def phase_of(instance: JSON) -> TaskPhase:
    """How one task instance stands."""
    found = PHASES.get(instance.get("state") or "", "Pending")
    waiting = instance.get("operator_name") in ASKS and instance.get("state") == "deferred"
    if waiting or (found == "Running" and instance.get("operator_name") == WAITS):
        return "Suspended"
    return found


def _graph(nodes: Mapping[str, Node], prefix: str, index: int) -> Iterator[Place]:
    own = [(name, node) for name, node in nodes.items() if not _is_helper(name, node, nodes)]
    for name, node in sorted(own, key=lambda each: _begun(each[1], index)):
        path = f"{prefix}{name}"
        if not node.below:
            yield _leaf(node, path, index)
            continue
        yield _group(node, path, index)
        yield from _inside(node, path, index)


def _leaf(node: Node, path: str, index: int) -> Place:
    instance = _at(node, index)
    assert instance is not None
    return Place(path, phase_of(instance), instance)


def _inside(node: Node, path: str, index: int) -> Iterator[Place]:
    turns = {name: each for name, each in node.below.items() if TURN.fullmatch(name)}
    items = {name: each for name, each in node.below.items() if ITEM.fullmatch(name)}
    if EACH in node.below:
        yield from _items(node.below[EACH], path)
    elif turns:
        yield from _numbered(turns, TURN, f"{path}#{{}}", index, left_out="Skipped")
    elif items:
        yield from _numbered(items, ITEM, f"{path}[{{}}]", index)
    else:
        yield from _graph(node.below, f"{path}/", index)


def _items(each: Node, path: str) -> Iterator[Place]:
    mapped = each.below[START].instances if each.below else each.instances
    for index in sorted(number for number in mapped if number >= 0):
        place = f"{path}[{index}]"
        if not each.below:
            yield Place(place, phase_of(each.instances[index]), each.instances[index])
        else:
            yield _group(each, place, index)
            yield from _inside(each, place, index)


def _numbered(
    nodes: Mapping[str, Node], pattern: re.Pattern[str], form: str, index: int, left_out: str = ""
) -> Iterator[Place]:
    found = {int(match[1]): nodes[name] for name in nodes if (match := pattern.fullmatch(name))}
    for number in sorted(found):
        place = _group(found[number], form.format(number), index)
        # Turns that weren't needed, or that nobody knows of yet whether they will be.
        if place.phase == left_out or (left_out and number > 1 and place.phase == "Pending"):
            continue
        yield place
        yield from _inside(found[number], place.path, index)


def _group(node: Node, path: str, index: int) -> Place:
    """A graph, a fan-out or a loop, by its first and last task."""
    first, last = (_at(node.below.get(name), index) for name in (START, END))
    fans_out = EACH in node.below or any(ITEM.fullmatch(name) for name in node.below)
    return Place(path, _phase_of_group(first, last), first=first, last=last, attempted=not fans_out)


def _phase_of_group(first: JSON | None, last: JSON | None) -> TaskPhase:
    began, ended = ((each or {}).get("state") or "" for each in (first, last))
    if ended in ("success", "skipped"):
        return PHASES[ended]
    if ended in ("failed", "upstream_failed"):
        return "Blocked" if began == "upstream_failed" else "Failed"
    return "Running" if began in PHASES else "Pending"


def _at(node: Node | None, index: int) -> JSON | None:
    """The instance of a map index: inside a group that isn't expanded yet, there is only that of the index -1."""
    if node is None or not node.instances:
        return None
    return node.instances.get(index) or next(iter(node.instances.values()))


def _is_helper(name: str, node: Node, siblings: Mapping[str, Node]) -> bool:
    if name in (START, END) and {START, END} <= siblings.keys():
        return True
    if name.endswith(OF_SPLIT):
        return True
    match = GATE.fullmatch(name)
    return (
        match is not None
        and match[1] in siblings
        and all(each.get("operator_name") == "EmptyOperator" for each in node.instances.values())
    )


def _begun(node: Node, index: int) -> str:
    """When a node began, for sorting; what hasn't begun comes last."""
    if not node.below:
        return str((_at(node, index) or {}).get("start_date") or "~")
    return min(_begun(each, index) for each in node.below.values())
