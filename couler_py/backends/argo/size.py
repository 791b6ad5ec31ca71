"""How large a workflow is for Argo: the document, and what a run's status adds to it.

A workflow is one object of Kubernetes, its status included, and the controller refuses one of 1 MiB or more
(`MAX_WORKFLOW_SIZE`). It writes a node into the status for each task, item, attempt and group; where all of it would
be too large it compresses the nodes. Figures, measured on Argo 4.0.7 (905, 603, 3,003 nodes without pods, and pods):
a node takes 390 to 700 bytes, 500 + 45 for each parameter in the middle, and compressed 50 to 87.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from couler_py.backends.argo.vocabulary import LOOPS, PODS
from couler_py.ir.diagnostics import Diagnostic
from couler_py.ir.graph import strongly_connected

JSON = dict[str, Any]

STORED = 1024 * 1024
"""Bytes: the controller refuses a larger workflow, its status included."""
LARGE = 7 * STORED // 10
"""Bytes from which on a workflow is worth a warning: estimates are no more exact."""
PACKED, SURELY = 0.1, 0.045
"""The share of their bytes that compressed nodes take: as expected, and the least that was measured."""

POD_NODE, GRAPH_NODE, OTHER_NODE = 450, 500, 400
"""Bytes of a node without its parameters."""
CHILD = 30
"""Bytes of a node's name among its parent's children."""
PARAMETER, VALUE = 35, 32
"""Bytes of a parameter in a node besides its name and value; of a value that only the run knows."""


class Part(msgspec.Struct, frozen=True):
    """A template, the bytes of its text, and how many nodes of a run are made by it and what it calls."""

    name: str
    bytes: int
    nodes: int


class Growing(msgspec.Struct, frozen=True):
    """A call whose number only the run knows, and what each one after the first adds to the status."""

    place: str  # template.task
    why: str
    nodes: int
    bytes: int


class Size(msgspec.Struct, frozen=True):
    """The size of a workflow in bytes.

    `spec` is the document as JSON. `nodes`, `pods` and `status` (uncompressed) are of a run in which every condition
    holds, every list that only the run knows has one item, every loop that only the run ends goes once, and every step
    needs one attempt. `stored` is what then is one object of Kubernetes, compressed where it has to be; `surely` is
    the least that it takes, with no condition held.
    """

    name: str
    spec: int
    nodes: int
    pods: int
    status: int
    stored: int
    surely: int
    largest: tuple[Part, ...] = ()
    growing: tuple[Growing, ...] = ()


class _Cost(msgspec.Struct, frozen=True):
    nodes: int = 0
    pods: int = 0
    bytes: int = 0
    least: int = 0  # bytes, with no condition held

    def plus(self, other: _Cost, times: int = 1) -> _Cost:
        return _Cost(
            self.nodes + other.nodes * times,
            self.pods + other.pods * times,
            self.bytes + other.bytes * times,
            self.least + other.least * times,
        )


def _node(size: int, pods: int = 0) -> _Cost:
    """One node of that many bytes, and its name among its parent's children."""
    return _Cost(1, pods, size + CHILD, size + CHILD)


def size_of(document: JSON) -> Size:
    """The size of a Workflow, a CronWorkflow or a template of workflows, whatever else may be wrong with it.

    >>> hello = {"name": "hello", "container": {"image": "busybox"}}
    >>> size_of({"kind": "Workflow", "spec": {"entrypoint": "hello", "templates": [hello]}}).nodes
    1
    """
    spec = _mapping(document.get("spec"))
    spec = _mapping(spec.get("workflowSpec")) or spec
    walker = _Walker(spec)
    run = walker.run()
    text = len(msgspec.json.encode(document))
    whole = text + run.bytes
    metadata = _mapping(document.get("metadata"))
    parts = sorted(
        (
            Part(str(name), len(msgspec.json.encode(template)), walker.costs[name].nodes)
            for name, template in walker.templates.items()
        ),
        key=lambda part: -part.bytes,
    )
    return Size(
        name=str(metadata.get("name") or metadata.get("generateName") or ""),
        spec=text,
        nodes=run.nodes,
        pods=run.pods,
        status=run.bytes,
        stored=whole if whole < STORED else text + int(run.bytes * PACKED),
        surely=text + int(run.least * SURELY),
        largest=tuple(parts[:3]),
        growing=tuple(walker.growing.values()),
    )


def node_costs(spec: JSON) -> Callable[[str, JSON], tuple[int, int, int]]:
    """Asks what a task of a template adds to a run: its nodes, its pods, and its bytes of the status."""
    walker = _Walker(spec)

    def cost(template: str, task: JSON) -> tuple[int, int, int]:
        found = walker.call(template, task)
        return found.nodes, found.pods, found.bytes

    return cost


def size_findings(size: Size) -> list[Diagnostic]:
    """A warning where a workflow comes near the bound, an error where it is surely over it."""
    if size.stored < LARGE:
        return []
    over = size.surely >= STORED
    largest = ", ".join(f"{part.name} ({part.bytes // 1024} KiB)" for part in size.largest)
    status = f" and a run adds {size.nodes:,} nodes, {size.stored / STORED:.2f} MiB in all" if size.nodes else ""
    return [
        Diagnostic(
            "CLR410",
            "error" if over else "warning",
            f"the workflow is {size.spec / STORED:.2f} MiB of JSON{status}; the largest templates are {largest}",
            step=size.name,
            why="Argo refuses a workflow of 1 MiB or more when it is submitted"
            if size.spec >= STORED
            else "Argo refuses a workflow of 1 MiB, and the status of a run grows with its tasks",
            help='let split="auto" (--split auto) run it in parts, each a workflow of its own, or let a fan-out run '
            "what differs only in its values",
        )
    ]


