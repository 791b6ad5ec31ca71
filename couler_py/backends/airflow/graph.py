"""A graph of tasks: what each waits for, by which rule, and what it becomes.

Airflow's default is that a task starts when everything it waits for succeeded; it is skipped with, and fails before
starting with, any that wasn't. That is what an edge of a value means. An edge that means something else goes through
a gate, a task that does nothing by a trigger rule of its own: order `none_failed`, on_failure `one_failed`, always
`all_done`, first `none_failed_min_one_success`. A task with one kind of such edges has the rule itself.

Airflow skips a task at the first skipped producer, even if another fails later. So where one edge can skip while
another can block, gate N is `none_failed` over all edges, NF `one_failed` over N, and for each edge that can skip a
gate K is `none_failed_min_one_success` over NF and that edge; the task waits for N and the Ks.
"""

from __future__ import annotations

from collections.abc import Iterable

from couler_py.backends.airflow.calls import Caller, output_types, step_function
from couler_py.backends.airflow.emission import Emission, is_group, report
from couler_py.backends.airflow.expressions import UnsayableError
from couler_py.backends.airflow.leaf import step_constant
from couler_py.backends.airflow.names import task_ids
from couler_py.backends.airflow.scope import Node, Scope
from couler_py.backends.airflow.source import Assign, Edges, Rows, Statement
from couler_py.ir.expr import Literal
from couler_py.ir.graph import shape
from couler_py.ir.model import Graph, Suspend, Task, Template
from couler_py.ir.names import take_name
from couler_py.ir.possible import Possible
from couler_py.printer.layout import Doc, Group, call, items
from couler_py.printer.literal import quoted
from couler_py.printer.names import Names

RULES = {
    "order": "NONE_FAILED",
    "on_failure": "ONE_FAILED",
    "always": "ALL_DONE",
    "first": "NONE_FAILED_MIN_ONE_SUCCESS",
}


ALIKE = 16
"""So many tasks that differ in constant inputs only become a table and a loop."""


def alike(tasks: Iterable[Task], emission: Emission) -> list[list[Task]]:
    """Tasks that call the same step with constant inputs of the same names, and have nothing else of their own."""
    found: dict[tuple[object, ...], list[Task]] = {}
    for task in tasks:
        template = emission.callee(task)
        plain = task.when is None and task.each is None and not task.artifacts
        if not plain or is_group(template) or isinstance(template.body, Suspend) or template.retry is not None:
            continue
        if all(isinstance(each.value, Literal) for each in task.arguments):
            names = tuple(each.name for each in task.arguments)
            found.setdefault((template.name, *names), []).append(task)
    return [group for group in found.values() if len(group) >= ALIKE]


