"""The functions that evaluate something for each element of a list: `filter`, `map`, `reduce` and their kin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from couler_py.argolang import arithmetic, nodes
from couler_py.argolang.nodes import Node
from couler_py.argolang.problems import EvaluationProblem, placed
from couler_py.argolang.values import AnyMap, Byte, in_bytes, kind

if TYPE_CHECKING:
    from couler_py.argolang.evaluation import Evaluation


class Scope:
    """Where a predicate stands: its list, the number of the element, and what `reduce` has so far."""

    __slots__ = ("accumulated", "index", "items")

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = items
        self.index = 0
        self.accumulated: Any = None


def boolean(value: Any, node: Node, what: str) -> bool:
    """A value that must be true or false; raises EvaluationProblem for any other."""
    if not isinstance(value, bool):
        raise EvaluationProblem(f"{what} needs true or false, not a {kind(value)}", node.start)
    return value


def looped(here: Evaluation, node: nodes.Builtin) -> Any:
    """The value of a function that evaluates something for each element of a list."""
    if node.name == "sum" and (added := _sum_of_array(here, node)) is not None:
        return added[0]
    scope = Scope(_items(here, node))
    here.scopes.append(scope)
    try:
        return _LOOPS[node.name](here, node, scope)
    finally:
        here.scopes.pop()


def _items(here: Evaluation, node: nodes.Builtin) -> Sequence[Any]:
    """The elements of a list; those of a text are its bytes."""
    items = here.value(node.arguments[0])
    if isinstance(items, str):
        return [Byte(each) for each in in_bytes(items)]
    if items == {}:
        return []
    if not isinstance(items, list):
        raise EvaluationProblem(f"{node.name} needs a list, not a {kind(items)}", node.start)
    return items


def _sum_of_array(here: Evaluation, node: nodes.Builtin) -> tuple[Any] | None:
    """`sum([a, b])` is `a + b`, even of texts."""
    listed = node.arguments[0]
    if len(node.arguments) != 1 or not isinstance(listed, nodes.Array) or len(listed.items) < 2:
        return None
    if all(isinstance(each, nodes.Integer | nodes.Float | nodes.String | nodes.Boolean) for each in listed.items):
        return None
    values = [here.value(each) for each in listed.items]
    total = values.pop()
    while values:
        left = values.pop()
        total = placed(node.start, lambda left=left, total=total: arithmetic.OPERATIONS["+"](left, total))  # type: ignore[misc]
    return (total,)


Loop = Callable[["Evaluation", nodes.Builtin, Scope], Any]


def _each(here: Evaluation, node: nodes.Builtin, scope: Scope, *, backwards: bool = False) -> Iterator[Any]:
    """The value of the predicate for each element (the element itself where there is none), in turn."""
    indexes = range(len(scope.items))
    for scope.index in reversed(indexes) if backwards else indexes:
        here.spend(node, 1)
        yield here.value(node.arguments[1]) if len(node.arguments) > 1 else scope.items[scope.index]


def _tested(here: Evaluation, node: nodes.Builtin, scope: Scope, *, backwards: bool = False) -> Iterator[bool]:
    for value in _each(here, node, scope, backwards=backwards):
        yield boolean(value, node.arguments[-1], node.name)


def _found(here: Evaluation, node: nodes.Builtin, scope: Scope) -> Any:
    for yes in _tested(here, node, scope, backwards="Last" in node.name):
        if yes:
            return scope.index if node.name.endswith("Index") else scope.items[scope.index]
    return None


def _filter(here: Evaluation, node: nodes.Builtin, scope: Scope) -> Any:
    kept = [scope.items[scope.index] for yes in _tested(here, node, scope) if yes]
    here.grow(node, len(kept))
    return kept


def _mapped(here: Evaluation, node: nodes.Builtin, scope: Scope) -> Any:
    here.grow(node, len(scope.items))
    return list(_each(here, node, scope))


def _sum(here: Evaluation, node: nodes.Builtin, scope: Scope) -> Any:
    total: Any = 0
    for value in _each(here, node, scope):
        total = placed(node.start, lambda value=value, total=total: arithmetic.OPERATIONS["+"](value, total))  # type: ignore[misc]
    return total


def _grouped(here: Evaluation, node: nodes.Builtin, scope: Scope) -> Any:
    groups = AnyMap()
    for key in _each(here, node, scope):
        if isinstance(key, list | dict):
            raise EvaluationProblem(f"a {kind(key)} can't be the key of a group", node.start)
        groups.setdefault(key, []).append(scope.items[scope.index])
    return groups


def _sorted(here: Evaluation, node: nodes.Builtin, scope: Scope) -> Any:
    order = here.value(node.arguments[2]) if len(node.arguments) > 2 else "asc"
    if order not in ("asc", "desc"):
        raise EvaluationProblem("the order must be 'asc' or 'desc'", node.start)
    keys = list(_each(here, node, scope))
    here.grow(node, len(keys))
    places = placed(node.start, lambda: arithmetic.order(keys, reverse=order == "desc"))
    return [scope.items[place] for place in places]


def _reduced(here: Evaluation, node: nodes.Builtin, scope: Scope) -> Any:
    first = 0
    if len(node.arguments) > 2:
        scope.accumulated = here.value(node.arguments[2])
    elif scope.items:
        scope.accumulated, first = scope.items[0], 1
    else:
        raise EvaluationProblem("reduce of an empty list needs a first value", node.start)
    for number in range(first, len(scope.items)):
        scope.index = number
        scope.accumulated = here.value(node.arguments[1])
    return scope.accumulated


_LOOPS: dict[str, Loop] = {
    "all": lambda here, node, scope: all(_tested(here, node, scope)),
    "any": lambda here, node, scope: any(_tested(here, node, scope)),
    "none": lambda here, node, scope: not any(_tested(here, node, scope)),
    "one": lambda here, node, scope: sum(list(_tested(here, node, scope))) == 1,
    "count": lambda here, node, scope: sum(list(_tested(here, node, scope))),
    "filter": _filter,
    "map": _mapped,
    "sum": _sum,
    **dict.fromkeys(("find", "findIndex", "findLast", "findLastIndex"), _found),
    "groupBy": _grouped,
    "sortBy": _sorted,
    "reduce": _reduced,
}
