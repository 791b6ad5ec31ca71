"""Fan-outs as calls of `couler.map`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from couler_py.ir import expr as x
from couler_py.ir.model import Each, Sequence, Task
from couler_py.printer import loops
from couler_py.printer.expressions import Expressions
from couler_py.printer.layout import Doc, Named, call, items, keyword
from couler_py.printer.literal import literal, quoted
from couler_py.printer.options import UnsayableError

if TYPE_CHECKING:
    from couler_py.printer.graphs import GraphText

MAX_ITEMS = 1000
"""Most items of a fan-out that doesn't say how many."""


def fan_out(graph: GraphText, task: Task) -> tuple[Doc, list[str]]:
    """The call of a fan-out, and the function that it maps where that has several steps."""
    assert task.each is not None
    name: list[Doc] = []
    before: list[str] = []
    if graph.is_in_place(task):
        parameters = _item_parameters(task)
        function, before = graph.in_place(task, graph.called(task), tuple(parameters))
        named = graph.frame_name(task, function)
        name = [] if named is None else [keyword("name", quoted(named))]
        first: Doc = function
        lists = _lists(graph, task.each, len(parameters) if _apart(task, parameters) else 0)
    else:
        first, lists = _mapped(graph, task, task.each)
    return call("couler.map", first, *lists, *_bounds(task.each), *name), before


def _mapped(graph: GraphText, task: Task, each: Each) -> tuple[Doc, list[Doc]]:
    only = task.arguments[0] if len(task.arguments) == 1 and not task.artifacts else None
    callee = graph.around.callees.get(str(task.call))
    if callee and only is not None and only.value == x.Item() and callee.places[:1] == (only.name,):
        if task.name not in graph.given:
            return callee.variable, _lists(graph, each, 0)
        return f"{callee.variable}.named({quoted(graph.given[task.name])})", _lists(graph, each, 0)
    names = graph.names.inner()
    apart = _width(each) if _only_elements(task) else 0
    places: dict[int | None, str] = {}
    for index in range(apart):
        places[index] = names.free(*_read_as(task, index), f"item_{index + 1}")
    if not apart:
        places[None] = names.free(*_read_as(task, None), "item")
    inner = Expressions(msgspec.structs.replace(graph.scope, items=lambda index: places.get(index)))
    template = graph.called(task)
    if graph.is_loop(template):
        doc, before = loops.loop(graph, task, template, inner)
        if before:
            raise UnsayableError("a fan-out of a loop over several steps")
    else:
        doc, _ = graph.plain_call(task, inner)
    return Named((f"lambda {', '.join(places.values())}: ",), doc), _lists(graph, each, apart)


def _lists(graph: GraphText, each: Each, apart: int) -> list[Doc]:
    match each.items:
        case Sequence() as sequence:
            return [_sequence(graph, sequence)]
        case x.Zip(lists=lists):
            return [graph.expressions.doc(one) for one in lists]
        case x.Literal(value=list(rows)) if apart:
            return [items(literal(tuple(row)) for row in rows)]
        case x.Literal(value=value) if not isinstance(value, list):
            raise UnsayableError("a fan-out over no list")
        case other:
            return [graph.expressions.doc(other)]


def _sequence(graph: GraphText, sequence: Sequence) -> Doc:
    named: dict[str, Doc] = {}
    for name in ("count", "start", "end"):
        value = getattr(sequence, name)
        if value is not None:
            named[name] = graph.expressions.doc(value)
    if sequence.form:
        named["form"] = quoted(sequence.form)
    return call("couler.sequence", **named)


def _bounds(each: Each) -> list[Doc]:
    found: list[Doc] = []
    if each.parallel is not None:
        found.append(keyword("parallel", repr(each.parallel)))
    if each.max_items != MAX_ITEMS:
        found.append(keyword("max_items", repr(each.max_items)))
    if each.tolerate:
        found.append(keyword("tolerate", repr(each.tolerate)))
    return found


def _item_parameters(task: Task) -> list[str]:
    return [argument.name for argument in task.arguments if _element(argument.value) is not None]


def _element(expr: x.Expr) -> int | None:
    """-1 for the item, the index for an element of it, None for anything else."""
    if expr == x.Item():
        return -1
    if isinstance(expr, x.Access) and expr.value == x.Item() and isinstance(expr.key, x.Literal):
        return expr.key.value if type(expr.key.value) is int else None
    return None


def _apart(task: Task, parameters: list[str]) -> bool:
    found = [_element(argument.value) for argument in task.arguments if argument.name in parameters]
    return found == list(range(len(found)))


def _only_elements(task: Task) -> bool:
    """Whether a task reads elements of its item, never the whole."""
    values = [argument.value for argument in task.arguments]
    whole_items = sum(1 for value in values for node in x.walk(value) if node == x.Item())
    elements = sum(1 for value in values for node in x.walk(value) if (_element(node) or 0) >= 0 and _is_element(node))
    return whole_items == elements > 0


def _is_element(node: x.Expr) -> bool:
    return isinstance(node, x.Access) and _element(node) is not None


def _width(each: Each) -> int:
    """How many elements each item has, where that is known and the DSL takes them apart; else 0."""
    if isinstance(each.items, x.Zip):
        return len(each.items.lists)
    if isinstance(each.items, x.Literal) and isinstance(each.items.value, list):
        widths = {len(row) if isinstance(row, list) else 0 for row in each.items.value}
        return widths.pop() if len(widths) == 1 and min(widths) > 1 else 0
    return 0


def _read_as(task: Task, index: int | None) -> list[str]:
    """The names of the inputs that get the item, or an element of it."""
    wanted = -1 if index is None else index
    return [argument.name for argument in task.arguments if _element(argument.value) == wanted][:1]
