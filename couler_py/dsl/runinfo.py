"""`couler.run_info`: facts about the run, and `couler.log_metric`.

In a workflow they are values that the run fills in; in a step's body they are real, read from the
environment that every engine sets for its steps.
"""

from __future__ import annotations

import datetime
import json
import os
from pathlib import Path
from typing import Any

from couler_py.dsl.problems import fail
from couler_py.dsl.recorder import current
from couler_py.ir import expr as ir
from couler_py.ir.diagnostics import CoulerError
from couler_py.ir.scalars import write_scalar
from couler_py.ir.types import ANY, DATETIME, FLOAT, INT, STR, ListOf, Type

FIELDS: dict[str, Type] = {
    "id": STR,
    "name": STR,
    "namespace": STR,
    "scheduled_time": DATETIME,
    "start": DATETIME,
    "attempt": INT,
    "status": STR,
    "failures": ListOf(ANY),
    "duration": FLOAT,
}
AT_END = ("status", "failures", "duration")


class NoRunError(CoulerError, RuntimeError):
    """A fact about the run was asked for where nothing runs."""


class RunInfo:
    """Facts about the run: `couler.run_info.scheduled_time`, and so on.

    While a workflow is built each is a value that the run fills in; while a step runs it is the fact itself,
    and elsewhere asking raises `NoRunError`.

    >>> ingest(couler.run_info.scheduled_time)  # doctest: +SKIP
    """

    @property
    def id(self) -> str:
        """The id of the run."""
        return _fact("id")  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        """The name of the run."""
        return _fact("name")  # type: ignore[no-any-return]

    @property
    def namespace(self) -> str:
        """The namespace that it runs in ("" where the engine has none)."""
        return _fact("namespace")  # type: ignore[no-any-return]

    @property
    def scheduled_time(self) -> datetime.datetime:
        """The instant that the schedule meant; of a run that no schedule started, its start."""
        return _fact("scheduled_time")  # type: ignore[no-any-return]

    @property
    def start(self) -> datetime.datetime:
        """When the run started."""
        return _fact("start")  # type: ignore[no-any-return]

    @property
    def attempt(self) -> int:
        """Which attempt of the step this is, from 0. Known inside a step only."""
        return _fact("attempt")  # type: ignore[no-any-return]

    @property
    def status(self) -> str:
        """How the run ended: "Succeeded" or "Failed". In handlers only."""
        return _fact("status")  # type: ignore[no-any-return]

    @property
    def failures(self) -> list[Any]:
        """The tasks that failed, each with its name and message. In handlers only."""
        return _fact("failures")  # type: ignore[no-any-return]

    @property
    def duration(self) -> float:
        """How long the run took, in seconds. In handlers only."""
        return _fact("duration")  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<couler.run_info: {', '.join(FIELDS)}>"


run_info = RunInfo()


def _fact(field: Any) -> Any:
    from couler_py.dsl.placeholder import Placeholder

    recorder = current()
    if recorder is None:
        return _real(field)
    if field == "attempt":
        fail("CLR159", "run_info.attempt is known inside a step only", help="read it in the body of the step")
    frame = recorder.frame
    while frame.parent is not None:
        frame = frame.parent
    if field in AT_END and frame.kind != "handler":
        fail(
            "CLR159",
            f"run_info.{field} is known when the run has ended",
            help="use it in a handler: couler.on_exit, couler.on_success, couler.on_failure",
        )
    return Placeholder(ir.Run(field), FIELDS[field], f"run_info.{field}")


def _real(field: str) -> Any:
    variable = f"COULER_RUN_{field.upper()}"
    text = os.environ.get(variable)
    if text is None:
        raise NoRunError(f"run_info.{field} is known only in a workflow or in a running step ({variable} is not set)")
    if FIELDS[field] == DATETIME:
        return datetime.datetime.fromisoformat(text)
    return int(text) if FIELDS[field] == INT else text


def log_metric(name: str, value: float, step: int | None = None) -> None:
    """Note a number of a running step, as a loss at a training step, for the live view, reports and sweeps.

    Each call adds a line of JSON to `metrics.jsonl` beside the step's outputs. Where no engine runs the step
    (a unit test calls its function) nothing is written. Where the environment variable COULER_TENSORBOARD names a
    folder, each is an event of TensorBoard there too.

    Raises `RecordingError` in a workflow's function: a metric is logged in a step.

    >>> couler.log_metric("loss", 0.25, step=100)
    """
    if current() is not None:
        fail("CLR159", "couler.log_metric is called while a workflow is built", help="call it in the body of a step")
    folder = os.environ.get("COULER_OUTPUTS")
    if folder is None:
        return
    line = {"name": str(name), "value": _number(value), "step": step}
    target = Path(folder) / "metrics.jsonl"
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    write_scalar(str(name), float(value), step)


def _number(value: Any) -> float | str:
    from couler_py.ir.wire import finite

    return finite(float(value))  # type: ignore[no-any-return]
