"""What runs when the run has ended, and values published by name for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload

from couler_py.dsl.assemble import HandlerCall
from couler_py.dsl.branches import after_failure, base_of, need, run
from couler_py.dsl.frames import FrameOutput, Reference, is_name
from couler_py.dsl.lifting import lift
from couler_py.dsl.placeholder import Placeholder
from couler_py.dsl.problems import fail
from couler_py.dsl.recorder import Recorder
from couler_py.dsl.sources import caller
from couler_py.ir import expr as ir
from couler_py.ir.model import Template
from couler_py.ir.names import free_name
from couler_py.ir.types import ANY

Result = TypeVar("Result")
Moment = Literal["exit", "success", "failure"]


def on_exit(handler: Callable[[], Any], *, name: str = "") -> None:
    """Run what a function calls when the run has ended, whatever became of it.

    The handler sees the workflow's parameters, `couler.run_info` (`status`, `failures`, `duration`) and values
    published by name, never outputs of tasks. One that fails makes the run Failed.

    >>> couler.on_exit(lambda: notify(couler.run_info.status))  # doctest: +SKIP
    """
    record(need("couler.on_exit"), "exit", handler, name)


def on_success(handler: Callable[[], Any], *, name: str = "") -> None:
    """Run what a function calls when the run has succeeded. See `couler.on_exit`.

    >>> couler.on_success(lambda: announce(couler.published("address")))  # doctest: +SKIP
    """
    record(need("couler.on_success"), "success", handler, name)


@overload
def on_failure(handler: Callable[[], Any], /, *, name: str = "") -> None: ...
@overload
def on_failure(tasks: Any, handler: Callable[[], Result], /, *, name: str = "") -> Result: ...
def on_failure(first: Any, second: Any = None, /, *, name: str = "") -> Any:
    """Run what a function calls on failure: of the run, or of the given tasks.

    `on_failure(handler)` runs when the run has failed (see `couler.on_exit`). `on_failure(tasks, handler)` runs
    inside the workflow, only where one of the tasks failed or was blocked; if it succeeds, the failure is absolved.

    >>> couler.on_failure(upload, lambda: clean_up(bucket))  # doctest: +SKIP
    """
    if second is None:
        record(need("couler.on_failure"), "failure", first, name)
        return None
    return after_failure(first, second, name)


def record(recorder: Recorder, on: Moment, handler: Callable[[], Any], name: str = "") -> None:
    """Add a handler to a workflow. Raises `RecordingError` where it calls no step or reads a task."""
    if not callable(handler):
        fail("CLR156", f"a handler is a function, not {handler!r}", help="put `lambda: ` before the call")
    source = caller()
    if recorder.frame is not recorder.entry:
        fail(
            "CLR156",
            "a handler of the run can't be written here",
            source=source,
            why="it runs at the end of the whole run, whatever the branch, item or called workflow around it does",
            help="write it in the workflow's own function, with a condition inside where it needs one",
        )
    frame = recorder.nested("handler", base_of(handler, name, f"on-{on}"), source)
    frame.sequential = recorder.entry.sequential
    run(recorder, frame, handler)
    if not frame.nodes:
        fail("CLR154", "the handler calls no step", source=source)
    found = free_name(name or f"on-{on}", {known.name for known in recorder.handlers})
    recorder.handlers.append(HandlerCall(frame, on, found, source))


def publish(name: str, value: Any) -> None:
    """Publish a value by name, so that handlers can read it with `couler.published(name)`.

    The output of a step is there as soon as the step has succeeded, everything else once its graph has.

    Raises `RecordingError` for a name that is taken, and for a value that exists many times (in `couler.map`).

    >>> couler.publish("best", best.score)  # doctest: +SKIP
    """
    recorder = need("couler.publish")
    source = caller()
    if not is_name("parameter", name):
        fail("CLR150", f"{name!r} can't name a published value", help="use letters, digits, - and _")
    known = recorder.published.get(name)
    if known is not None:
        fail("CLR150", f"{name!r} is published twice", related=(("the other one", known[1]),))
    frame = recorder.frame
    outer = frame
    while outer.parent is not None:
        if outer.kind in ("map", "loop", "flow"):
            fail("CLR150", f"{name!r} would be published many times", help="publish what the call gives back")
        outer = outer.parent
    if outer.kind == "handler":
        fail("CLR150", "a handler publishes nothing", why="it runs when everything else has ended")
    lifted = lift(value)
    recorder.published[name] = (lifted.type, source)
    expr = lifted.expr
    if (
        isinstance(expr, Reference)
        and isinstance(expr.node.call, Template)
        and expr.node.each is None
        and expr.kind in ("output", "artifact")
        and expr.name not in expr.node.published
    ):
        expr.node.published[expr.name] = name
        return
    output = free_name(name, frame.outputs)
    frame.outputs[output] = FrameOutput(expr, lifted.type, name, source)


def published(name: str) -> Any:
    """In a handler: the value that a task published by this name. It is absent where the task didn't succeed.

    >>> couler.on_exit(lambda: report(couler.published("best").or_else(0.0)))  # doctest: +SKIP
    """
    recorder = need("couler.published")
    frame = recorder.frame
    while frame.parent is not None:
        frame = frame.parent
    if frame.kind != "handler":
        fail("CLR150", "couler.published is for handlers", help="use the value itself: it is an output of a step")
    known = recorder.published.get(name)
    type_ = ANY if known is None else known[0]
    if type_ is None:
        fail("CLR150", f"{name!r} is a file, and handlers read values only", help="publish its path or address as text")
    return Placeholder(ir.Published(name), type_, f"published {name!r}", None if known is None else known[1])


__all__ = ["Moment", "on_exit", "on_failure", "on_success", "publish", "published", "record"]