class _Walker:
    """Counts the nodes of a run, each template once."""

    def __init__(self, spec: JSON):
        self.spec = spec
        self.templates: dict[str, JSON] = {
            each["name"]: each
            for each in _list(spec.get("templates"))
            if isinstance(each, dict) and isinstance(each.get("name"), str)
        }
        self.costs: dict[str, _Cost] = {}
        self.growing: dict[str, Growing] = {}
        self.open: list[tuple[str, str, str]] = []
        calls = {
            name: tuple(each for each in dict.fromkeys(_called(template)) if each in self.templates)
            for name, template in self.templates.items()
        }
        for group in strongly_connected(calls):
            for name in group:
                self.costs[name] = _Cost()  # of a call to itself, until it is known
            for name in group:
                self.costs[name] = self.template(name, self.templates[name])
        for place, why, name in self.open:
            cost = self.costs.get(name, _node(POD_NODE, 1))
            self.growing[place] = Growing(place, why, cost.nodes, cost.bytes)

    def run(self) -> _Cost:
        found = self.costs.get(str(self.spec.get("entrypoint", "")), _Cost())
        for name in _hooked(self.spec):
            found = found.plus(self.costs.get(name, _Cost()))
        return found

    def template(self, name: str, template: JSON) -> _Cost:
        """What a call of a template adds: its own node and those inside."""
        values = sum(
            PARAMETER + len(str(each.get("name", ""))) + VALUE
            for way in ("inputs", "outputs")
            for each in _list(_mapping(template.get(way)).get("parameters"))
            if isinstance(each, dict)
        )
        pods = sum(kind in template for kind in PODS)
        own = POD_NODE if pods else GRAPH_NODE if "dag" in template or "steps" in template else OTHER_NODE
        found = _node(own + values, pods)
        for _ in _list(_mapping(template.get("containerSet")).get("containers")):
            found = found.plus(_node(OTHER_NODE))
        for task in _list(_mapping(template.get("dag")).get("tasks")):
            found = found.plus(self.call(name, task))
        for group in _list(template.get("steps")):
            found = found.plus(_node(OTHER_NODE))
            for step in _list(group) or [group]:
                found = found.plus(self.call(name, step))
        if "retryStrategy" in template:
            found = found.plus(_node(OTHER_NODE + values))
        return found

    def call(self, template: str, call: Any) -> _Cost:
        if not isinstance(call, dict):
            return _Cost()
        if call.get("when") == "false":
            return _node(OTHER_NODE)
        place = f"{template}.{call.get('name', '')}"
        name = str(call.get("template", ""))
        inline = call.get("inline")
        one = self.template(place, inline) if isinstance(inline, dict) else self.costs.get(name, _node(POD_NODE, 1))
        times = _items(call)
        if times is None:
            self.open.append((place, "an item of a list that only the run knows", name))
        elif one.nodes == 0:
            self.open.append((place, "an iteration of a template that calls itself", name))
        found = _Cost().plus(one, 1 if times is None else times)
        if any(each in call for each in LOOPS):
            found = found.plus(_node(OTHER_NODE))
        for hook in _hooked(call):
            found = found.plus(self.costs.get(hook, _Cost()))
        return msgspec.structs.replace(found, least=OTHER_NODE + CHILD) if "when" in call else found


def _items(call: JSON) -> int | None:
    """How often a call is made; None where only the run knows."""
    if isinstance(call.get("withItems"), list):
        return len(call["withItems"])
    if "withParam" in call:
        try:
            given = msgspec.json.decode(str(call["withParam"]))
        except msgspec.DecodeError:
            return None
        return len(given) if isinstance(given, list) else None
    if "withSequence" in call:
        sequence = _mapping(call["withSequence"])
        try:
            if "count" in sequence:
                return int(str(sequence["count"]))
            return abs(int(str(sequence.get("end", 0))) - int(str(sequence.get("start", 0)))) + 1
        except ValueError:
            return None
    return 1


def _called(template: JSON) -> Iterable[str]:
    calls = [*_list(_mapping(template.get("dag")).get("tasks"))]
    for group in _list(template.get("steps")):
        calls += _list(group) or [group]
    for call in calls:
        if isinstance(call, dict):
            if call.get("when") != "false":
                yield str(call.get("template", ""))
            yield from _hooked(call)
            if isinstance(call.get("inline"), dict):
                yield from _called(call["inline"])


def _hooked(owner: Mapping[str, Any]) -> Iterable[str]:
    """The templates that run at moments of a task or of the run."""
    if isinstance(owner.get("onExit"), str):
        yield owner["onExit"]
    for hook in _mapping(owner.get("hooks")).values():
        if isinstance(hook, dict) and isinstance(hook.get("template"), str):
            yield hook["template"]


def _mapping(value: Any) -> JSON:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
