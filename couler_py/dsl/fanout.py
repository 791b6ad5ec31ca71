"""`couler.map`: one run of a function for each item of a list."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Set
from typing import Any, TypeVar

import msgspec

from couler_py.dsl.binding import check_reach
from couler_py.dsl.branches import base_of, need, run
from couler_py.dsl.exporting import again, give, only_of, result
from couler_py.dsl.frames import EachItems, Frame, FrameInputSpec, FrameItem, Node
from couler_py.dsl.lifting import Lifted, holds_placeholder, lift
from couler_py.dsl.placeholder import Placeholder
from couler_py.dsl.problems import fail, problem
from couler_py.ir import expr as ir
from couler_py.ir.model import Each, Sequence
from couler_py.ir.names import legal
from couler_py.ir.types import ANY, INT, STR, ListOf, Type, UnionOf, accepts, describe

Result = TypeVar("Result")
MAX_ITEMS = 1000


class Numbers(msgspec.Struct, frozen=True, eq=False):
    """Numbers as items of a fan-out, made by `couler.sequence`."""

    sequence: Sequence
    type: Type


def sequence(*, count: Any = None, start: Any = None, end: Any = None, form: str = "") -> Numbers:
    """Numbers to map over: `count` of them from `start` (0 if left out), or from `start` to `end`, both included.

    Each may be a value of the workflow. `form` is a printf pattern that makes each a string ("shard-%03d").

    >>> couler.map(work, couler.sequence(count=plan.shards))  # doctest: +SKIP
    """
    if (count is None) == (end is None):
        fail("CLR155", "couler.sequence needs either count or end")
    parts = {"start": start, "end": end, "count": count}
    for name, value in parts.items():
        type_ = INT if value is None else lift(value).type
        if type_ is None or not accepts(INT, type_):
            fail("CLR155", f"{name} of couler.sequence is an int, not {value!r}")
    given = {name: lift(value).expr for name, value in parts.items() if value is not None}
    return Numbers(Sequence(**given, form=form), STR if form else INT)


class _Items(msgspec.Struct, frozen=True, eq=False):
    items: Any
    types: tuple[Type, ...]  # of the item, or of its elements where it is taken apart
    apart: bool = False


def map(  # noqa: A001  Couler's own name for it
    function: Callable[..., Result],
    *lists: Any,
    parallel: int | None = None,
    max_items: int | None = None,
    tolerate: int = 0,
    name: str = "",
) -> Any:
    """Run a function once for each item of a list, all at once; of several lists, for each group of items.

    A list is known now (a list, a tuple, a range), or a value of the workflow, or `couler.sequence`. The
    function calls one step or several. Of what it returns, the caller gets the lists over the items that
    succeeded, in order: `runs.score` is the list of scores, `runs.inputs` the items that match.

    `parallel` bounds how many run at once, `max_items` the length of the list (1,000 by default),
    `tolerate` how many items may fail.

    Raises `RecordingError` for lists of different lengths, and for a function that calls no step.

    >>> runs = couler.map(lambda c: train(data, c), [0.1, 1.0, 10.0])  # doctest: +SKIP
    """
    recorder = need("couler.map")
    if not lists:
        fail("CLR155", "couler.map needs a list", help="couler.map(function, items)")
    limit = MAX_ITEMS if max_items is None else max_items
    _check_limits(parallel, limit, tolerate)
    names = _parameters(function)
    items = _zipped(lists, limit) if len(lists) > 1 else _one(lists[0], names, limit)
    frame = recorder.nested("map", base_of(function, name, "map"))
    frame.previous = []
    single = len(items.types) == 1 and not items.apart
    placed = [
        FrameItem(frame, _item_name(names, index, single), type_, None if single else index)
        for index, type_ in enumerate(items.types)
    ]
    arguments = [Placeholder(leaf, leaf.type, leaf.name, frame.source) for leaf in placed]
    value = run(recorder, frame, lambda: function(*arguments))
    if not frame.nodes:
        fail(
            "CLR154",
            "the function of couler.map calls no step",
            help="call a step in it; what is known now can be computed by a list comprehension",
        )
    each = EachItems(Each(items.items, parallel, limit, tolerate), _item_type(items))
    only = frame.nodes[0]
    if len(frame.nodes) == 1 and _plain(only, frame) and only_of(value, only):
        node = frame.dissolve()
        if name:
            _rename(node, name)
        node.each = each
        _reach(node)
        return again(value, node)
    shape = give(frame, value)
    if frame.base == "map":
        frame.base = f"{frame.nodes[0].base}-map"
    node = recorder.task(frame, name=name, base=frame.base)
    for leaf in placed:
        frame.inputs[leaf.name] = FrameInputSpec(leaf.type)
        whole = ir.Item()
        node.arguments[leaf.name] = whole if leaf.index is None else ir.Access(whole, ir.Literal(leaf.index))
    node.each = each
    _reach(node)
    return result(node, shape)


def _plain(node: Node, frame: Frame) -> bool:
    # A condition on a fan-out is read once, before it expands: a per-item one needs its own graph.
    return node.when is None and node.each is None and not frame.scoped and not node.after and not node.published


def _reach(node: Node) -> None:
    assert node.each is not None
    items = node.each.each.items
    parts = (items.start, items.end, items.count) if isinstance(items, Sequence) else (items,)
    for part in parts:
        if part is not None:
            check_reach(part, node)


def _rename(node: Node, name: str) -> None:
    frame = node.frame
    del frame.names[node.name]
    node.base, node.explicit = name, True
    frame._name(node)


def _check_limits(parallel: int | None, limit: int, tolerate: int) -> None:
    for what, value, least in (("parallel", parallel, 1), ("max_items", limit, 1), ("tolerate", tolerate, 0)):
        if value is not None and (type(value) is not int or value < least):
            fail("CLR155", f"{what} of couler.map is an int of at least {least}, not {value!r}")


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    if not callable(function):
        fail(
            "CLR155",
            f"couler.map needs a function, not {function!r}",
            help="give the step itself, or `lambda item: step(item)`: a call here would happen now, once",
        )
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter for parameter in signature.parameters.values() if parameter.kind in kinds]


def _item_name(parameters: list[inspect.Parameter], index: int, single: bool) -> str:
    if index < len(parameters) and legal("ir", "parameter", parameters[index].name):
        return parameters[index].name
    return "item" if single else f"item-{index + 1}"


def _one(value: Any, parameters: list[inspect.Parameter], limit: int) -> _Items:
    if isinstance(value, Numbers):
        return _Items(value.sequence, (value.type,))
    if isinstance(value, Placeholder):
        lifted = _list(value)
        return _Items(lifted.expr, (_element(lifted),))
    items = _known(value, limit)
    lifted = lift(items)
    required = [parameter for parameter in parameters if parameter.default is inspect.Parameter.empty]
    width = {len(item) if _is_tuple(item) else -1 for item in items}
    if len(width) == 1 and width != {-1} and len(required) == next(iter(width)) > 1:
        columns = list(zip(*items, strict=True))
        return _Items(lifted.expr, tuple(_element(lift(list(column))) for column in columns), apart=True)
    return _Items(lifted.expr, (_element(lifted),))


def _is_tuple(item: Any) -> bool:
    return isinstance(item, tuple) and not hasattr(item, "_fields")


def _zipped(lists: tuple[Any, ...], limit: int) -> _Items:
    known = {index: _known(value, limit) for index, value in enumerate(lists) if not isinstance(value, Placeholder)}
    lengths = {len(items) for items in known.values()}
    if len(lengths) > 1:
        fail(
            "CLR155",
            f"the lists of couler.map have different lengths: {', '.join(str(len(v)) for v in known.values())}",
            why="they are taken together, item by item",
        )
    lifted = [lift(known[index]) if index in known else _list(value) for index, value in enumerate(lists)]
    types = tuple(_element(item) for item in lifted)
    if len(known) == len(lists) and not any(holds_placeholder(items) for items in known.values()):
        rows = [list(row) for row in zip(*known.values(), strict=True)]
        return _Items(lift(rows).expr, types, apart=True)
    return _Items(ir.Zip(tuple(item.expr for item in lifted)), types, apart=True)


def _list(value: Placeholder) -> Lifted:
    members = getattr(value, "_couler_members", None)
    if members:
        help_ = f"map over one of its members: {', '.join(members)}"
        fail("CLR155", f"couler.map needs a list, not {value!r}", help=help_)
    lifted = lift(value)
    type_ = lifted.type
    if isinstance(type_, ListOf | UnionOf) or type_ == ANY:
        return lifted
    what = "a file or folder" if type_ is None else describe(type_)
    help_ = "annotate what returns it `-> list[...]`"
    if type_ is None:
        help_ = "a step can list a folder and return the names"
    elif type_ == INT:
        help_ = "couler.sequence(count=value) gives the numbers below it"
    raise problem("CLR155", f"couler.map needs a list, and {value!r} is {what}", help=help_)


def _element(lifted: Lifted) -> Type:
    type_ = lifted.type
    if not isinstance(type_, ListOf):
        return ANY
    return type_.item


def _known(value: Any, limit: int) -> list[Any]:
    if isinstance(value, str | bytes | dict | Set) or not isinstance(value, Iterable):
        help_ = "for a dict, map over `list(d.items())`" if isinstance(value, dict) else ""
        if isinstance(value, Set):  # each process has an order of its own for it
            help_ = "a set has no order: map over `sorted(...)`"
        fail("CLR155", f"couler.map needs a list, not {value!r}", help=help_)
    items = list(value)
    if len(items) > limit:
        fail(
            "CLR155",
            f"couler.map over {len(items)} items, and max_items is {limit}",
            help=f"say max_items={len(items)} where that many tasks are meant",
        )
    return items


def _item_type(items: _Items) -> Type:
    if not items.apart:
        return items.types[0]
    first = items.types[0]
    return ListOf(first if all(type_ == first for type_ in items.types) else ANY)
