"""The workflow of a DAG: its tasks as templates and edges, and what had no word, task by task."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from couler_py.backends.airflow.importing import facts, policies, settings
from couler_py.backends.airflow.importing.levels import Level, Node, levels
from couler_py.backends.airflow.importing.made import RESULT, Made, wanted_name
from couler_py.backends.airflow.importing.mapped import fan_out, group_items, with_elements
from couler_py.backends.airflow.importing.operators import made as made_of
from couler_py.backends.airflow.importing.placeholders import placeholder, run_dates
from couler_py.backends.airflow.importing.reporting import Report
from couler_py.backends.airflow.importing.rules import BRANCHES, DONE, FAILED, SHORT_CIRCUITS, Rules
from couler_py.backends.airflow.importing.templates import Templates
from couler_py.backends.airflow.importing.templating import RETURNED
from couler_py.backends.airflow.importing.unsayable import UnsayableError
from couler_py.backends.airflow.importing.values import Values, tasks_in
from couler_py.ir import expr as x
from couler_py.ir.model import (
    After,
    Argument,
    Each,
    Function,
    Graph,
    OutputParameter,
    Outputs,
    Parameter,
    Suspend,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.names import legal_name
from couler_py.ir.types import ANY
from couler_py.printer.names import identifier

DATES = "run_dates"


class Known(msgspec.Struct, frozen=True):
    """What a first reading of a DAG found out: tasks whose XCom is read (`pulled`), also from outside of their mapped
    group (`exported`); tasks that give none (`silent`); those that have no counterpart (`unsayable`)."""

    pulled: frozenset[str] = frozenset()
    exported: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    unsayable: frozenset[str] = frozenset()


class Building(Report):
    """One DAG on its way to a workflow."""

    def __init__(
        self,
        dag: facts.Dag,
        modules: Mapping[str, Mapping[str, Any]],
        pools: Mapping[str, int],
        known: Known = Known(),
        *,
        partial: bool = False,
    ):
        super().__init__(dag)
        self.modules = modules
        self.pools = pools
        self.known = known
        self.by_id = {task.id: task for task in dag.tasks}
        self.dropped = known.unsayable if partial else frozenset()
        self.root, self.inner = levels(dag, self.dropped)
        self.pulled: set[str] = {task.id for task in dag.tasks if task.is_a(*BRANCHES) or task.is_a(*SHORT_CIRCUITS)}
        self.exported: set[str] = set()
        self.silent: set[str] = set()
        self.unsayable: set[str] = set()
        self.templates = Templates(pools)
        self.dated = False

    @property
    def found_out(self) -> Known:
        """What the second reading needs of this one."""
        unsayable = self.unsayable | self.dropped
        return Known(*(frozenset(each) for each in (self.pulled, self.exported, self.silent, unsayable)))

    def workflow(self) -> Workflow:
        """The workflow. What had no word is among the findings."""
        dag = self.dag
        name = legal_name("ir", "workflow", identifier(dag.id))
        self.templates.names.take(name)
        for what, help_ in settings.left_out(dag):
            self.warn("CLR535", f"{what} was left out", help_)
        for task_id in sorted(self.dropped):
            self.warn("CLR533", "left out, because it has no counterpart", task=self.by_id[task_id])
        tasks = self._tasks(self.root)
        if self.dated:
            tasks = (self._dates(), *tasks)
        self.templates.share_future()
        entry = Template(name, Graph(tasks), source=self.place())
        return Workflow(
            name,
            name,
            (entry, *self.templates),
            settings.parameters(dag),
            schedule=settings.schedule(dag),
            parallelism=settings.parallelism(dag),
            deadline=dag.timeout,
            description=(dag.doc or dag.description).strip(),
            engines=settings.engines(dag),
            source=self.place(),
        )

    # ---- graphs

    def _tasks(self, level: Level) -> tuple[Task, ...]:
        found: list[Task] = []
        made: dict[str, Made] = {}
        rules = Rules(level, made)
        for node in level.nodes.values():
            if node.group is not None:
                found += self._group(node, level, rules)
            else:
                found += self._task(node, level, rules, made)
        return tuple(found)

    def _task(self, node: Node, level: Level, rules: Rules, made: dict[str, Made]) -> list[Task]:
        task = node.task
        assert task is not None
        values = self._values(node, level)
        each: Each | None = None
        try:
            task, items = with_elements(task, values)
            each = None if items is None else fan_out(items, policies.parallel(task))
            found = made_of(task, values, task.id in self.known.pulled)
        except UnsayableError as problem:
            found = self._unsayable(task, problem)
            each = None
        if isinstance(found.body, Function) and not found.outputs.parameters:
            self.silent.add(task.id)
        made[node.id] = found
        for code, message, help_ in found.about:
            self.warn(code, message, help_, task)
        for what, help_ in policies.left_out(task, self.pools):
            self.warn("CLR535", f"{what} was left out", help_, task)
        return self._called(
            node, level, rules, self.templates.of(task, found, self.source(task)), found.arguments, each
        )

    def _unsayable(self, task: facts.Task, problem: UnsayableError) -> Made:
        self.unsayable.add(task.id)
        if task.id not in self.dropped:
            help_ = problem.help
            self.warn("CLR533", str(problem), help_, task, why="a step stands there that fails and says so")
        message = f"the task {task.id!r} of Airflow: {problem}"
        return placeholder(task.label, message, task.id in self.known.pulled, self.file, self.line(task))

    def _group(self, node: Node, level: Level, rules: Rules) -> list[Task]:
        """A mapped group: a graph, run for each item."""
        group = node.group
        assert group is not None
        assert group.expand is not None
        inside = self.inner[group.id]
        values = self._values(node, level)
        items, members = group_items(group.expand, values)
        for name in members:
            item = x.Item() if members[name] is None else x.Access(x.Item(), x.Literal(name))
            inside.slots.parameters[name] = Parameter(name, ANY)
            inside.slots.arguments[name] = item
        tasks = self._tasks(inside)
        names = {each.id: each.name for each in inside.nodes.values()}
        outputs = tuple(
            OutputParameter(names[task_id], ANY, value=x.TaskOutput(names[task_id], RESULT))
            for task_id in sorted(self.known.exported)
            if task_id in names
        )
        template = Template(
            self.templates.names.free(node.name),
            Graph(tasks),
            inside.slots.inputs,
            Outputs(outputs),
            description=group.tooltip,
            source=self.place(),
        )
        self.templates.add(template)
        for each in inside.nodes.values():
            crosses = each.task is not None and any(before not in inside.places for before in each.task.upstream)
            if crosses and each.rule != "all_success":
                self.warn(
                    "CLR534",
                    f"the trigger rule {each.rule} can't look out of the mapped group",
                    "give the group what it needs as an argument",
                    each.task,
                )
        return self._called(node, level, rules, template.name, inside.slots.arguments, Each(items))

    def _called(
        self, node: Node, level: Level, rules: Rules, template: str, given: Mapping[str, x.Expr], each: Each | None
    ) -> list[Task]:
        """The task of a node, behind the one that it may need to wait for several."""
        task = node.task
        asked = dict(given) if each is None or not isinstance(each.items, x.Expr) else {**given, "": each.items}
        edges = rules.edges(node, asked)
        for different in edges.about:
            message = f"the trigger rule {node.rule} has no edge of its own: {different}"
            self.warn("CLR534", message, "write it by couler.after, couler.on_failure or couler.always", task)
        absolves_one = node.rule in FAILED and len(edges.after) > 1
        if (node.rule in DONE or absolves_one) and not level.downstream(node.id):
            about = "the run is Failed when a step before it failed, where Airflow looks at this last task alone"
            self.warn("CLR536", about, "couler.on_failure(step, handler) absolves a failure", task)
        self._about_unordered(node, level, asked)
        found: list[Task] = []
        after = edges.after
        if edges.join:
            join = self._join(node, edges.join)
            found.append(join)
            after = (After(join.name, "on_failure"),)
        if each is not None and "" in asked:
            each = msgspec.structs.replace(each, items=edges.reads(asked[""]))
        arguments = tuple(Argument(name, edges.reads(value)) for name, value in given.items())
        source = self.source(task)
        found.append(Task(node.name, template, arguments, after=after, when=edges.when, each=each, source=source))
        return found

    def _join(self, node: Node, before: tuple[str, ...]) -> Task:
        """A task without a program that is Blocked when one of several failed."""
        name = f"before_{node.name}"
        template = self.templates.names.free(name)
        self.templates.add(Template(template, Suspend(duration=0)))
        return Task(name, template, after=tuple(After(each) for each in sorted(before)))

    def _about_unordered(self, node: Node, level: Level, given: Mapping[str, x.Expr]) -> None:
        ids = {each.name: each.id for each in level.nodes.values()}
        for name in sorted(tasks_in(given.values())):
            if name in ids and ids[name] not in level.ancestors(node.id):
                self.warn(
                    "CLR536",
                    f"it reads what {ids[name]} gave without waiting for it: here it waits",
                    "make the order plain in the DAG",
                    node.task,
                )

    # ---- templates

    def _dates(self) -> Task:
        made = run_dates()
        name = self.templates.names.free(DATES)
        self.templates.add(Template(name, made.body, made.inputs, made.outputs, description=made.description))
        return Task(DATES, name, (Argument("at", x.Run("scheduled_time")),))

    # ---- values

    def _values(self, node: Node, level: Level) -> Values:
        task = node.task
        if task is None:
            task = next(each for each in self.dag.tasks if each.mapped_group == node.id)
        values = Values(
            self.dag,
            task,
            partial(self._result, level),
            partial(self._item, level),
            partial(self._date, level),
            self.modules,
        )
        if level.group is not None:
            values.inside = level.slots
        return values

    def _result(self, level: Level, task_id: str, key: str) -> x.Expr:
        """What a task's XCom is, seen from a graph."""
        if task_id not in self.by_id:
            raise UnsayableError(f"it reads the XCom of {task_id!r}, which isn't in the DAG")
        self.pulled.add(task_id)
        if task_id in self.known.silent or task_id in self.dropped:
            return x.Literal(None)
        task = self.by_id[task_id]
        home = task.mapped_group
        here = None if level.group is None else level.group.id
        if home == here:
            found: x.Expr = x.TaskOutput(level.nodes[task_id].name, RESULT)
        elif here is None:
            assert home is not None
            self.exported.add(task_id)
            inside = {each.id: each.name for each in self.inner[home].nodes.values()}
            found = x.TaskOutput(self.root.nodes[home].name, inside[task_id])
        else:
            outer = self._result(self.root, task_id, RETURNED)
            found = level.slots.input(outer, wanted_name(outer))
        if key == RETURNED:
            return found
        if not (task.multiple or task.is_a("KubernetesPodOperator")) or (home != here and here is None):
            raise UnsayableError(
                f"{task_id!r} pushes {key!r} by itself", "return an object with all values, and read its member"
            )
        return x.Access(found, x.Literal(key))

    def _item(self, level: Level, name: str) -> x.Expr:
        if name not in level.slots.parameters:
            level.slots.parameters[name] = Parameter(name, ANY)
            level.slots.arguments[name] = x.Access(x.Item(), x.Literal(name))
        return x.Input(name)

    def _date(self, level: Level, name: str) -> x.Expr:
        self.dated = True
        found = x.Access(x.TaskOutput(DATES, RESULT), x.Literal(name))
        return found if level.group is None else level.slots.input(found, name)
