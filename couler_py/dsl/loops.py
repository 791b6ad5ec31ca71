"""`couler.loop` and `couler.exec_while`: a body that runs again and again, carrying values."""

from __future__ import annotations

import inspect
import pathlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from couler_py.dsl.binding import file_argument
from couler_py.dsl.branches import base_of, need, run
from couler_py.dsl.compute import condition as condition_of
from couler_py.dsl.compute import not_
from couler_py.dsl.exporting import Shape, built, give, leaves, result
from couler_py.dsl.frames import Frame, FrameInput, FrameInputSpec, LoopCall, Node, Reference, every_leaf, home
from couler_py.dsl.lifting import lift
from couler_py.dsl.placeholder import Placeholder
from couler_py.dsl.problems import fail
from couler_py.dsl.recorder import Recorder
from couler_py.dsl.sources import caller
from couler_py.ir import expr as ir
from couler_py.ir.model import InputArtifact, Source, Template
from couler_py.ir.types import Type, accepts, describe, join

Result = TypeVar("Result")
_NOTHING: Any = object()


class _Carried(msgspec.Struct, eq=False):
    """A value carried from one iteration to the next: `first` is what the first gets."""

    first: Any
    type: Type | None


class _Recorded(msgspec.Struct, eq=False):
    """A body as it was recorded: `carry` names, for each carried value, the output that becomes it."""

    frame: Frame
    shape: Shape
    carry: dict[str, str]


def loop(
    body: Callable[..., Result],
    *,
    until: Callable[[Result], Any],
    initial: Any = _NOTHING,
    carry: Mapping[str, str] | None = None,
    max_iterations: int = 50,
    name: str = "",
) -> Result:
    """Run a body until a condition over its results is true, at least once; the result is the last one's.

    `initial` is what the first iteration gets: one value for a body with one parameter, a tuple for
    several, or a dict by parameter name. What each later iteration gets is the result before it: the whole
    of it, or its member with the parameter's name, or the one that `carry` names for the parameter.
    Reaching `max_iterations` without the condition is a failure.

    Raises `RecordingError` where a carried value has no result of its name, or one of another type.

    >>> best = couler.loop(  # doctest: +SKIP
    ...     lambda state: improve(data, state), until=lambda r: r.loss < 0.1, initial=start, carry={"state": "model"}
    ... )
    """
    recorder = need("couler.loop")
    _check(body, until, max_iterations)
    source = caller()
    carried = _initial(body, initial)
    recorded = _record(recorder, body, carried, carry or {}, name, source)
    wider = _widened(recorded, carried)
    if wider:
        # An int to begin with and floats after it: the body is read again with the type that holds both.
        carried = {
            key: msgspec.structs.replace(value, type=wider.get(key, value.type)) for key, value in carried.items()
        }
        recorded = _record(recorder, body, carried, carry or {}, name, source)
        _widened(recorded, carried, final=True)
    return _task(recorder, recorded, carried, until, max_iterations, name, source)  # type: ignore[no-any-return]


def exec_while(
    condition: Callable[[Result], Any], body: Callable[[], Result], *, max_iterations: int = 50, name: str = ""
) -> Result:
    """Run a body, and again while the condition over its result is true; the result is the last one's.

    >>> last = couler.exec_while(lambda face: face == "tails", lambda: flip_coin())  # doctest: +SKIP
    """
    if not callable(condition):
        fail("CLR156", f"the condition of exec_while is a function, not {condition!r}", help="`lambda result: ...`")
    return loop(body, until=lambda value: not_(condition(value)), max_iterations=max_iterations, name=name)


def _check(body: Any, until: Any, max_iterations: Any) -> None:
    if not callable(body) or not callable(until):
        what, found = ("the body", body) if not callable(body) else ("until", until)
        fail("CLR156", f"{what} of a loop is a function, not {found!r}", help="put `lambda` before it")
    if isinstance(max_iterations, bool) or not isinstance(max_iterations, int) or max_iterations < 1:
        fail("CLR156", f"max_iterations is an int of at least 1, not {max_iterations!r}")


