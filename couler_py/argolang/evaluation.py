"""The value of an expression, as Argo's controller computes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from time import time_ns
from typing import Any

from couler_py.argolang import arithmetic, nodes
from couler_py.argolang.checks import checked
from couler_py.argolang.functions.calls import called, method
from couler_py.argolang.functions.catalog import BUILTIN, ENVIRONMENT
from couler_py.argolang.functions.regex import RegexProblem, compiled
from couler_py.argolang.members import fetched, held, sliced
from couler_py.argolang.nodes import Node
from couler_py.argolang.parser import parse
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import AnyMap, Byte, Function, Integers, in_bytes, is_nil, kind

STEPS = 200_000  # ours: how much may be evaluated
MEMORY = 1_000_000  # the language's own budget: the elements of all lists that are made


def evaluate(
    expression: str | Node,
    environment: Mapping[str, Any] | None = None,
    *,
    steps: int = STEPS,
    clock: Callable[[], int] = time_ns,
) -> Any:
    """The value of an expression over variables; Argo's functions are there by themselves.

    `environment` has nested mappings (`expanded` makes them of names with dots); Argo's own values are texts. `steps`
    bounds the work, and `clock` gives the nanoseconds since 1970 to `now()`.

    Raises SyntaxProblem for a text that is no expression, and EvaluationProblem for one that has no value: also, as
    Argo does before it begins, for types that can't fit anywhere in it.

    >>> evaluate("asInt(inputs.parameters.n) + 1", {"inputs": {"parameters": {"n": "2"}}})
    3
    >>> evaluate("map(filter(1..5, # % 2 == 1), {# * 10})")
    [10, 30, 50]
    """
    tree = parse(expression) if isinstance(expression, str) else expression
    variables = {**(environment or {}), **ENVIRONMENT}
    try:
        checked(tree, variables)
        return Evaluation(variables, steps, clock).value(tree)
    except RecursionError:
        raise EvaluationProblem("the expression is nested too deeply") from None
    except MemoryError:
        raise EvaluationProblem("the expression needs too much memory") from None


class Scope:
    """Where a predicate stands: its list, the number of the element, and what `reduce` has so far."""

    __slots__ = ("accumulated", "index", "items")

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = items
        self.index = 0
        self.accumulated: Any = None


class Evaluation:
    """One evaluation: its variables, its budget, and the predicates it stands in."""

    def __init__(self, variables: Mapping[str, Any], steps: int, clock: Callable[[], int]) -> None:
        self.variables = variables
        self.local: dict[str, Any] = {}
        self.scopes: list[Scope] = []
        self.steps = steps
        self.memory = 0
        self.clock = clock

    def value(self, node: Node) -> Any:
        """The value of a node."""
        self.spend(node, 1)
        return _VALUES[type(node)](self, node)

    def spend(self, node: Node, steps: int) -> None:
        """Count work; raises EvaluationProblem when it was too much."""
        self.steps -= steps
        if self.steps < 0:
            raise EvaluationProblem("the expression takes too many steps", node.start)

    def grow(self, node: Node, elements: int) -> None:
        """Count the elements of a list that is made; raises EvaluationProblem when they are too many."""
        self.memory += elements
        if self.memory >= MEMORY:
            raise EvaluationProblem(f"lists of more than {MEMORY:,} elements", node.start)

    def boolean(self, node: Node, what: str) -> bool:
        """The value of a node that must be true or false."""
        return _boolean(self.value(node), node, what)


def _boolean(value: Any, node: Node, what: str) -> bool:
    if not isinstance(value, bool):
        raise EvaluationProblem(f"{what} needs true or false, not a {kind(value)}", node.start)
    return value


# ---- names


def _identifier(here: Evaluation, node: nodes.Identifier) -> Any:
    if node.name in here.local:
        return here.local[node.name]
    return here.variables if node.name == "$env" else here.variables.get(node.name)


def _pointer(here: Evaluation, node: nodes.Pointer) -> Any:
    scope = here.scopes[-1]
    if node.name == "index":
        return scope.index
    if node.name == "acc":
        return scope.accumulated
    if scope.index >= len(scope.items):
        raise EvaluationProblem("the list is empty", node.start)
    return scope.items[scope.index]


def _let(here: Evaluation, node: nodes.Let) -> Any:
    value = here.value(node.value)
    outer = dict(here.local)
    here.local[node.name] = value
    try:
        return here.value(node.body)
    finally:
        here.local = outer


# ---- members


class _AbsentError(Exception):
    """The base of a `?.` is nil: the chain around it is nil."""


def _chain(here: Evaluation, node: nodes.Chain) -> Any:
    try:
        value = here.value(node.body)
    except _AbsentError:
        return None
    return None if is_nil(value) else value


def _member(here: Evaluation, node: nodes.Member) -> Any:
    base = here.value(node.base)
    if node.optional and is_nil(base):
        raise _AbsentError
    return _at(node, lambda: fetched(base, here.value(node.property)))


def _slice(here: Evaluation, node: nodes.Slice) -> Any:
    base = here.value(node.base)
    last = None if node.last is None else here.value(node.last)
    first = None if node.first is None else here.value(node.first)
    return _at(node, lambda: sliced(base, first, last))


def _at(node: Node, compute: Callable[[], Any]) -> Any:
    """What is computed, with the place of the node at the problems that have none."""
    try:
        return compute()
    except EvaluationProblem as problem:
        if problem.offset is not None:
            raise
        raise EvaluationProblem(problem.message, node.start, late=problem.late) from problem


# ---- operators


def _unary(here: Evaluation, node: nodes.Unary) -> Any:
    value = here.value(node.operand)
    if node.operator in ("not", "!"):
        return not _boolean(value, node, repr(node.operator))
    return value if node.operator == "+" else _at(node, lambda: arithmetic.negated(value))


def _binary(here: Evaluation, node: nodes.Binary) -> Any:
    """Operators of one rank lean to the left, and there may be hundreds: they are walked down, not recursed into."""
    spine = [node]
    while _constant(spine[-1]) is None and isinstance(spine[-1].left, nodes.Binary):
        spine.append(spine[-1].left)
    value = None if _constant(spine[-1]) is not None else here.value(spine[-1].left)
    for operation in reversed(spine):
        here.spend(operation, 1)
        value = _operated(here, operation, value)
    return value


def _constant(node: nodes.Binary) -> bool | None:
    """`x && false` and `x || true` are known without x."""
    right = _written(node.right)
    if right is False and node.operator in ("&&", "and"):
        return False
    return True if right is True and node.operator in ("||", "or") else None


def _written(node: Node) -> bool | None:
    """The value of a `true` or `false` that stands in the text, with any number of `not` before it."""
    yes = True
    while isinstance(node, nodes.Unary) and node.operator in ("not", "!"):
        node, yes = node.operand, not yes
    return node.value is yes if isinstance(node, nodes.Boolean) else None


def _operated(here: Evaluation, node: nodes.Binary, left: Any) -> Any:
    operator = node.operator
    if operator in ("&&", "and", "||", "or"):
        return _logical(here, node, left)
    if operator == "??":
        return here.value(node.right) if is_nil(left) else left
    if operator == "in":
        return _contained(here, node, left)
    right = here.value(node.right)
    if operator == "..":
        return _range(here, node, left, right)
    if operator == "matches":
        here.spend(node, len(left) if isinstance(left, str) else 0)
        return _at(node, lambda: _matches(left, right))
    if operator == "+" and isinstance(left, str) and isinstance(right, str):
        here.spend(node, (len(left) + len(right)) // 100)
    return _at(node, lambda: arithmetic.OPERATIONS[operator](left, right))


def _logical(here: Evaluation, node: nodes.Binary, left: Any) -> Any:
    constant = _constant(node)
    if constant is not None:
        return constant
    both = node.operator in ("&&", "and")
    if _written(node.right) is not None:
        return left
    first = _boolean(left, node.left, repr(node.operator))
    return here.value(node.right) if first is both else first


def _contained(here: Evaluation, node: nodes.Binary, needle: Any) -> Any:
    items = node.right
    if isinstance(items, nodes.Binary) and items.operator == ".." and type(needle) is int:
        first, last = here.value(items.left), here.value(items.right)
        if type(first) is int and type(last) is int:
            return first <= needle <= last
    strings = (
        isinstance(items, nodes.Array) and items.items and all(isinstance(each, nodes.String) for each in items.items)
    )
    right = here.value(items)
    here.spend(node, len(right) if isinstance(right, list) else 0)
    return _at(node, lambda: held(dict.fromkeys(right) if strings else right, needle))


def _range(here: Evaluation, node: Node, left: Any, right: Any) -> Any:
    first, last = _at(node, lambda: (arithmetic.whole(left), arithmetic.whole(right)))
    size = max(last - first + 1, 0)
    here.grow(node, size)
    here.spend(node, size // 10)
    return Integers(range(first, first + size))


def _matches(left: Any, right: Any) -> bool:
    if is_nil(left) or is_nil(right):
        return False
    if not isinstance(left, str) or not isinstance(right, str):
        raise EvaluationProblem(f"'matches' needs two texts, not a {kind(left)} and a {kind(right)}")
    try:
        return compiled(right).search(left) is not None
    except RegexProblem as problem:
        raise EvaluationProblem(str(problem), late=problem.late) from problem


def _conditional(here: Evaluation, node: nodes.Conditional) -> Any:
    return here.value(node.yes if here.boolean(node.condition, "a condition") else node.no)


def _sequence(here: Evaluation, node: nodes.Sequence) -> Any:
    return [here.value(each) for each in node.items][-1]


def _array(here: Evaluation, node: nodes.Array) -> Any:
    here.grow(node, len(node.items))
    return [here.value(each) for each in node.items]


def _map(here: Evaluation, node: nodes.Map) -> Any:
    here.grow(node, len(node.pairs))
    made = {}
    for key_node, value_node in node.pairs:
        key = here.value(key_node)
        made[key if isinstance(key, str) else _no_key(key_node, key)] = here.value(value_node)
    return made


def _no_key(node: Node, key: Any) -> str:
    raise EvaluationProblem(f"the key of an object must be a text, not a {kind(key)}", node.start)


# ---- calls


def _call(here: Evaluation, node: nodes.Call) -> Any:
    arguments = [here.value(each) for each in node.arguments]
    callee = node.callee
    if isinstance(callee, nodes.Member) and isinstance(callee.property, nodes.String):
        base = here.value(callee.base)
        if callee.optional and is_nil(base):
            raise _AbsentError
        name = callee.property.value
        bound = method(base, name)
        function = bound if bound is not None else _at(node, lambda: fetched(base, name))
    else:
        function = here.value(callee)
    if not isinstance(function, Function):
        raise EvaluationProblem(f"a {kind(function)} can't be called", node.start)
    here.spend(node, _cost(function.name, arguments))
    return _at(node, lambda: called(function, arguments, here.clock))


def _cost(name: str, arguments: list[Any]) -> int:
    """The steps that a call counts for: by what it is given, and by the square where all is compared with all."""
    size = 5
    for value in arguments:
        if isinstance(value, str):
            size += len(value) if "egex" in name else len(value) // 10
        elif isinstance(value, list | dict):
            size += len(value)
    return size * size // 20 if name.lower().endswith("uniq") else size


def _builtin(here: Evaluation, node: nodes.Builtin) -> Any:
    if node.name in here.variables:  # a variable of the same name takes the place of the function
        callee = nodes.Identifier(node.start, node.start + len(node.name), node.name)
        return _call(here, nodes.Call(node.start, node.end, callee, node.arguments))
    if node.name in _LOOPS:
        if node.name == "sum" and (added := _sum_of_array(here, node)) is not None:
            return added[0]
        items = _items(here, node)
        scope = Scope(items)
        here.scopes.append(scope)
        try:
            return _LOOPS[node.name](here, node, scope)
        finally:
            here.scopes.pop()
    arguments = [here.value(each) for each in node.arguments]
    here.spend(node, _cost(node.name, arguments))
    value = _at(node, lambda: called(BUILTIN[node.name], arguments, here.clock, zeros=False))
    if isinstance(value, list | str):
        here.grow(node, len(value) if node.name in ("repeat", "reverse", "concat", "flatten", "sort") else 0)
    return value


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
        total = _at(node, lambda left=left, total=total: arithmetic.OPERATIONS["+"](left, total))  # type: ignore[misc]
    return (total,)


Loop = Callable[[Evaluation, nodes.Builtin, Scope], Any]


def _each(here: Evaluation, node: nodes.Builtin, scope: Scope, *, backwards: bool = False) -> Iterator[Any]:
    """The value of the predicate for each element (the element itself where there is none), in turn."""
    indexes = range(len(scope.items))
    for scope.index in reversed(indexes) if backwards else indexes:
        here.spend(node, 1)
        yield here.value(node.arguments[1]) if len(node.arguments) > 1 else scope.items[scope.index]


def _tested(here: Evaluation, node: nodes.Builtin, scope: Scope, *, backwards: bool = False) -> Iterator[bool]:
    for value in _each(here, node, scope, backwards=backwards):
        yield _boolean(value, node.arguments[-1], node.name)


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
        total = _at(node, lambda value=value, total=total: arithmetic.OPERATIONS["+"](value, total))  # type: ignore[misc]
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
    places = _at(node, lambda: arithmetic.order(keys, reverse=order == "desc"))
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

_VALUES: dict[type, Callable[[Evaluation, Any], Any]] = {
    nodes.Nil: lambda here, node: None,
    nodes.Boolean: lambda here, node: node.value,
    nodes.Integer: lambda here, node: node.value,
    nodes.Float: lambda here, node: node.value,
    nodes.String: lambda here, node: node.value,
    nodes.Identifier: _identifier,
    nodes.Pointer: _pointer,
    nodes.Unary: _unary,
    nodes.Binary: _binary,
    nodes.Member: _member,
    nodes.Chain: _chain,
    nodes.Slice: _slice,
    nodes.Call: _call,
    nodes.Builtin: _builtin,
    nodes.Predicate: lambda here, node: here.value(node.body),
    nodes.Let: _let,
    nodes.Sequence: _sequence,
    nodes.Conditional: _conditional,
    nodes.Array: _array,
    nodes.Map: _map,
}
