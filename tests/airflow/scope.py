"""What tasks of the emission see while they run: states of other tasks, and their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from couler_py.ir import to_builtins
from couler_py.ir.evaluate import AbsentError, evaluate
from couler_py.ir.meaning import State
from couler_py.ir.model import Template

Operator = Any
Context = Mapping[str, Any]

STATES: dict[str, State] = {
    "success": "Succeeded",
    "failed": "Failed",
    "skipped": "Skipped",
    "upstream_failed": "Blocked",
}


@dataclass(frozen=True)
class Node:
    """What a task of a graph became: the operator that readers hang on, and where its state and values stand."""

    end: Operator
    start: str = ""
    values: str = ""
    mapped: bool = False
    inside: dict[str, Node] = field(default_factory=dict)

    def state(self, states: Mapping[str, str | None]) -> State:
        """The state by the states of Airflow's tasks."""
        ended = states[self.end.task_id]
        if self.start and ended != "success" and states[self.start] == "success":
            return "Failed"
        return STATES[str(ended)]


@dataclass
class Scope:
    """What expressions inside a graph can see: its tasks, and the task whose result holds its inputs."""

    nodes: dict[str, Node]
    inputs: str
    mapped: bool
    parameters: Mapping[str, Any]

    def resolve(self, node: dict[str, Any], context: Context, item: Any = None, own: Any = None) -> Any:
        match node["type"]:
            case "parameter":
                return self.parameters[node["name"]]
            case "input":
                return self._pull(self.inputs, context)[node["name"]]
            case "item":
                return item["item"]
            case "own":
                return own[node["name"]]
            case "status":
                return self.state_of(node["task"], context)
            case "output" | "items":
                if self.state_of(node["task"], context) != "Succeeded":
                    raise AbsentError(node["task"])
                found = self.nodes[node["task"]]
                if not found.mapped:
                    return self._pull(found.values, context)[node["name"]]
                good = gave_results(found.values, context)
                if node["type"] == "items":
                    items = self._pull(found.start, context)
                    return [items[index]["item"] for index in good]
                results = context["ti"].xcom_pull(task_ids=found.values, map_indexes=good) if good else []
                return [result[node["name"]] for result in results]
        raise TypeError(node["type"])

    def state_of(self, name: str, context: Context) -> State:
        node = self.nodes[name]
        return node.state(read_states([node], context, self.mapped))

    def states(self, context: Context) -> dict[str, State]:
        read = read_states(self.nodes.values(), context, self.mapped)
        return {name: node.state(read) for name, node in self.nodes.items()}

    def results(self, template: Template, context: Context, own: Any = None) -> dict[str, Any]:
        """The outputs of a graph or loop. Raises `AbsentError` where one has no value."""
        return {
            output.name: evaluate(to_builtins(output.value), lambda node: self.resolve(node, context, own=own))
            for output in template.outputs.parameters
        }

    def started(self, context: Context) -> str | None:
        """The state of the task that starts the graph or loop."""
        return task_states([self.inputs], context, self.mapped)[self.inputs]

    def _pull(self, task: str, context: Context) -> Any:
        ti = context["ti"]
        return ti.xcom_pull(task_ids=task, map_indexes=ti.map_index if self.mapped else -1)


def read_states(nodes: Iterable[Node], context: Context, mapped: bool) -> dict[str, str | None]:
    """The states of the tasks that nodes are made of."""
    return task_states([name for node in nodes for name in (node.end.task_id, node.start) if name], context, mapped)


def gave_results(task_id: str, context: Context) -> list[int]:
    """The indexes of the items of a mapped task that succeeded, in order."""
    ti = context["ti"]
    states = ti.get_task_states(dag_id=ti.dag_id, run_ids=[ti.run_id], task_ids=[task_id])[ti.run_id]
    return sorted(int(name.rpartition("_")[2]) for name, state in states.items() if state == "success")


def task_states(ids: list[str], context: Context, mapped: bool) -> dict[str, str | None]:
    """The states of Airflow's tasks by id, of those that share this task's map index."""
    ti = context["ti"]
    index = ti.map_index if mapped else -1
    found = ti.get_task_states(dag_id=ti.dag_id, run_ids=[ti.run_id], task_ids=ids, map_index=index)
    suffix = f"_{index}" if mapped else ""
    return {name.removesuffix(suffix): state for name, state in found[ti.run_id].items()}
