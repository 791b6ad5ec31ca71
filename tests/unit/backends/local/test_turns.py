"""Of a wide graph or fan-out, no more tasks are begun than can soon have their turn."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from couler_py.backends.local import execute
from couler_py.backends.local.journal import Event
from couler_py.backends.local.lifecycle import prepare, run_to_end
from couler_py.backends.local.scheduling.turns import MOST
from couler_py.ir import Workflow
from couler_py.ir.expr import Literal
from couler_py.ir.model import Each, Mutex, Sequence, Suspend, Task, Template
from couler_py.store.locks import release, try_slot
from tests.engines.local.flows import NOTHING, flow, graph

COUNT = 3 * MOST


def wide(template: Template) -> Workflow:
    return flow(template, graph(*(Task(f"t{n}", template.name) for n in range(COUNT))))


def fan(template: Template) -> Workflow:
    each = Each(Sequence(count=Literal(COUNT)), max_items=COUNT)
    return flow(template, graph(Task("t", template.name, each=each)))


@pytest.mark.parametrize("shape", [wide, fan])
def test_no_more_tasks_wait_at_once_than_may(shape: object, tmp_path: Path) -> None:
    name = f"turn-{tmp_path}"
    held = try_slot("mutex", f"local/{name}", 1)
    assert held is not None
    waiting: set[str] = set()
    most = 0

    def look(event: Event) -> None:
        nonlocal most
        if event.task is None or event.task.kind != "suspend":
            return
        (waiting.add if event.task.state == "Pending" else waiting.discard)(event.path)
        most = max(most, len(waiting))
        if len(waiting) == MOST and event.task.state == "Pending" and most == MOST:
            asyncio.get_running_loop().call_soon(asyncio.get_running_loop().call_soon, let_go)

    def let_go() -> None:
        nonlocal held
        if held is not None:
            release([held])
            held = None

    locked = Template("nothing", NOTHING.body, locks=(Mutex(name, "local"),))
    record = execute(shape(locked), home=tmp_path / "home", observers=[look])  # type: ignore[operator]
    assert record.status == "Succeeded"
    assert sum(task.state == "Succeeded" and task.kind == "suspend" for task in record.tasks.values()) == COUNT
    assert most == MOST


@pytest.mark.parametrize("shape", [wide, fan])
def test_tasks_that_have_had_their_turn_keep_no_other_from_it(shape: object, tmp_path: Path) -> None:
    """More tasks than may wait are suspended until somebody approves, all of them at the same time."""
    suspended: set[str] = set()

    def look(event: Event) -> None:
        if event.task is not None and event.task.state == "Suspended":
            suspended.add(event.path)
        if len(suspended) == COUNT:
            prepared.engine.interrupt()

    prepared = prepare(shape(Template("pause", Suspend())), home=tmp_path / "home", observers=[look])  # type: ignore[operator]
    assert run_to_end(prepared).status == "Stopped"
    assert len(suspended) == COUNT
