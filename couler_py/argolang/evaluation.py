"""The value of an expression, as Argo's controller computes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import time_ns
from typing import Any

from couler_py.argolang import nodes
from couler_py.argolang.checks import checked
from couler_py.argolang.functions.calls import called, method
from couler_py.argolang.functions.catalog import BUILTIN, ENVIRONMENT
from couler_py.argolang.loops import Scope, boolean, looped
from couler_py.argolang.members import fetched, sliced
from couler_py.argolang.nodes import Node
from couler_py.argolang.operating import binary, unary
from couler_py.argolang.operators import PREDICATES
from couler_py.argolang.parser import parse
from couler_py.argolang.problems import EvaluationProblem, placed
from couler_py.argolang.values import Function, is_nil, kind

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
        return boolean(self.value(node), node, what)


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
    return placed(node.start, lambda: fetched(base, here.value(node.property)))


def _slice(here: Evaluation, node: nodes.Slice) -> Any:
    base = here.value(node.base)
    last = None if node.last is None else here.value(node.last)
    first = None if node.first is None else here.value(node.first)
    return placed(node.start, lambda: sliced(base, first, last))


# ---- wholes


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
        function = bound if bound is not None else placed(node.start, lambda: fetched(base, name))
    else:
        function = here.value(callee)
    if not isinstance(function, Function):
        raise EvaluationProblem(f"a {kind(function)} can't be called", node.start)
    here.spend(node, _cost(function.name, arguments))
    return placed(node.start, lambda: called(function, arguments, here.clock))


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
    if node.name in PREDICATES:
        return looped(here, node)
    arguments = [here.value(each) for each in node.arguments]
    here.spend(node, _cost(node.name, arguments))
    value = placed(node.start, lambda: called(BUILTIN[node.name], arguments, here.clock, zeros=False))
    if isinstance(value, list | str):
        here.grow(node, len(value) if node.name in ("repeat", "reverse", "concat", "flatten", "sort") else 0)
    return value


_VALUES: dict[type, Callable[[Evaluation, Any], Any]] = {
    nodes.Nil: lambda here, node: None,
    nodes.Boolean: lambda here, node: node.value,
    nodes.Integer: lambda here, node: node.value,
    nodes.Float: lambda here, node: node.value,
    nodes.String: lambda here, node: node.value,
    nodes.Identifier: _identifier,
    nodes.Pointer: _pointer,
    nodes.Unary: unary,
    nodes.Binary: binary,
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
