"""The ids of tasks and groups: the one place that knows how names of the IR are spelled on Airflow."""

from __future__ import annotations

import re
from collections.abc import Container

from couler_py.ir.model import Graph
from couler_py.ir.names import legal_name

START, END, RESULT, EACH = "start", "end", "result", "each"
INSIDE = re.compile(rf"{START}|{END}|{EACH}(_\d+)?|turn_\d+")
"""Ids inside groups that aren't tasks of the workflow's: `client/tree.py` knows by them what a group is."""
HANDLERS = "on_exit"
OF_SPLIT = "__of_split"
"""The end of the ids of what splitting added beside the tasks of a part: nobody's tasks."""


def task_ids(graph: Graph, *, entry: bool, helpers: Container[str] = ()) -> dict[str, str]:
    """By the name of each task of a graph, its id inside the group that the graph is, or in the DAG.

    `helpers` are the templates that splitting added.
    """
    taken = {RESULT, HANDLERS, "finish"} if entry else set()
    found: dict[str, str] = {}
    for task in graph.tasks:
        added = OF_SPLIT if isinstance(task.call, str) and task.call in helpers else ""
        wanted = legal_name("airflow", "task", task.name) + added
        kept = not added and ((not entry and INSIDE.fullmatch(wanted)) or wanted.endswith(OF_SPLIT))
        if kept or wanted in taken:
            wanted = legal_name("airflow", "task", task.name, distinct=True) + added
        taken.add(wanted)
        found[task.name] = wanted
    return found
