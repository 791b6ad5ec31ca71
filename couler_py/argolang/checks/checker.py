"""The natures of all parts of an expression, from the inside out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from couler_py.argolang import nodes
from couler_py.argolang.checks.natures import (
    BOOL,
    FLOAT,
    INT,
    LIST,
    LISTS,
    MAP,
    NIL,
    NUMBERS,
    OTHER,
    STRING,
    UNKNOWN,
    Nature,
    element_of,
    list_of,
    nature_of,
)
from couler_py.argolang.checks.operators import combined, either
from couler_py.argolang.checks.signatures import METHODS, OVERLOADS, RULES, fits
from couler_py.argolang.functions.regex import RegexProblem, compiled
from couler_py.argolang.nodes import Node
from couler_py.argolang.operators import BUILTINS
from couler_py.argolang.problems import EvaluationProblem

_TESTS = ("all", "none", "any", "one", "filter", "find", "findLast", "findIndex", "findLastIndex", "count")
_RESULTS = {"asInt": UNKNOWN, "asFloat": UNKNOWN, "jsonpath": UNKNOWN, "toJson": STRING}


class Checker:
    """One check: the variables, the local ones, and the lists whose elements `#` stands for."""

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self.variables = variables
        self.local: dict[str, Nature] = {}
        self.lists: list[tuple[Nature, tuple[str, ...]]] = []

    def nature(self, node: Node) -> Nature:
        """The nature of a node. Raises EvaluationProblem for what can't be."""
        return _NATURES[type(node)](self, node)

    def refuse(self, node: Node, message: str) -> EvaluationProblem:
        """A problem at a node."""
        return EvaluationProblem(message, node.start)

    def named(self, node: Node, name: str, *, strict: bool, builtin: bool) -> Nature:
        """The nature of a variable, or of a function of the language that is named like one."""
        if name in self.variables:
            return nature_of(self.variables[name])
        if builtin and name in BUILTINS:
            return OTHER
        if strict:
            raise self.refuse(node, f"there is no variable {name!r}")
        return UNKNOWN


def _identifier(here: Checker, node: nodes.Identifier) -> Nature:
    if node.name in here.local:
        return here.local[node.name]
    return UNKNOWN if node.name == "$env" else here.named(node, node.name, strict=True, builtin=True)


def _pointer(here: Checker, node: nodes.Pointer) -> Nature:
    collection, names = here.lists[-1]
    if not node.name:
        return element_of(collection)
    if node.name not in names:
        raise here.refuse(node, f"there is no '#{node.name}' here")
    return INT if node.name == "index" else UNKNOWN


def _let(here: Checker, node: nodes.Let) -> Nature:
    if node.name in here.variables or node.name in BUILTINS or node.name in here.local:
        raise here.refuse(node, f"{node.name!r} is there already")
    here.local[node.name] = here.nature(node.value)
    try:
        return here.nature(node.body)
    finally:
        del here.local[node.name]


def _unary(here: Checker, node: nodes.Unary) -> Nature:
    given = here.nature(node.operand)
    if node.operator in ("!", "not"):
        if given.kind in ("bool", "unknown"):
            return BOOL
    elif given.kind in (*NUMBERS, "unknown"):
        return given
    raise here.refuse(node, f"{node.operator!r} has no meaning for a {given.kind}")


def _binary(here: Checker, node: nodes.Binary) -> Nature:
    spine = [node]
    while isinstance(spine[-1].left, nodes.Binary):
        spine.append(spine[-1].left)
    left = here.nature(spine[-1].left)
    for operation in reversed(spine):
        right = here.nature(operation.right)
        if operation.operator == "matches" and isinstance(operation.right, nodes.String):
            _pattern(here, operation.right)
        found = combined(operation.operator, left, right)
        if found is None:
            said = f"{operation.operator!r} has no meaning for a {left.kind} and a {right.kind}"
            raise here.refuse(operation, said)
        left = found
    return left


def _pattern(here: Checker, node: nodes.String) -> None:
    try:
        compiled(node.value)
    except RegexProblem as problem:
        if not problem.late:
            raise here.refuse(node, str(problem)) from problem


