"""Couler's control flow: `when`, `map`, `concurrent`, `exec_while`.

Each is the verb of the same name that steps have, with Couler's way to give and return outputs: lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from couler_py.dsl import branches, fanout, loops
from couler_py.dsl.compute import not_
from couler_py.dsl.placeholder import Output as TaskOutputs
from couler_py.dsl.placeholder import Placeholder
from couler_py.dsl.problems import fail
from couler_py.dsl.verbs.numbers import is_text, number
from couler_py.dsl.verbs.outputs import FileValue, OutputEmpty, are_outputs, first_value, single
from couler_py.dsl.verbs.predicates import Open
from couler_py.dsl.verbs.state import recording


def when(
    condition: Any, function: Callable[[], Any], otherwise: Callable[[], Any] | None = None, *, name: str = ""
) -> Any:
    """Run what `function` calls where the condition is true, and what `otherwise` calls where it is false.

    Later steps go on in any case. With `otherwise` the result is the value of the branch that ran; without,
    it is absent where the condition is false, and `couler.or_else` gives it a default.

    Raises `RecordingError` for what is no condition, and for an output that has no value.

    >>> when(equal(flip, "heads"), lambda: heads(), otherwise=lambda: tails())  # doctest: +SKIP
    """
    if isinstance(condition, Open):
        fail("CLR181", "the condition has nothing on its left side", help='couler.equal(output, "heads")')
    with recording():
        for what, branch in (("function", function), ("otherwise", otherwise)):
            if not callable(branch) and not (what == "otherwise" and branch is None):
                fail("CLR181", f"{what} of when is a function, not {branch!r}", help="put `lambda: ` before the call")
        taken = _Tupled(function)
        other = _Tupled(otherwise) if otherwise is not None else None
        found = branches.when(first_value(condition, "when"), taken, other, name=name)
        return taken.listed(found)


def concurrent(function_list: Any, subtasks: bool = False) -> list[Any]:
    """Call several functions whose steps don't wait for each other, and return what each returns, in a list.

    With `subtasks`, the steps of each function are a graph of their own, which later steps wait for as one.

    >>> couler.concurrent([lambda: train("a"), lambda: train("b")])  # doctest: +SKIP
    """
    if isinstance(function_list, str) or not isinstance(function_list, list | tuple):
        fail("CLR181", f"concurrent needs a list of functions, not {function_list!r}")
    for function in function_list:
        if not callable(function):
            fail("CLR181", f"concurrent needs functions, not {function!r}", help="put `lambda: ` before the call")
    with recording() as here:
        if not subtasks:
            return branches.concurrent(function_list)
        wrapped = [_graph(here.recorder, function) for function in function_list]
        return branches.concurrent(wrapped)


def map(  # noqa: A001  Couler's own name for it
    function: Callable[..., Any],
    *arguments: Any,
    parallel: int | None = None,
    max_items: int | None = None,
    tolerate: int = 0,
    name: str = "",
) -> Any:
    """Run a function once for each item of a list; of several lists, for each group of items.

    A list is known now, or the output of a step. An empty list runs nothing. Of what the function returns,
    the result has the lists over the items that succeeded, in order: files become a folder.

    Raises `RecordingError` for lists of different lengths.

    >>> scores = map(lambda size: train(size), [16, 32, 64])  # doctest: +SKIP
    """
    if not callable(function):
        fail("CLR181", f"map needs a function, not {function!r}", help="`lambda item: step(item)`")
    with recording():
        mapped = _Tupled(function)
        lists = [single(argument) for argument in arguments]
        options: dict[str, Any] = {"parallel": parallel, "max_items": max_items, "tolerate": tolerate, "name": name}
        return mapped.listed(fanout.map(mapped, *lists, **options))


def exec_while(condition: Any, inner_while: Callable[[], Any], *, max_iterations: int = 50, name: str = "") -> Any:
    """Run what a function calls, and again while the condition holds for its first output; at least once.

    `condition` is a predicate without a left side, as `equal("tails")`, or a function of the result. The
    result is the last iteration's. Reaching `max_iterations` with the condition still true is a failure.

    Raises `RecordingError` where the function returns no value.

    >>> exec_while(equal("tails"), lambda: flip_coin())  # doctest: +SKIP
    """
    if not callable(inner_while):
        fail("CLR181", f"exec_while needs a function, not {inner_while!r}", help="put `lambda: ` before the call")
    if not isinstance(condition, Open) and not callable(condition):
        fail("CLR181", f"{condition!r} is no condition of exec_while", help='give couler.equal("tails"), or a function')
    body = _Tupled(inner_while)
    with recording():
        if not isinstance(condition, Open):
            return body.listed(loops.exec_while(condition, body, max_iterations=max_iterations, name=name))

        def watched() -> Any:
            found = body()
            looked_at = first_value(body.returned, "exec_while")
            if not isinstance(looked_at, Placeholder):
                fail("CLR181", "the function of exec_while returns no output", help="return what the verb gave")
            return (number(looked_at), found) if condition.numbers and is_text(looked_at) else found

        watched.__name__ = body.__name__
        result = loops.loop(
            watched, until=lambda value: not_(condition.on(_looked_at(value))), max_iterations=max_iterations, name=name
        )
        counted = isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], tuple)
        return body.listed(result[1] if counted else result)


def _looked_at(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) else value


def _graph(recorder: Any, function: Callable[[], Any]) -> Callable[[], Any]:
    def call() -> Any:
        frame = recorder.nested("branch", branches.base_of(function, "", "subtask"))
        frame.previous = []
        value = branches.run(recorder, frame, function)
        if frame.nodes:
            recorder.task(frame, base=frame.base, source=frame.source)
        return value

    call.__name__ = getattr(function, "__name__", "subtask")
    return call


class _Tupled:
    """A function whose lists of outputs are tuples: the values of several outputs, and not one list.

    `listed` makes Couler's list of them again, once they have left a nested graph.
    """

    def __init__(self, function: Callable[..., Any]):
        self.__name__ = getattr(function, "__name__", "function")
        self.__signature__ = _signature(function)
        self._function = function
        self._paths: list[str | None] = []
        self.returned: Any = None

    def __call__(self, *args: Any) -> Any:
        found = self.returned = self._function(*args)
        if not are_outputs(found):
            return found
        kept = [value for value in found if not isinstance(value, OutputEmpty)]
        self._paths = [value.path if isinstance(value, FileValue) else None for value in kept]
        return tuple(kept) or None

    def listed(self, value: Any) -> Any:
        """Couler's list of outputs, where a nested graph gave a tuple of them."""
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            paths = self._paths if len(self._paths) == len(value) else [None] * len(value)
            return [
                item if path is None or item._couler_type is not None else FileValue(item, path)
                for item, path in zip(value, paths, strict=True)
            ]
        if isinstance(value, TaskOutputs) and value._couler_members == {}:
            return [OutputEmpty(value._couler_node)]
        return value


def _signature(function: Callable[..., Any]) -> Any:
    import inspect

    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return inspect.Signature()