class GraphWriter:
    """Writes the tasks of one graph. `start` is the variable of its first task; the entrypoint has none."""

    def __init__(self, emission: Emission, template: Template, scope: Scope, names: Names, start: str = ""):
        assert isinstance(template.body, Graph)
        self.emission = emission
        self.graph: Graph = template.body
        self.shape = shape(self.graph)
        self.possible = emission.possible.of_graph(template)
        self.scope = scope
        self.names = names
        self.start = start
        self.ids = task_ids(self.graph, entry=not start, helpers=emission.helpers)
        self.taken = set(self.ids.values())
        self.statements: list[Statement] = []
        self.edges: list[Statement] = []
        self.late: list[tuple[str, list[str]]] = []

    def write(self) -> tuple[Statement, ...]:
        """The statements that make the tasks, then those that order them."""
        tasks = {task.name: task for task in self.graph.tasks}
        order = self.shape.order()
        for group in alike([tasks[name] for name in order], self.emission):
            self._rows([task for task in group if self._all_plain(task)])
        for name in order:
            if name not in self.scope.nodes:
                self._task(tasks[name])
        nodes = self.scope.nodes
        for name, others in self.late:
            # In a group, what waits for nothing else waits for the group's first task.
            before = [nodes[each].end for each in others] + ([self.start] if self.start else [])
            self.edges.append(Edges(tuple(before), nodes[name].start))
        return (*self.statements, *self.edges)

    def _all_plain(self, task: Task) -> bool:
        return all(self._is_plain(edge.kind, edge.tasks) for edge in self.shape.edges[task.name])

    def _rows(self, group: list[Task]) -> None:
        """Tasks alike, as a table and a loop."""
        if len(group) < ALIKE:
            return
        caller = Caller(self.emission, self.scope, self.names)
        step = step_constant(self.emission, self.emission.callee(group[0]))
        table = self.names.free(f"{step.lower()}_tasks")
        inside = {task.name for task in group}
        rows: list[Doc] = []
        for task in group:
            name = quoted(self.ids[task.name])
            producers = self.shape.producers[task.name]
            before = [quoted(self.ids[each]) for each in producers if each in inside]
            rows.append(Group("(", (name, *caller.inputs(task, self.emission.callee(task)), items(before)), ")"))
            self.scope.nodes[task.name] = Node(f"{table}[{name}]", "task", output_types(self.emission.callee(task)))
        for task in group:
            others = [each for each in self.shape.producers[task.name] if each not in inside]
            if others or self.start:
                self.late.append((task.name, others))
        given = ["given"] if group[0].arguments else []
        made = Assign(f"{table}[name]", call(step_function(self.emission.callee(group[0])), "name", step, *given))
        waits = Assign("", f"[{table}[each] for each in before] >> {table}[name]")
        self.statements.append(Assign(table, "{}"))
        self.statements.append(Rows(items(rows), ("name", *given, "before"), (made, waits)))

    @property
    def judged(self) -> bool:
        """Whether a failure in it can be forgiven, or tidied up after: then Airflow's own rule isn't ours."""
        return any(edge.kind in ("on_failure", "always") for edges in self.shape.edges.values() for edge in edges)

    def ends(self) -> list[str]:
        """The ends of the tasks that nobody waits for."""
        return [self.scope.nodes[name].end for name in self.shape.leaves()]

    def graph_of_judge(self) -> list[tuple[str, list[str]]]:
        """Each task with those that it waits for, but by `always`."""
        found = []
        for name, edges in self.shape.edges.items():
            producers = dict.fromkeys(each for edge in edges if edge.kind != "always" for each in edge.tasks)
            nodes = self.scope.nodes
            found.append((nodes[name].variable, [nodes[each].variable for each in producers]))
        return found

    def _task(self, task: Task) -> None:
        caller = Caller(self.emission, self.scope, self.names)
        rule, before = self._waits(task, caller)
        try:
            node, made = caller.task(task, self.ids[task.name], "" if rule is None else rule)
        except UnsayableError as error:
            report(self.emission, error, f"the task {task.display or task.name!r}", task.name, task.source)
            node, made = Node("None", "task"), []
        self.statements += made
        self.scope.nodes[task.name] = node
        if before:
            self.edges.append(Edges(tuple(before), node.start))

    # ---- what a task waits for

    def _waits(self, task: Task, caller: Caller) -> tuple[str | None, list[str]]:
        """The rule of its own that a task has, and what it waits for."""
        edges = self.shape.edges[task.name]
        kinds = {edge.kind for edge in edges}
        plain = [edge for edge in edges if self._is_plain(edge.kind, edge.tasks)]
        if not self.start and len(kinds) == 1 and not plain and caller.takes_rule(task):
            kind = kinds.pop()
            if kind in ("order", "always") or len(edges) == 1:
                ends = dict.fromkeys(self.scope.nodes[each].end for edge in edges for each in edge.tasks)
                return RULES[kind], list(ends)
        before = self._gates(task.name)
        if self.start and not plain:
            before = [self.start, *before]
        return None, list(dict.fromkeys(before))

    def _is_plain(self, kind: str, producers: tuple[str, ...]) -> bool:
        return kind == "value" or (kind == "order" and not any(self.possible[each].skipped for each in producers))

    def _gates(self, name: str) -> list[str]:
        found: list[str] = []
        skipping: list[str] = []
        blocking = False
        for edge in self.shape.edges[name]:
            ends = [self.scope.nodes[producer].end for producer in edge.tasks]
            could = [self.possible[producer] for producer in edge.tasks]
            can_skip = any(each.skipped for each in could)
            if self._is_plain(edge.kind, edge.tasks):
                before = ends[0]
            else:
                before = self._gate(name, edge.kind, RULES[edge.kind], ends)
            found.append(before)
            if (edge.kind in ("value", "first") and can_skip) or edge.kind == "on_failure":
                skipping.append(before)
            blocking = blocking or (edge.kind in ("order", "value", "first") and any(map(can_fail, could)))
        if not skipping or not blocking or len(found) == 1:
            return found
        none_failed = self._gate(name, "none_failed", "NONE_FAILED", found)
        one_failed = self._gate(name, "one_failed", "ONE_FAILED", [none_failed])
        kept = [none_failed]
        for before in skipping:
            kept.append(self._gate(name, "goes", "NONE_FAILED_MIN_ONE_SUCCESS", [one_failed, before]))
        return kept

    def _gate(self, name: str, kind: str, rule: str, before: list[str]) -> str:
        task_id = take_name(f"{self.ids[name]}__{kind}", self.taken, "_")
        variable = self.names.free(task_id)
        made = call("gate", quoted(task_id), f"TriggerRule.{rule}", *dict.fromkeys(before))
        # Behind the tasks that it waits for, before the one that waits for it: it is made with its edges.
        self.statements.append(Assign(variable, made))
        return variable


def can_fail(possible: Possible) -> bool:
    """Whether a task can end so that those behind it are blocked."""
    return possible.failed or possible.blocked
