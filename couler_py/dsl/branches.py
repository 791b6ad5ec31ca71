"""`couler.when` and what runs on failure or always: parts of a graph that may not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from couler_py.dsl.binding import check_reach
from couler_py.dsl.choice import Joined, join
from couler_py.dsl.compute import condition as condition_of
from couler_py.dsl.frames import Frame, Node
from couler_py.dsl.ordering import EdgeName, link, tasks_of
from couler_py.dsl.problems import fail
from couler_py.dsl.recorder import Recorder, current
from couler_py.ir import expr as ir

Then = TypeVar("Then")
Otherwise = TypeVar("Otherwise")


@overload
def when(condition: Any, then: Callable[[], Then], otherwise: None = None, *, name: str = "") -> Then: ...
@overload
def when(
    condition: Any, then: Callable[[], Then], otherwise: Callable[[], Otherwise], *, name: str = ""
) -> Then | Otherwise: ...
def when(condition: Any, then: Callable[[], Any], otherwise: Callable[[], Any] | None = None, *, name: str = "") -> Any:
    """Run what `then` calls where the condition is true, and what `otherwise` calls where it is false.

    Both are functions without arguments. The result is the value of the one that ran; without
    `otherwise` it needs `.or_else(...)`. A condition without a value (a missing member, say) fails both.
    A condition that is known now is decided now.

    Raises `RecordingError` for what is no condition, and for a branch that returns a value but calls no step.

    >>> best = couler.when(a.score > b.score, lambda: refine(a.model), otherwise=lambda: b_or(b))  # doctest: +SKIP
    """
    recorder = need("couler.when")
    for what, function in (("then", then), ("otherwise", otherwise)):
        if not callable(function) and not (what == "otherwise" and function is None):
            fail(
                "CLR156",
                f"{what} of couler.when is a function, not {function!r}",
                why="a call written there has happened already, whatever the condition says",
                help="put `lambda: ` before it",
            )
    if isinstance(condition, bool):
        chosen = then if condition else otherwise
        return chosen() if chosen is not None else Joined(None, [], "when", "the condition is false")
    expr = condition_of(condition)
    before = list(recorder.frame.previous)
    value, nodes = _branch(recorder, then, expr, name)
    ends = recorder.frame.previous
    if otherwise is None:
        return value if value is not None else Joined(None, nodes, "when", "the branch returns nothing")
    recorder.frame.previous = before
    negated = f"{name}-otherwise" if name else ""
    other, more = _branch(recorder, otherwise, ir.Not(expr), negated)
    if recorder.frame.sequential:
        now = recorder.frame.previous
        recorder.frame.previous = [*ends, *(node for node in now if node not in ends)]
    if value is None or other is None:
        return Joined(None, [*nodes, *more], "when", "a branch returns nothing")
    joined = join([value, other], "when")
    if isinstance(joined, Joined):
        joined.__dict__["_couler_nodes"] = (*nodes, *more)
    return joined


def _branch(recorder: Recorder, function: Callable[[], Any], expr: Any, name: str) -> tuple[Any, list[Node]]:
    value, node = guarded(recorder, function, name)
    if node is None:
        return None, []
    check_reach(expr, node)
    node.when = expr if node.when is None else ir.AllOf((expr, node.when))
    return value, [node]


def guarded(recorder: Recorder, function: Callable[[], Any], name: str = "") -> tuple[Any, Node | None]:
    """Record a branch: its only task in the graph at hand, or several as a graph of their own.

    Gives the value it returns and the task to guard; None where it calls nothing.
    """
    frame = recorder.nested("branch", base_of(function, name, "branch"))
    frame.previous = []
    value = run(recorder, frame, function)
    if not frame.nodes:
        if value is not None:
            fail(
                "CLR156",
                "the branch gives a value but calls no step",
                source=frame.source,
                help="a value that is known without a step is a default: `couler.when(...).or_else(value)`",
            )
        return None, None
    if len(frame.nodes) == 1 and not frame.scoped:
        return value, frame.dissolve()
    if frame.base == "branch":
        frame.base = f"{frame.nodes[0].base}-branch"
    return value, recorder.task(frame, name=name, base=frame.base, source=frame.source)


def after_failure(tasks: Any, handler: Callable[[], Then], name: str = "") -> Then:
    """Run what a function calls only if one of the tasks failed or was blocked. See `couler.on_failure`."""
    return _handled("couler.on_failure", tasks, handler, "on_failure", name)  # type: ignore[no-any-return]


def always(tasks: Any, handler: Callable[[], Then], *, name: str = "") -> Then:
    """Run what a function calls however the tasks end; it reads their values by `or_else`.

    It never absolves a failure: the run fails if a task failed, even where the handler succeeds.

    >>> couler.always(train_task, lambda: release(cluster))  # doctest: +SKIP
    """
    return _handled("couler.always", tasks, handler, "always", name)  # type: ignore[no-any-return]


def _handled(what: str, tasks: Any, handler: Callable[[], Any], kind: EdgeName, name: str) -> Any:
    recorder = need(what)
    if not callable(handler):
        fail("CLR156", f"{what} needs a function, not {handler!r}", help="put `lambda: ` before the call")
    producers = tasks_of(tasks)
    before, recorder.frame.previous = recorder.frame.previous, []
    value, node = guarded(recorder, handler, name)
    if recorder.frame.sequential:
        recorder.frame.previous = before
    if node is None:
        fail("CLR154", f"the function of {what} calls no step")
    for producer in producers:
        link(producer, node, kind)
    return value if value is not None else Joined(None, [node], what, "the handler returns nothing")


def concurrent(functions: Any) -> list[Any]:
    """Call several functions whose steps don't wait for each other, and return what each returns.

    Without the order of Couler's verbs, calls are concurrent anyway.

    >>> left, right = couler.concurrent([lambda: a(), lambda: b()])  # doctest: +SKIP
    """
    recorder = need("couler.concurrent")
    before = list(recorder.frame.previous)
    ends: list[Node] = []
    results = []
    for function in functions:
        if not callable(function):
            fail("CLR156", f"couler.concurrent needs functions, not {function!r}", help="put `lambda: ` before it")
        recorder.frame.previous = list(before)
        results.append(function())
        ends.extend(node for node in recorder.frame.previous if node not in before)
    recorder.frame.previous = ends or before
    return results


def need(what: str) -> Recorder:
    """The workflow in progress. Raises `RecordingError` outside of one, naming who asked."""
    recorder = current()
    if recorder is None:
        fail(
            "CLR157",
            f"{what} is called outside of a workflow",
            help="call it in a function with @couler.workflow, or under `with couler.Workflow(...)`",
        )
    return recorder


def run(recorder: Recorder, frame: Frame, function: Callable[[], Any]) -> Any:
    """Call a function whose steps go into a nested graph. Nothing of it stays where it raises."""
    with recorder.inside(frame):
        return function()


def base_of(function: Any, name: str, fallback: str) -> str:
    """The name that a nested graph goes by: the one given, or the function's."""
    found = name or getattr(function, "__name__", "")
    return fallback if not found or found == "<lambda>" else found
