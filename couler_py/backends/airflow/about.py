"""What a DAG file says about itself: its docstring, which Airflow shows as the DAG's documentation."""

from __future__ import annotations

import shlex
import textwrap

from couler_py import __version__
from couler_py.backends.airflow.emission import Emission
from couler_py.ir.graph import shape
from couler_py.ir.model import Graph

COLUMNS = 84
PICTURED = 40
"""Most tasks that are named one by one."""


def about(emission: Emission) -> str:
    """The docstring of the file: what the workflow is, its tasks in their order, and the pools that it needs."""
    workflow = emission.workflow
    name = workflow.display or workflow.name
    if described := workflow.description.strip():
        said = [described, "", *wrapped(f"{name}: {picture(emission)}.")]
    else:
        said = wrapped(f"The workflow {name}: {picture(emission)}.")
    if emission.pools:
        said.append("It needs pools:")
        said += [f"    airflow pools set {shlex.quote(name)} {slots} ''" for name, slots in emission.pools.items()]
    said.append(f"\nWritten by couler-py {__version__}: change the program that it was made from, not this file.")
    return "\n".join(said) + "\n"


def wrapped(text: str) -> list[str]:
    """The lines of a paragraph."""
    return textwrap.wrap(text, COLUMNS, break_long_words=False, break_on_hyphens=False)


def picture(emission: Emission) -> str:
    """The tasks of the entrypoint by how far they are from the start; of many, how many there are."""
    body = emission.templates[emission.workflow.entrypoint].body
    if not isinstance(body, Graph):
        return emission.workflow.entrypoint
    levels: dict[int, list[str]] = {}
    shown = {task.name: task.display or task.name for task in body.tasks}
    for name, level in shape(body).levels().items():
        levels.setdefault(level, []).append(shown[name])
    if len(shown) > PICTURED:
        return f"{len(shown)} tasks, one after another at most {len(levels)}"
    found = " → ".join(", ".join(levels[level]) for level in sorted(levels)) or "nothing to do"
    after = ", ".join(handler.name for handler in emission.workflow.handlers)
    return f"{found}; in the end {after}" if after else found