def _member(here: Checker, node: nodes.Member) -> Nature:
    name = node.property.value if isinstance(node.property, nodes.String) else None
    if isinstance(node.base, nodes.Identifier) and node.base.name == "$env":
        if name is None:
            return UNKNOWN
        return here.named(node, name, strict=not node.optional, builtin=False)
    base, property_ = here.nature(node.base), here.nature(node.property)
    if base.kind == "unknown":
        return UNKNOWN
    if base.kind in METHODS and name is not None and name in METHODS[base.kind]:
        return UNKNOWN
    if base.kind in ("map", "anymap"):
        if base.kind == "map" and property_.kind not in ("string", "unknown"):
            raise here.refuse(node, f"an object has texts as keys, not a {property_.kind}")
        return element_of(base)
    if base.kind in LISTS and name is None:
        if property_.kind not in ("int", "unknown"):
            raise here.refuse(node, f"a list has whole numbers as indexes, not a {property_.kind}")
        return element_of(base)
    raise here.refuse(node, f"a {base.kind} has no {'element' if name is None else repr(name)}")


def _slice(here: Checker, node: nodes.Slice) -> Nature:
    base = here.nature(node.base)
    if base.kind == "unknown":
        return UNKNOWN
    if base.kind not in ("string", *LISTS):
        raise here.refuse(node, f"a {base.kind} can't be sliced")
    for bound in (node.first, node.last):
        if bound is not None and here.nature(bound).kind not in ("int", "unknown"):
            raise here.refuse(bound, "a slice needs whole numbers")
    return base


def _call(here: Checker, node: nodes.Call) -> Nature:
    """What is called: arguments of a function that is known only at run time aren't looked at, as Argo doesn't."""
    callee = node.callee
    if isinstance(callee, nodes.Member) and isinstance(callee.property, nodes.String):
        base = here.nature(callee.base)
        result = METHODS.get(base.kind, {}).get(callee.property.value)
        if result is not None:
            for argument in node.arguments:
                here.nature(argument)
            return result
    nature = here.nature(callee)
    if nature.kind == "unknown":
        return UNKNOWN
    function = nature.function
    if function is None:
        raise here.refuse(node, f"a {nature.kind} can't be called")
    given = [here.nature(each) for each in node.arguments]
    if len(given) != len(function.parameters):
        raise here.refuse(node, f"{function.name} takes {len(function.parameters)} arguments, not {len(given)}")
    for argument, kind, wanted in zip(node.arguments, given, function.parameters, strict=True):
        if not fits(kind, wanted):
            raise here.refuse(argument, f"{function.name} needs a {wanted}, not a {kind.kind}")
    return _RESULTS.get(function.name, UNKNOWN)


def _builtin(here: Checker, node: nodes.Builtin) -> Nature:
    if node.name in here.variables:
        callee = nodes.Identifier(node.start, node.start + len(node.name), node.name)
        return _call(here, nodes.Call(node.start, node.end, callee, node.arguments))
    if node.arguments and any(isinstance(each, nodes.Predicate) for each in node.arguments):
        return _loop(here, node)
    given = [here.nature(each) for each in node.arguments]
    if node.name in ("count", "sum"):
        return _whole_list(here, node, given[0])
    if node.name == "get":
        return _get(here, node, given)
    if node.name in RULES:
        found = RULES[node.name](given)
        if found is None:
            said = ", ".join(each.kind for each in given) or "nothing"
            raise here.refuse(node, f"{node.name} can't be called with {said}")
        return found
    overloads, result = OVERLOADS[node.name]
    for overload in overloads:
        wanted = overload.split()
        if len(wanted) == len(given) and all(map(fits, given, wanted)):
            return result
    said = ", ".join(each.kind for each in given) or "nothing"
    raise here.refuse(node, f"{node.name} can't be called with {said}")


