"""Evidence that the meaning of workflows (docs/meaning.md) can be said on Airflow: the smallest emission that says it.

Podless workflows of the conformance suite become DAG objects here, and their states and outcomes on a
real Airflow are compared with the meaning in `couler_py.ir`. This is no backend: steps only succeed or
fail as told.

Every task is `all_success` over its edges. An edge that differs goes through a gate, an EmptyOperator:

    order         none_failed
    on_failure    one_failed
    always        all_done
    first         none_failed_min_one_success over its producers

`all_success` skips at the first skipped producer, even if another one fails later. So where one edge can
skip while another can block, gate N is `none_failed` over all edges, NF `one_failed` over N, and for each
edge that can skip a gate K `none_failed_min_one_success` over NF and that edge; the task hangs on N and the Ks.

A graph that has `on_failure` or `always` edges gets a last task `outcome` that reads the states and fails by the
rule of leaves. It is `all_done` behind every task, not only behind the leaves: a leaf can be skipped by one
producer while another, whose failure counts then, still runs.

A nested graph is a task group. `start` carries the edges and the `when` of the graph, every task inside hangs
on `start` directly, `outcome` stands behind them as above (and is skipped where `start` didn't succeed), and
`end` is `all_success` over `start` and `outcome`. Nobody outside hangs on a task inside. Its state is that of
`end`, but Failed where `start` succeeded and `end` didn't.

A fan-out is such a group too: `start` reads `when` and the list, `map` is expanded over it, and `outcome`
is a `none_failed` gate behind it, or, where failed items are tolerated, an `all_done` task that counts them.

A loop is such a group of nested iterations, each behind the one before and skipped where that was the last;
`outcome` fails unless the last one that ran satisfied `until`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.sdk import DAG, TaskGroup, TriggerRule, task_group
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from couler_py.ir import Workflow, to_builtins
from couler_py.ir.evaluate import AbsentError, evaluate, evaluate_condition
from couler_py.ir.expr import Expr
from couler_py.ir.graph import Shape, shape, templates_by_name
from couler_py.ir.meaning import outcome
from couler_py.ir.model import Argument, Graph, Loop, Sequence, Task, Template
from couler_py.ir.possible import Possibilities, Possible
from tests.airflow.scope import Context, Node, Operator, Scope

GATES = {
    "order": TriggerRule.NONE_FAILED,
    "on_failure": TriggerRule.ONE_FAILED,
    "always": TriggerRule.ALL_DONE,
    "first": TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS,
}


class Emission:
    """One workflow as one DAG. `nodes` holds the tasks of the entrypoint; `made` keeps all emissions by DAG id."""

    made: ClassVar[dict[str, Emission]] = {}

    def __init__(self, workflow: Workflow, dag_id: str):
        self.made[dag_id] = self
        self._templates = templates_by_name(workflow)
        self._possible = Possibilities(workflow)
        self._parameters = {parameter.name: parameter.default for parameter in workflow.parameters}
        with DAG(dag_id, schedule=None) as self.dag:
            main = self._templates[workflow.entrypoint]
            self.nodes, graph_shape, scope = self._tasks(main, None, "", False)
            if any(edge.kind in ("on_failure", "always") for edges in graph_shape.edges.values() for edge in edges):
                self._outcome(graph_shape, scope)

    # ---- graphs

    def _tasks(
        self, template: Template, start: Operator | None, inputs: str, mapped: bool
    ) -> tuple[dict[str, Node], Shape, Scope]:
        assert isinstance(template.body, Graph)
        graph_shape = shape(template.body)
        possible = self._possible.of_graph(template)
        tasks = {task.name: task for task in template.body.tasks}
        nodes: dict[str, Node] = {}
        scope = Scope(nodes, inputs, mapped, self._parameters)
        for name in graph_shape.order():
            before = edge_operators(name, graph_shape, possible, nodes)
            if start is not None:
                before = [start, *before]
            nodes[name] = self._task(tasks[name], scope, before)
        return nodes, graph_shape, scope

    def _outcome(self, graph_shape: Shape, scope: Scope, of: Template | None = None) -> Operator:
        """The task that judges a graph; of a nested one, the template `of`, it gives the outputs."""

        def judge(**context: Any) -> dict[str, Any]:
            if of is not None and scope.started(context) != "success":
                raise AirflowSkipException("the graph didn't start")
            if outcome(graph_shape.edges, scope.states(context)) == "Failed":
                raise AirflowFailException("by the states of its tasks")
            try:
                return scope.results(of, context) if of is not None else {}
            except AbsentError:
                raise AirflowSkipException("a mapped graph without a result") from None

        made = PythonOperator(task_id="outcome", python_callable=judge, trigger_rule=TriggerRule.ALL_DONE)
        [node.end for node in scope.nodes.values()] >> made
        return made

    # ---- tasks

    def _task(self, task: Task, scope: Scope, before: list[Operator]) -> Node:
        def guard(context: Context) -> None:
            if task.when is not None:
                condition = to_builtins(task.when)
                if not evaluate_condition(condition, lambda node: scope.resolve(node, context)):
                    raise AirflowSkipException("its condition is false")

        def arguments(context: Context, item: Any) -> dict[str, Any]:
            return values_of(task.arguments, lambda node: scope.resolve(node, context, item))

        if task.each is None:
            return self._call(str(task.call), task.name, before, scope.mapped, guard, arguments)
        return self._fan_out(task, before, scope, guard, arguments)

    def _call(
        self,
        template_name: str,
        task_id: str,
        before: list[Operator],
        mapped: bool,
        guard: Callable[[Context], None],
        arguments: Callable[[Context, Any], dict[str, Any]],
        item: Any = None,
    ) -> Node:
        template = self._templates[template_name]

        def begin(item: Any = None, **context: Any) -> dict[str, Any]:
            guard(context)
            return arguments(context, item)

        if template_name == "act":

            def run(item: Any = None, **context: Any) -> dict[str, Any]:
                return perform(begin(item, **context))

            done = PythonOperator(task_id=task_id, python_callable=run, op_kwargs={"item": item})
            before >> done if before else None
            return Node(done, values=done.task_id, mapped=False)

        with TaskGroup(task_id):
            start = PythonOperator(task_id="start", python_callable=begin, op_kwargs={"item": item})
            before >> start if before else None
            if isinstance(template.body, Loop):
                inside, judged = self._iterations(template, start, mapped)
            else:
                inside, graph_shape, scope = self._tasks(template, start, start.task_id, mapped)
                judged = self._outcome(graph_shape, scope, template)
            end = EmptyOperator(task_id="end")
            [start, judged] >> end
        return Node(end, start.task_id, judged.task_id, inside=inside)

    # ---- fan-outs

    def _fan_out(
        self,
        task: Task,
        before: list[Operator],
        scope: Scope,
        guard: Callable[[Context], None],
        arguments: Callable[[Context, Any], dict[str, Any]],
    ) -> Node:
        assert task.each is not None
        items, tolerate = task.each.items, task.each.tolerate

        def begin(**context: Any) -> list[dict[str, Any]]:
            guard(context)
            return [{"item": item} for item in listed(items, lambda node: scope.resolve(node, context))]

        with TaskGroup(task.name):
            start = PythonOperator(task_id="start", python_callable=begin)
            before >> start if before else None
            if task.call == "act":

                def run(item: Any, **context: Any) -> dict[str, Any]:
                    return perform(arguments(context, {"item": item}))

                last = PythonOperator.partial(task_id="map", python_callable=run).expand(op_kwargs=start.output)
                values, inside = last.task_id, {}
            else:
                made: list[Node] = []

                @task_group(group_id="map")
                def mapped_graph(item: Any) -> None:
                    made.append(self._call(str(task.call), "each", [], True, lambda context: None, arguments, item))

                mapped_graph.expand(item=start.output)
                last, values, inside = made[0].end, made[0].values, {"each": made[0]}
            if tolerate:
                judged: Operator = PythonOperator(
                    task_id="outcome",
                    python_callable=counter(last.task_id, tolerate),
                    trigger_rule=TriggerRule.ALL_DONE,
                )
            else:
                judged = EmptyOperator(task_id="outcome", trigger_rule=TriggerRule.NONE_FAILED)
            last >> judged
            end = EmptyOperator(task_id="end")
            [start, judged] >> end
        return Node(end, start.task_id, values, mapped=True, inside=inside)

    # ---- loops

    def _iterations(self, template: Template, start: Operator, mapped: bool) -> tuple[dict[str, Node], Operator]:
        loop = template.body
        assert isinstance(loop, Loop)
        until = to_builtins(loop.until)
        nodes: dict[str, Node] = {}
        scope = Scope(nodes, start.task_id, mapped, self._parameters)

        def own(name: str, context: Context) -> dict[str, Any]:
            return dict(scope._pull(nodes[name].values, context))

        def satisfied(name: str, context: Context) -> bool:
            results = own(name, context)
            return evaluate_condition(until, lambda node: scope.resolve(node, context, own=results))

        def add(number: int) -> None:
            name, earlier = f"i{number}", f"i{number - 1}"

            def guard(context: Context) -> None:
                if number > 1 and satisfied(earlier, context):
                    raise AirflowSkipException("the loop has ended")

            def arguments(context: Context, item: Any) -> dict[str, Any]:
                given = dict(scope._pull(start.task_id, context))
                if number > 1:
                    results = own(earlier, context)
                    given |= {carry.input: results[carry.output] for carry in loop.carry}
                return given

            before = [start] if number == 1 else [start, nodes[earlier].end]
            nodes[name] = self._call(loop.body, name, before, mapped, guard, arguments)

        for number in range(1, loop.max_iterations + 1):
            add(number)

        def judge(**context: Any) -> dict[str, Any]:
            if scope.started(context) != "success":
                raise AirflowSkipException("the loop didn't start")
            states = scope.states(context)
            ran = [name for name, state in states.items() if state == "Succeeded"]
            if "Failed" in states.values() or not ran or not satisfied(ran[-1], context):
                raise AirflowFailException("an iteration failed, or none was the last")
            return scope.results(template, context, own(ran[-1], context))

        judged = PythonOperator(task_id="outcome", python_callable=judge, trigger_rule=TriggerRule.ALL_DONE)
        [node.end for node in nodes.values()] >> judged
        return nodes, judged


# ---- edges


def edge_operators(
    name: str, graph_shape: Shape, possible: Mapping[str, Possible], nodes: Mapping[str, Node]
) -> list[Operator]:
    """What a task hangs on, all_success: its producers, or gates where an edge needs one."""
    operators: list[Operator] = []
    skipping: list[Operator] = []
    blocking = 0
    for number, edge in enumerate(graph_shape.edges[name]):
        producers = [nodes[producer].end for producer in edge.tasks]
        could = [possible[producer] for producer in edge.tasks]
        can_fail = any(state.failed or state.blocked for state in could)
        can_skip = any(state.skipped for state in could)
        if edge.kind == "value" or (edge.kind == "order" and not can_skip):
            operator = producers[0]
        else:
            operator = EmptyOperator(task_id=f"{name}_{edge.kind}_{number}", trigger_rule=GATES[edge.kind])
            producers >> operator
        operators.append(operator)
        if (edge.kind in ("value", "first") and can_skip) or edge.kind == "on_failure":
            skipping.append(operator)
        if edge.kind in ("order", "value", "first") and can_fail:
            blocking += 1
    if not skipping or not blocking or len(operators) == 1:
        return operators
    none_failed = EmptyOperator(task_id=f"{name}_N", trigger_rule=TriggerRule.NONE_FAILED)
    one_failed = EmptyOperator(task_id=f"{name}_NF", trigger_rule=TriggerRule.ONE_FAILED)
    operators >> none_failed >> one_failed
    gates = [none_failed]
    for number, operator in enumerate(skipping):
        gate = EmptyOperator(task_id=f"{name}_K{number}", trigger_rule=TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS)
        [one_failed, operator] >> gate
        gates.append(gate)
    return gates


# ---- what runs


def perform(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A step that ends as it is told."""
    if inputs["does"] == "F":
        raise AirflowFailException("as told")
    return {"out": inputs["says"]}


def values_of(arguments: Iterable[Argument], resolve: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    return {given.name: evaluate(to_builtins(given.value), resolve) for given in arguments}


def listed(items: Expr | Sequence, resolve: Callable[[dict[str, Any]], Any]) -> list[Any]:
    """The items of a fan-out."""
    if not isinstance(items, Sequence):
        return list(evaluate(to_builtins(items), resolve))
    start = 0 if items.start is None else evaluate(to_builtins(items.start), resolve)
    if items.count is not None:
        return list(range(start, start + evaluate(to_builtins(items.count), resolve)))
    return list(range(start, evaluate(to_builtins(items.end), resolve) + 1))


def counter(task_id: str, tolerate: int) -> Callable[..., None]:
    """A step that fails if more of the mapped task's items failed than are tolerated."""

    def count(**context: Any) -> None:
        ti = context["ti"]
        states = ti.get_task_states(dag_id=ti.dag_id, run_ids=[ti.run_id], task_ids=[task_id])[ti.run_id]
        failed = sum(state in ("failed", "upstream_failed") for state in states.values())
        if failed > tolerate:
            raise AirflowFailException(f"{failed} items failed, and {tolerate} may")

    return count
