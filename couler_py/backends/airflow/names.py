"""The ids of tasks and groups: the one place that knows how names of the IR are spelled on Airflow."""

from __future__ import annotations

from couler_py.ir.model import Graph
from couler_py.ir.names import legal_name

START, END, RESULT, EACH = "start", "end", "result", "each"
HANDLERS = "on_exit"


def task_ids(graph: Graph, *, entry: bool) -> dict[str, str]:
    """By the name of each task of a graph, its id inside the group that the graph is, or in the DAG."""
    taken = {RESULT, HANDLERS, "finish"} if entry else {START, END}
    found: dict[str, str] = {}
    for task in graph.tasks:
        wanted = legal_name("airflow", "task", task.name)
        if wanted in taken:
            wanted = legal_name("airflow", "task", task.name, distinct=True)
        taken.add(wanted)
        found[task.name] = wanted
    return found


def free_id(wanted: str, taken: set[str]) -> str:
    """An id that nobody has, and now has."""
    found, number = wanted, 1
    while found in taken:
        number += 1
        found = f"{wanted}_{number}"
    taken.add(found)
    return found
