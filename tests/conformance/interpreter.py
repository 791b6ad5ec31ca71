"""The meaning of podless workflows, said in a page: the states, outcome and outputs that every engine must reach.

Only `couler_py.ir` is used: edges and outcome from `meaning`, values from `evaluate`. The hand-written
tables of the cases are held against this, and so are the engines on random graphs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from couler_py.ir import Workflow, to_builtins
from couler_py.ir.evaluate import AbsentError, EvaluationError, evaluate, evaluate_condition
from couler_py.ir.expr import Expr
from couler_py.ir.graph import shape, templates_by_name
from couler_py.ir.meaning import State, decide, outcome
from couler_py.ir.model import Graph, Loop, Sequence, Suspend, Task, Template


class Result:
    """How a template ended: its state, its outputs by name, and the states of the tasks inside it by path."""

    def __init__(
        self, state: State, outputs: Mapping[str, Any] | None = None, tasks: Mapping[str, State] | None = None
    ):
        self.state = state
        self.outputs = dict(outputs or {})
        self.tasks = dict(tasks or {})


def interpret(workflow: Workflow) -> Result:
    """Run the entrypoint of a workflow without time passing."""
    templates = templates_by_name(workflow)
    parameters = {parameter.name: parameter.default for parameter in workflow.parameters}

    def call(name: str, inputs: Mapping[str, Any]) -> Result:
        template = templates[name]
        match template.body:
            case Suspend():
                return Result("Succeeded")
            case Loop() as loop:
                return repeat(loop, template, dict(inputs))
            case Graph() as graph:
                return run_graph(graph, template, inputs)
        raise TypeError(f"{name} needs a pod")

    def repeat(loop: Loop, template: Template, inputs: dict[str, Any]) -> Result:
        for _ in range(loop.max_iterations):
            ended = call(loop.body, inputs)
            if ended.state != "Succeeded":
                return Result("Failed")
            if condition(loop.until, {"own": ended.outputs}):
                results = {
                    output.name: value(output.value, {"own": ended.outputs}) for output in template.outputs.parameters
                }
                return Result("Succeeded", results)
            inputs |= {carry.input: ended.outputs[carry.output] for carry in loop.carry}
        return Result("Failed")

    def run_graph(graph: Graph, template: Template, inputs: Mapping[str, Any]) -> Result:
        tasks = {task.name: task for task in graph.tasks}
        graph_shape = shape(graph)
        ended: dict[str, Result] = {}
        states: dict[str, State] = {}
        for name in graph_shape.order():
            match decide(graph_shape.edges[name], states):
                case "block":
                    ended[name] = Result("Blocked")
                case "skip":
                    ended[name] = Result("Skipped")
                case "go":
                    ended[name] = run_task(tasks[name], {"input": inputs, "tasks": ended})
            states[name] = ended[name].state
        inside: dict[str, State] = dict(states)
        for name, result in ended.items():
            for path, state in result.tasks.items():
                inside[name + path if path.startswith("[") else f"{name}/{path}"] = state
        if outcome(graph_shape.edges, states) == "Failed":
            return Result("Failed", tasks=inside)
        found = {}
        for output in template.outputs.parameters:
            try:
                found[output.name] = value(output.value, {"input": inputs, "tasks": ended})
            except AbsentError:
                return Result("Skipped", tasks=inside)  # only a mapped graph may end without: a skipped item
        return Result("Succeeded", found, inside)

    def run_task(task: Task, scope: dict[str, Any]) -> Result:
        try:
            if task.when is not None and not condition(task.when, scope):
                return Result("Skipped")
            if task.each is None:
                return call_task(task, scope)
            items = listed(task.each.items, scope)
        except EvaluationError:
            return Result("Failed")
        runs = [call_task(task, scope | {"item": item}) for item in items]
        inside = {f"[{i}]": run.state for i, run in enumerate(runs)}
        for i, run in enumerate(runs):
            inside |= {f"[{i}]/{path}": state for path, state in run.tasks.items()}
        if sum(run.state == "Failed" for run in runs) > task.each.tolerate:
            return Result("Failed", tasks=inside)
        names = [output.name for output in templates[str(task.call)].outputs.parameters]
        good = [run for run in runs if run.state == "Succeeded"]
        lists: dict[str, Any] = {name: [run.outputs[name] for run in good] for name in names}
        lists[""] = [item for item, run in zip(items, runs, strict=True) if run.state == "Succeeded"]
        return Result("Succeeded", lists, inside)

    def call_task(task: Task, scope: Mapping[str, Any]) -> Result:
        return call(str(task.call), {given.name: value(given.value, scope) for given in task.arguments})

    def listed(items: Expr | Sequence, scope: Mapping[str, Any]) -> list[Any]:
        if not isinstance(items, Sequence):
            return list(value(items, scope))
        start = 0 if items.start is None else int(value(items.start, scope))
        if items.count is not None:
            return list(range(start, start + int(value(items.count, scope))))
        return list(range(start, int(value(items.end, scope)) + 1))

    def value(expr: Expr | None, scope: Mapping[str, Any]) -> Any:
        return evaluate(to_builtins(expr), lambda node: resolve(node, scope))

    def condition(expr: Expr, scope: Mapping[str, Any]) -> bool:
        return evaluate_condition(to_builtins(expr), lambda node: resolve(node, scope))

    def resolve(node: dict[str, Any], scope: Mapping[str, Any]) -> Any:
        match node["type"]:
            case "parameter":
                return parameters[node["name"]]
            case "input":
                return scope["input"][node["name"]]
            case "own":
                return scope["own"][node["name"]]
            case "item":
                return scope["item"]
            case "status":
                return scope["tasks"][node["task"]].state
            case "output" | "items":
                ended = scope["tasks"][node["task"]]
                if ended.state != "Succeeded":
                    raise AbsentError(node["task"])
                return ended.outputs[node.get("name", "")]
        raise EvaluationError(f"no {node['type']} in a graph without pods")

    return call(workflow.entrypoint, {})