def _get(here: Checker, node: nodes.Builtin, given: list[Nature]) -> Nature:
    if len(given) != 2:
        raise here.refuse(node, f"get takes 2 arguments, not {len(given)}")
    base, name = given
    if base.kind == "unknown":
        return UNKNOWN
    if base.kind in LISTS and name.kind in ("int", "unknown"):
        return element_of(base)
    if base.kind == "anymap" or (base.kind == "map" and name.kind in ("string", "unknown")):
        return element_of(base)
    raise here.refuse(node, f"nothing can be got from a {base.kind} by a {name.kind}")


def _whole_list(here: Checker, node: nodes.Builtin, collection: Nature) -> Nature:
    if collection.kind not in ("unknown", *LISTS):
        raise here.refuse(node, f"{node.name} needs a list, not a {collection.kind}")
    return INT if node.name == "count" else element_of(collection)


def _loop(here: Checker, node: nodes.Builtin) -> Nature:
    collection = here.nature(node.arguments[0])
    if collection.kind not in ("unknown", *LISTS):
        raise here.refuse(node, f"{node.name} needs a list, not a {collection.kind}")
    names = {"map": ("index",), "reduce": ("index", "acc")}.get(node.name, ())
    here.lists.append((collection, names))
    predicate = here.nature(node.arguments[1])
    here.lists.pop()
    for more in node.arguments[2:]:
        here.nature(more)
    if predicate.kind == "nil":
        raise here.refuse(node, f"{node.name} needs a value for each element")
    if node.name in _TESTS and predicate.kind not in ("bool", "unknown"):
        raise here.refuse(node.arguments[1], f"{node.name} needs true or false for each element")
    return _LOOPS[node.name](collection, predicate)


_LOOPS: dict[str, Callable[[Nature, Nature], Nature]] = {
    **dict.fromkeys(("all", "none", "any", "one"), lambda collection, predicate: BOOL),
    "filter": lambda collection, predicate: list_of(element_of(collection)),
    "map": lambda collection, predicate: list_of(predicate),
    **dict.fromkeys(("count", "findIndex", "findLastIndex"), lambda collection, predicate: INT),
    "sum": lambda collection, predicate: predicate,
    **dict.fromkeys(("find", "findLast"), lambda collection, predicate: element_of(collection)),
    "groupBy": lambda collection, predicate: Nature("anymap", LIST),
    "sortBy": lambda collection, predicate: collection,
    "reduce": lambda collection, predicate: predicate,
}


def _conditional(here: Checker, node: nodes.Conditional) -> Nature:
    condition = here.nature(node.condition)
    if condition.kind not in ("bool", "unknown"):
        raise here.refuse(node.condition, f"a {condition.kind} is no condition")
    return either(here.nature(node.yes), here.nature(node.no))


def _array(here: Checker, node: nodes.Array) -> Nature:
    found = [here.nature(each) for each in node.items]
    if len({each.kind for each in found}) > 1 or not found:
        return LIST
    return list_of(found[-1])


def _map(here: Checker, node: nodes.Map) -> Nature:
    for key, value in node.pairs:
        here.nature(key)
        here.nature(value)
    return MAP


_NATURES: dict[type, Callable[[Checker, Any], Nature]] = {
    nodes.Nil: lambda here, node: NIL,
    nodes.Boolean: lambda here, node: BOOL,
    nodes.Integer: lambda here, node: INT,
    nodes.Float: lambda here, node: FLOAT,
    nodes.String: lambda here, node: STRING,
    nodes.Identifier: _identifier,
    nodes.Pointer: _pointer,
    nodes.Unary: _unary,
    nodes.Binary: _binary,
    nodes.Member: _member,
    nodes.Chain: lambda here, node: here.nature(node.body),
    nodes.Slice: _slice,
    nodes.Call: _call,
    nodes.Builtin: _builtin,
    nodes.Predicate: lambda here, node: here.nature(node.body),
    nodes.Let: _let,
    nodes.Sequence: lambda here, node: [here.nature(each) for each in node.items][-1],
    nodes.Conditional: _conditional,
    nodes.Array: _array,
    nodes.Map: _map,
}
