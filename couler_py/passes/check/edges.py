"""The edges between the tasks of a graph: that they lead somewhere, in no circle, and contradict nothing."""

from __future__ import annotations

from couler_py.ir.graph import CycleError, shape_of
from couler_py.ir.meaning import Edge, graph_edges
from couler_py.ir.model import Graph, Task, Template
from couler_py.passes.check.facts import Facts
from couler_py.passes.check.findings import Findings, Place, related
from couler_py.passes.check.references import suggest


def check_edges(template: Template, graph: Graph, facts: Facts, findings: Findings) -> None:
    """All edges of a graph. Where they are sound, `facts.shapes` gets them; elsewhere `facts.sound` ends."""
    tasks = {task.name: task for task in graph.tasks}
    found = graph_edges(graph)
    sound = len(tasks) == len(graph.tasks)
    for name, task_edges in found.items():
        for edge in task_edges:
            for producer in edge.tasks:
                if producer not in found:
                    sound = False
                    _report_unknown(tasks[name], producer, tasks, findings)
        task = tasks[name]
        if task.after:
            _check_always(task, task_edges, findings)
            _check_handler(task, task_edges, findings)
    if not sound:
        facts.sound = False
        return
    graph_shape = shape_of(found)
    try:
        graph_shape.order()
    except CycleError as error:
        facts.sound = False
        _report_cycle(error.cycle, tasks, findings)
        return
    facts.shapes[template.name] = graph_shape


def _report_unknown(task: Task, producer: str, tasks: dict[str, Task], findings: Findings) -> None:
    written = any(after.task == producer for after in task.after) or task.depends is not None
    if written:
        findings.error(
            "CLR220",
            f"it waits for the step {producer}, and there is none in this graph",
            Place(task.name, task.source),
            help=suggest(producer, tasks),
        )


def _report_cycle(cycle: tuple[str, ...], tasks: dict[str, Task], findings: Findings) -> None:
    first = tasks[cycle[0]]
    findings.error(
        "CLR230",
        f"these steps wait for each other: {' -> '.join(cycle)}",
        Place(first.name, first.source),
        help="each arrow means that the right step waits for the left one; take one of them away",
        related=related(*((name, tasks[name].source) for name in cycle[1:-1])),
    )


def _check_always(task: Task, task_edges: tuple[Edge, ...], findings: Findings) -> None:
    always = next((after.task for after in task.after if after.kind == "always"), None)
    if always is None:
        return
    reasons = ["a condition"] if task.when is not None else []
    for edge in task_edges:
        if edge.kind == "value":
            reasons.append(f"the plain value of {edge.tasks[0]}")
        elif edge.kind == "first":
            reasons.append(f"first(...) of {' and '.join(edge.tasks)}")
        elif edge.kind == "on_failure":
            reasons.append(f"the edge on_failure to {edge.tasks[0]}")
    if reasons:
        findings.error(
            "CLR233",
            f"it always runs after {always}, and {reasons[0]} could keep it from that",
            Place(task.name, task.source),
            why="a step with an `always` edge has only `always` and `order` edges, and no `when`",
            help="read values by .or_else(...), and put what is conditional inside, as a graph of its own",
        )


def _check_handler(task: Task, task_edges: tuple[Edge, ...], findings: Findings) -> None:
    watched = {after.task for after in task.after if after.kind == "on_failure"}
    if not watched:
        return
    for edge in task_edges:
        if edge.kind in ("order", "value", "first"):
            needed = next((name for name in edge.tasks if name in watched), None)
            if needed is not None:
                how = {"order": "an order edge (`after`, or a value by or_else)", "value": "its plain value"}
                findings.warning(
                    "CLR234",
                    f"it can never run: it runs when {needed} fails, and {how.get(edge.kind, 'first(...) of it')} "
                    f"asks that {needed} doesn't fail",
                    Place(task.name, task.source),
                    help=f"a step that failed has no outputs: don't read {needed}, or use an `always` edge to it",
                )
                return


def check_watched(template: Template, graph: Graph, facts: Facts, findings: Findings) -> None:
    """Handlers of what can't fail. Asks `facts.possibilities`."""
    handlers = [task for task in graph.tasks if any(after.kind == "on_failure" for after in task.after)]
    if not handlers:
        return
    possible = facts.possibilities.of_graph(template)
    for task in handlers:
        for after in task.after:
            if after.kind == "on_failure" and not (possible[after.task].failed or possible[after.task].blocked):
                message = f"it never runs: {after.task} can't fail"
                findings.warning("CLR235", message, Place(task.name, task.source))
