"""`set_exit_handler`: what runs when the run has ended."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, Literal

from couler_py.dsl import handlers
from couler_py.dsl.problems import fail
from couler_py.dsl.sources import caller
from couler_py.dsl.verbs.calls import dag_scope, forwarded
from couler_py.dsl.verbs.state import recording


class WFStatus(Enum):
    """How a run ended."""

    Succeeded = "Succeeded"
    Failed = "Failed"
    Error = "Error"


MOMENTS: dict[WFStatus, Literal["success", "failure"]] = {
    WFStatus.Succeeded: "success",
    WFStatus.Failed: "failure",
    WFStatus.Error: "failure",
}


def set_exit_handler(status: WFStatus, exit_handler: Callable[[], Any]) -> None:
    """Run what a function calls when the run has ended with a status.

    An error of the engine is a failure like others, on every engine: a handler for `Failed` runs then too.
    The handler reads outputs that were made with `is_global=True`, and no other of a task.

    Raises `RecordingError` for two handlers of which one is for `Failed` and the other for `Error`: they
    could not be told apart.

    >>> set_exit_handler(WFStatus.Failed, lambda: notify())  # doctest: +SKIP
    """
    if not isinstance(status, WFStatus):
        fail(
            "CLR181",
            f"{status!r} is no status of a run",
            help="give WFStatus.Succeeded, WFStatus.Failed or WFStatus.Error",
        )
    if not callable(exit_handler):
        fail(
            "CLR181", f"set_exit_handler needs a function, not {exit_handler!r}", help="put `lambda: ` before the call"
        )
    on = MOMENTS[status]
    source = caller()
    with recording() as here:
        known = here.handlers.get(on)
        if known is not None and known[0] != status.value:
            if known[1] is exit_handler:
                return
            fail(
                "CLR181",
                "a handler for Failed and another for Error can't be told apart",
                source=source,
                why="an error of the engine is a failure on every engine",
                help="give one handler for WFStatus.Failed, which runs for both",
            )
        tokens = dag_scope.set(None), forwarded.set(())
        try:
            handlers.record(here.recorder, on, exit_handler)
        finally:
            dag_scope.reset(tokens[0])
            forwarded.reset(tokens[1])
        here.handlers[on] = (status.value, exit_handler)