def _initial(body: Callable[..., Any], initial: Any) -> dict[str, _Carried]:
    try:
        parameters = list(inspect.signature(body).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    required = [p.name for p in parameters if p.default is p.empty and p.name in names]
    if initial is _NOTHING:
        given: dict[str, Any] = {}
    elif isinstance(initial, dict) and (len(required) != 1 or set(initial) == set(required)):
        given = dict(initial)
    elif isinstance(initial, tuple) and len(required) > 1:
        if len(initial) != len(required):
            fail("CLR156", f"the body takes {len(required)} values, and initial has {len(initial)}")
        given = dict(zip(required, initial, strict=True))
    else:
        if not names:
            fail("CLR156", "initial is given, but the body takes no argument", help="`lambda state: ...`")
        given = {names[0]: initial}
    missing = [name for name in required if name not in given]
    unknown = [name for name in given if name not in names]
    if missing or unknown:
        which = missing[0] if missing else unknown[0]
        fail(
            "CLR156",
            f"the body takes {', '.join(names) or 'nothing'}, and initial gives {', '.join(given) or 'nothing'}",
            help=f"initial has a value for each parameter of the body: see {which!r}",
        )
    return {name: _carried(value) for name, value in given.items()}


def _carried(value: Any) -> _Carried:
    if isinstance(value, pathlib.PurePath):
        return _Carried(value, None)
    return _Carried(value, lift(value).type)


def _record(
    recorder: Recorder,
    body: Callable[..., Any],
    carried: dict[str, _Carried],
    carry: Mapping[str, str],
    name: str,
    source: Source,
) -> _Recorded:
    frame = recorder.nested("loop", base_of(body, name, "loop"), source)
    frame.previous = []
    arguments = {}
    for key, value in carried.items():
        frame.inputs[key] = FrameInputSpec(value.type)
        leaf = FrameInput(frame, key, artifact=value.type is None)
        arguments[key] = Placeholder(leaf, value.type, key, source)
    value = run(recorder, frame, lambda: body(**arguments))
    if not frame.nodes:
        fail("CLR154", "the body of a loop calls no step", source=source)
    shape = give(frame, value)
    return _Recorded(frame, shape, {key: _output_for(frame, key, carried, carry) for key in carried})


def _output_for(frame: Frame, key: str, carried: dict[str, _Carried], carry: Mapping[str, str]) -> str:
    wanted = carry.get(key)
    if wanted is None:
        wanted = "result" if key not in frame.outputs and len(carried) == 1 else key
    if wanted not in frame.outputs:
        found = ", ".join(frame.outputs) or "nothing"
        fail(
            "CLR156",
            f"no result becomes {key!r} of the next iteration: the body returns {found}",
            source=frame.source,
            help=f'name one: carry={{"{key}": "<member>"}}',
        )
    return wanted


def _widened(recorded: _Recorded, carried: dict[str, _Carried], final: bool = False) -> dict[str, Type]:
    found: dict[str, Type] = {}
    for key, output in recorded.carry.items():
        given, type_ = carried[key].type, recorded.frame.outputs[output].type
        if given is not None and type_ is not None and accepts(given, type_):
            continue
        if given is None and type_ is None:
            continue
        if given is None or type_ is None or final or not accepts(type_, given):
            shown = ["a file" if each is None else describe(each) for each in (given, type_)]
            fail(
                "CLR156",
                f"{key!r} begins as {shown[0]}, and the body makes it {shown[1]}",
                source=recorded.frame.source,
                why="the next iteration gets what the one before returned",
                help="begin with a value of the type that the body returns",
            )
        found[key] = join((given, type_))
    return found


def _task(
    recorder: Recorder,
    recorded: _Recorded,
    carried: dict[str, _Carried],
    until: Callable[[Any], Any],
    max_iterations: int,
    name: str,
    source: Source,
) -> Any:
    frame, shape = recorded.frame, recorded.shape
    base = frame.base if frame.base != "loop" else f"{frame.nodes[0].base}-loop"
    step = _direct(frame)
    own = {leaf.name: leaf.name for leaf in leaves(shape)}
    if step is not None:
        own = {leaf.name: frame.outputs[leaf.name].expr.name for leaf in leaves(shape)}
    condition = _until(recorder, frame, shape, own, until)
    outputs = {leaf.name: (own[leaf.name], leaf.type) for leaf in leaves(shape)}
    if step is None:
        carry = tuple((output, key) for key, output in recorded.carry.items())
        frame.base = f"{base}-body"
        call = LoopCall(base, frame, condition, carry, outputs, max_iterations, source)
    else:
        assert isinstance(step.call, Template)
        pairs = [
            (own[recorded.carry[value.name]], target)
            for target, value in (*step.arguments.items(), *step.artifacts.items())
            if isinstance(value, FrameInput) and value.frame is frame
        ]
        call = LoopCall(base, step.call, condition, tuple(pairs), outputs, max_iterations, source)
    node = Node(recorder.frame, call, name or base, source, explicit=bool(name))
    if step is None:
        frame.callers.append(node)
        for key, value in carried.items():
            _give_first(node, key, value)
    else:
        for target, value in (*step.arguments.items(), *step.artifacts.items()):
            if isinstance(value, FrameInput) and value.frame is frame:
                _give_first(node, target, carried[value.name])
            elif target in step.arguments:
                node.arguments[target] = value
            else:
                node.artifacts[target] = value
    recorder.frame.add(node)
    return result(node, shape)


def _give_first(node: Node, target: str, value: _Carried) -> None:
    if value.type is None:
        node.artifacts[target] = file_argument(node, InputArtifact(target), value.first)
    else:
        node.arguments[target] = lift(value.first).expr


def _until(recorder: Recorder, frame: Frame, shape: Shape, own: dict[str, str], until: Callable[[Any], Any]) -> Any:
    def value(leaf: Any) -> Placeholder:
        return Placeholder(ir.Own(own[leaf.name]), leaf.type, leaf.name, frame.source)

    before = len(frame.nodes)
    with recorder.inside(frame):
        condition = until(built(shape, value))
    if len(frame.nodes) != before:
        fail("CLR156", "until calls a step", source=frame.source, help="call it in the body and return what it gives")
    return condition_of(condition)


def _direct(frame: Frame) -> Node | None:
    """The only step of a body, where the loop can call it without a graph between."""
    if len(frame.nodes) != 1 or frame.scoped:
        return None
    (node,) = frame.nodes
    if not isinstance(node.call, Template) or node.when is not None or node.each is not None:
        return None
    if node.after or node.hooks or node.published:
        return None
    for output in frame.outputs.values():
        expr = output.expr
        if not (isinstance(expr, Reference) and expr.node is node and expr.kind in ("output", "artifact")):
            return None
    used = set()
    for value in (*node.arguments.values(), *node.artifacts.values()):
        if isinstance(value, FrameInput) and value.frame is frame:
            used.add(value.name)
        elif any(home(leaf) is frame for leaf in every_leaf(value)):
            return None
    return node if used == set(frame.inputs) else None
