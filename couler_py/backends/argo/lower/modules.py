"""Graphs larger than an Argo installation takes, with parts of them as graphs of their own.

Only *modules* are nested: tasks that share all that they wait for outside and all that waits for them, or that lie
between one way in and one way out. So no task waits for another that it didn't wait for before, and every task ends in
the state that it would have had. `regions` proposes parts, `_Nester.module` decides whether one is a module.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from couler_py.backends.argo.lower.boundary import Boundary, CrossingError, tasks_read
from couler_py.backends.argo.lower.regions import Region, decompose, joined
from couler_py.ir.graph import Shape, shape, templates_by_name
from couler_py.ir.meaning import Edge, edges, value_expressions
from couler_py.ir.model import After, Graph, Task, Template, Workflow
from couler_py.ir.possible import Possibilities, Possible, can_err

MOST = 200
"""Tasks in a graph (`maxItems` of `dag.tasks` in the full CRDs)."""
INPUTS = 500
"""Input parameters of a template, from the same place."""


def nest_modules(workflow: Workflow, most: int = MOST) -> tuple[Workflow, frozenset[str]]:
    """The workflow with modules of its too large graphs nested, and the names of the templates made for them.

    What can't be nested stays, for the limits to complain of. Takes time linear in tasks and edges.
    """
    large = [each for each in workflow.templates if isinstance(each.body, Graph) and _size(each, each.body) > most]
    if not large:
        return workflow, frozenset()
    templates = templates_by_name(workflow)
    possibilities = Possibilities(workflow)
    made: dict[str, Template] = {}
    changed: dict[str, Template] = {}
    for template in large:
        assert isinstance(template.body, Graph)
        if template.parallelism is None and _plain(template.body):
            nester = _Nester(template, template.body, templates | made, possibilities.of_graph(template), most)
            changed[template.name] = nester.nested()
            made |= nester.made
    kept = []
    for each in workflow.templates:
        kept.append(changed.get(each.name, each))
        kept += [module for module in made.values() if module.name.startswith(f"{each.name}-part-")]
    return msgspec.structs.replace(workflow, templates=tuple(kept)), frozenset(made)


def _size(template: Template, graph: Graph) -> int:
    """The tasks that a graph has on Argo, with those that emission adds."""
    always = any(after.kind == "always" for task in graph.tasks for after in task.after)
    computed = sum(each.value is not None and can_err(each.value) for each in template.outputs.parameters)
    return len(graph.tasks) + always + computed


def _plain(graph: Graph) -> bool:
    return graph.form == "dag" and not graph.targets and not graph.fail_fast


class _Nester:
    """Nests modules of one graph, one after the other; `tasks` are always those that the graph has by then."""

    def __init__(
        self, template: Template, graph: Graph, templates: dict[str, Template], possible: dict[str, Possible], most: int
    ):
        self.template = template
        self.most = most
        self.templates = templates
        self.made: dict[str, Template] = {}
        found: Shape = shape(graph)
        self.order = found.order()
        self.tasks: dict[str, Task] = {task.name: task for task in graph.tasks}
        self.position = {task.name: index for index, task in enumerate(graph.tasks)}
        self.edges: dict[str, tuple[Edge, ...]] = dict(found.edges)
        self.consumers: dict[str, dict[str, None]] = {
            name: dict.fromkeys(names) for name, names in found.consumers.items()
        }
        self.producers: dict[str, tuple[str, ...]] = dict(found.producers)
        self.skipped = {name: state.skipped for name, state in possible.items()}
        self.forgiving = any(edge.kind == "on_failure" for task_edges in found.edges.values() for edge in task_edges)
        self.outputs = template.outputs
        self.fixed = self._fixed(graph)
        self.room = most - (_size(template, graph) - len(graph.tasks))

    def _fixed(self, graph: Graph) -> set[str]:
        """Tasks that can be in no module: how others depend on them says more than a module's state can."""
        found: set[str] = set()
        for task in graph.tasks:
            if task.hooks or task.continue_on or task.depends is not None:
                found.add(task.name)
            for hook in task.hooks:
                for expr in (hook.when, *(each.value for each in hook.arguments)):
                    found.update(tasks_read(expr))
                found.update(name for each in hook.artifacts for name in tasks_read(each.value))
            for edge in self.edges[task.name]:
                if edge.kind in ("on_failure", "always", "first"):
                    found.update(edge.tasks, (task.name,))
            for expr in value_expressions(task):
                found.update(tasks_read(expr, status_only=True))
        return found

    def nested(self) -> Template:
        """The graph with as few tasks as it may have, or as few as it can."""
        region = decompose(self.order, self.producers, {k: tuple(v) for k, v in self.consumers.items()}, self._waits)
        self.fit(region, self.room)
        body = self.template.body
        assert isinstance(body, Graph)
        tasks = sorted(self.tasks.values(), key=lambda task: self.position[task.name])
        changed = msgspec.structs.replace(body, tasks=tuple(tasks))
        return msgspec.structs.replace(self.template, body=changed, outputs=self.outputs)

    # ---- what to nest

    def fit(self, region: Region, room: int) -> list[str]:
        """Nest parts of a region until it is `room` tasks, if that can be; gives the tasks that are left of it."""
        if len(region.tasks) <= room or region.kind == "task":
            return list(region.tasks)
        if region.kind == "other":
            return self._largest_first(region, room)
        units: list[str] = []
        for group in self._groups(region):
            units += self.collapse(group)
        if room < len(units) < len(region.tasks):
            again = joined(region.kind, (Region("task", (name,)) for name in units))
            return self.fit(again, room)
        return units

    def _largest_first(self, region: Region, room: int) -> list[str]:
        total = len(region.tasks)
        units: dict[int, list[str]] = {}
        for index, part in sorted(enumerate(region.parts), key=lambda each: -len(each[1].tasks)):
            fits = total <= room or part.kind == "task"
            units[index] = list(part.tasks) if fits else self.collapse(part)
            total += len(units[index]) - len(part.tasks)
        return [name for index in range(len(region.parts)) for name in units[index]]

    def _groups(self, region: Region) -> Iterable[Region]:
        """Neighbouring parts together, of about the same size each, none larger than a graph may be where that can be.

        Parts that can be in no module stay alone.
        """
        size = len(region.tasks)
        target = -(-size // max(2, -(-size // self.most)))
        group: list[Region] = []
        count = 0
        for part in region.parts:
            free = not self.fixed.intersection(part.tasks)
            if group and (count + len(part.tasks) > target or not free):
                yield joined(region.kind, group)
                group, count = [], 0
            group.append(part)
            count += len(part.tasks)
            if not free:
                yield part
                group, count = [], 0
        if group:
            yield joined(region.kind, group)

    def collapse(self, region: Region) -> list[str]:
        """One task in a region's place, or what its parts become where it is no module."""
        if region.kind == "task":
            return list(region.tasks)
        if not self.fixed.isdisjoint(region.tasks):
            return [name for part in region.parts for name in self.collapse(part)]
        units = self.fit(region, self.most)
        module = self.module(units) if 1 < len(units) <= self.most else None
        return units if module is None else [module]

    # ---- whether it is a module, and making it one

    def _waits(self, name: str) -> frozenset[tuple[str, str]]:
        """What a task waits for. That a value is waited for only matters where its producer can be skipped."""
        return frozenset(
            (producer, edge.kind if edge.kind != "value" or self.skipped[producer] else "order")
            for edge in self.edges[name]
            for producer in edge.tasks
        )

    def module(self, names: Sequence[str]) -> str | None:
        """Put the tasks into a graph of their own; gives the name of its task, None where they are no module."""
        inside = set(names)
        entry: frozenset[tuple[str, str]] | None = None
        readers: set[str] | None = None
        for name in names:
            waits = self._waits(name)
            outside = frozenset(each for each in waits if each[0] not in inside)
            if len(outside) == len(waits):
                if entry is not None and outside != entry:
                    return None
                entry = outside
            after = self.consumers[name].keys() - inside
            if len(after) == len(self.consumers[name]):
                if readers is not None and after != readers:
                    return None
                readers = after
        assert entry is not None
        assert readers is not None
        entered = [edge for edge in entry if edge[1] == "value"]
        optional = self._optional(names, inside)
        for name in names:
            waits = self._waits(name)
            outside = frozenset(each for each in waits if each[0] not in inside)
            if not outside <= entry or not self.consumers[name].keys() - inside <= readers:
                return None
            own = [kind for producer, kind in waits if producer in inside]
            if entered and own and outside != entry and not self._skips_along(name, inside):
                return None
        if self.forgiving and optional:
            return None
        try:
            return self._make(names, inside, readers, optional, bool(entered))
        except CrossingError:
            return None

    def _optional(self, names: Sequence[str], inside: set[str]) -> set[str]:
        """The tasks that can be skipped although the module runs."""
        found: set[str] = set()
        for name in (each for each in self._sorted(names) if each in inside):
            if self.tasks[name].when is not None or any(
                edge.kind == "value" and edge.tasks[0] in found for edge in self.edges[name]
            ):
                found.add(name)
        return found

    def _skips_along(self, name: str, inside: set[str]) -> bool:
        """Whether a task that waits only inside is skipped where all inside that it waits for are."""
        return any(edge.kind == "value" and edge.tasks[0] in inside for edge in self.edges[name])

    def _sorted(self, names: Sequence[str]) -> list[str]:
        """The tasks so that each comes after its producers among them."""
        inside = dict.fromkeys(names)
        waiting = {name: sum(each in inside for each in self.producers[name]) for name in names}
        ready = [name for name, count in waiting.items() if count == 0]
        for name in ready:
            for consumer in self.consumers[name]:
                if consumer in inside:
                    waiting[consumer] -= 1
                    if waiting[consumer] == 0:
                        ready.append(consumer)
        return ready

    def _make(
        self, names: Sequence[str], inside: set[str], readers: set[str], optional: set[str], skippable: bool
    ) -> str:
        boundary = Boundary(self.template, self.tasks, inside, self.templates, optional)
        members = tuple(boundary.member(self.tasks[name]) for name in names)
        in_order = sorted(readers, key=self.position.__getitem__)
        for name in in_order:
            boundary.read(value_expressions(self.tasks[name]))
        boundary.read(each.value for each in self.outputs.parameters)
        boundary.read(each.value for each in self.outputs.artifacts)
        if len(boundary.parameters) > INPUTS:
            raise CrossingError
        name, template = self._names()
        given = Task(name, template, tuple(boundary.arguments), tuple(boundary.artifact_arguments))
        valued = {producer for edge in edges(given) for producer in edge.tasks}
        # In the order of the program, whatever the hash of names is.
        waits = dict.fromkeys(producer for member in names for producer in self.producers[member])
        after = tuple(After(producer) for producer in waits if producer not in inside and producer not in valued)
        self.made[template] = boundary.template(template, Graph(members), self.template)
        self.templates[template] = self.made[template]
        self.skipped[name] = skippable
        changed = {each: boundary.reader(self.tasks[each], name) for each in in_order}
        self.outputs = boundary.outputs(self.outputs, name)
        self._replace(names, msgspec.structs.replace(given, after=after, source=self.tasks[names[0]].source), changed)
        return name

    def _names(self) -> tuple[str, str]:
        """Free names for a module's task and template."""
        number = len(self.made) + 1
        while f"part-{number}" in self.tasks or f"{self.template.name}-part-{number}" in self.templates:
            number += 1
        return f"part-{number}", f"{self.template.name}-part-{number}"

    def _replace(self, names: Sequence[str], task: Task, readers: dict[str, Task]) -> None:
        """The module in the place of its tasks."""
        inside = set(names)
        self.position[task.name] = self.position[names[0]]
        self.tasks |= {task.name: task} | readers
        self.consumers[task.name] = dict.fromkeys(readers)
        for name in (task.name, *readers):
            self.edges[name] = edges(self.tasks[name])
            producers = (producer for edge in self.edges[name] for producer in edge.tasks)
            self.producers[name] = tuple(dict.fromkeys(producers))
        for name in names:
            for producer in self.producers[name]:
                if producer not in inside:
                    self.consumers[producer].pop(name, None)
                    self.consumers[producer][task.name] = None
        for name in names:
            del self.tasks[name], self.edges[name], self.consumers[name], self.producers[name]
