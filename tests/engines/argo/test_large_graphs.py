"""Graphs too large for an installation, nested, on the real controller: each task has its own path and state."""

from __future__ import annotations

import pytest

from couler_py.ir import Workflow
from couler_py.ir.model import Task
from tests.cluster.argo import Namespace
from tests.conformance.interpreter import interpret
from tests.conformance.podless import OFF, act, said, workflow
from tests.engines.argo.controller import Run, differences

pytestmark = [pytest.mark.cluster, pytest.mark.soak]


def large(first: str = "S", *, off: bool = False) -> Workflow:
    """450 tasks: one, 300 that wait for it, one that waits for those, and 148 one after the other."""
    start = act("start", first, when=OFF if off else None)
    middle = [act(f"w{number}", value="start") for number in range(300)]
    join = act("join", value=" ".join(task.name for task in middle))
    row: list[Task] = [join]
    for number in range(148):
        row.append(act(f"c{number}", value=row[-1].name))
    return workflow(start, *middle, *row, outputs={"r": said("c147", "-")})


def test_450_tasks_run_as_if_nothing_bounded_them(namespace: Namespace) -> None:
    runs = []
    for name, built in (
        ("good", large()),
        ("the first fails", large("F")),
        ("the first is switched off", large(off=True)),
    ):
        meant = interpret(built)
        outputs = meant.outputs if meant.state == "Succeeded" else None
        runs.append(Run(name, built, meant.state, meant.tasks, outputs))
    assert differences(namespace, runs) == {}
