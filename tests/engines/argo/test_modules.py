"""Graphs too large for an installation on the real controller, nested: every task under its own path, in its own state."""

from __future__ import annotations

import pytest

from couler_py.ir import Workflow
from couler_py.ir.model import Task
from tests.cluster.argo import Namespace
from tests.conformance.interpreter import interpret
from tests.conformance.podless import OFF, act, said, workflow
from tests.engines.argo.controller import Run, differences

pytestmark = pytest.mark.cluster


def large(first: str = "S", broken: int = -1, *, off: bool = False) -> Workflow:
    """450 tasks: one, 300 that wait for it, one that waits for those, and 148 one after the other."""
    start = act("start", first, when=OFF if off else None)
    middle = [act(f"w{number}", "F" if number == broken else "S", value="start") for number in range(300)]
    join = act("join", value=" ".join(task.name for task in middle))
    row: list[Task] = [join]
    for number in range(148):
        row.append(act(f"c{number}", value=row[-1].name))
    return workflow(start, *middle, *row, outputs={"r": said("c147", "-")})


def test_450_tasks_run_as_if_nothing_bounded_them(namespace: Namespace) -> None:
    runs = []
    for name, built in (
        ("good", large()),
        ("one of the wide fails", large(broken=170)),
        ("the first fails", large("F")),
        ("the first is switched off", large(off=True)),
    ):
        meant = interpret(built)
        outputs = meant.outputs if meant.state == "Succeeded" else None
        runs.append(Run(name, built, meant.state, meant.tasks, outputs))
    assert differences(namespace, runs) == {}
