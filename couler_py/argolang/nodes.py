"""The tree of an expression. Every node knows its place: `start` and `end` are offsets into the text, in characters.

Source of the language: github.com/expr-lang/expr 1.17.7, the version that Argo Workflows 4.0.7 is built with.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


class Node(msgspec.Struct, frozen=True):
    """A piece of an expression, from `start` up to `end` of its text."""

    start: int
    end: int


class Nil(Node, frozen=True):
    """`nil`."""


class Boolean(Node, frozen=True):
    """`true` or `false`."""

    value: bool


class Integer(Node, frozen=True):
    """`12`, `0xff`, `1_000`: a signed integer of 64 bits."""

    value: int


class Float(Node, frozen=True):
    """`1.5`, `.5`, `1e3`: a double."""

    value: float


class String(Node, frozen=True):
    """`'x'`, `"x"` or a raw string between backticks; also the name after a dot and the key of a map."""

    value: str


class Identifier(Node, frozen=True):
    """A name: a variable of the environment, or a local one of `let`."""

    name: str


class Pointer(Node, frozen=True):
    """`#`, `#index` or `#acc` inside a predicate; `.field` there is a member of `#`. `name` is "", "index" or "acc"."""

    name: str


class Unary(Node, frozen=True):
    """`not x`, `!x`, `-x`, `+x`."""

    operator: str
    operand: Node


class Binary(Node, frozen=True):
    """Two operands; `a not in b` is a `not` around `in`, and `a < b < c` an `&&` of two comparisons."""

    operator: str
    left: Node
    right: Node


class Member(Node, frozen=True):
    """`base.name` (the property is a `String`), `base[expression]`, and with `?.` the optional ones of both."""

    base: Node
    property: Node
    optional: bool = False
    bracketed: bool = False


class Chain(Node, frozen=True):
    """The whole chain around a `?.`: where the base of the `?.` is nil, the chain is nil, up to its end."""

    body: Node


class Slice(Node, frozen=True):
    """`base[first:last]`."""

    base: Node
    first: Node | None = None
    last: Node | None = None


class Call(Node, frozen=True):
    """A call of a variable or a member: `asInt(x)`, `sprig.trim(x)`."""

    callee: Node
    arguments: tuple[Node, ...]


class Builtin(Node, frozen=True):
    """A call of one of the language's own functions: `len(x)`, `filter(x, # > 1)`, `x | trim()`."""

    name: str
    arguments: tuple[Node, ...]


class Predicate(Node, frozen=True):
    """What `filter`, `map` and their kin evaluate for each element."""

    body: Node


class Let(Node, frozen=True):
    """`let name = value; body`."""

    name: str
    value: Node
    body: Node


class Sequence(Node, frozen=True):
    """`a; b; c`: the value is that of the last."""

    items: tuple[Node, ...]


class Conditional(Node, frozen=True):
    """`condition ? yes : no`, `condition ?: no` and `if condition { yes } else { no }`."""

    condition: Node
    yes: Node
    no: Node


class Array(Node, frozen=True):
    """`[a, b]`."""

    items: tuple[Node, ...]


class Map(Node, frozen=True):
    """`{a: 1, 'b': 2, (expression): 3}`."""

    pairs: tuple[tuple[Node, Node], ...]


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly below one, in the order of the text."""
    match node:
        case Unary():
            return (node.operand,)
        case Binary():
            return (node.left, node.right)
        case Member():
            return (node.base, node.property)
        case Chain() | Predicate():
            return (node.body,)
        case Slice():
            return tuple(each for each in (node.base, node.first, node.last) if each is not None)
        case Call():
            return (node.callee, *node.arguments)
        case Builtin():
            return node.arguments
        case Let():
            return (node.value, node.body)
        case Sequence() | Array():
            return node.items
        case Conditional():
            return (node.condition, node.yes, node.no)
        case Map():
            return tuple(each for pair in node.pairs for each in pair)
    return ()


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, each before what it holds, in the order of the text.

    >>> from couler_py.argolang import parse
    >>> [type(each).__name__ for each in walk(parse("a + 1"))]
    ['Binary', 'Identifier', 'Integer']
    """
    waiting = [node]
    while waiting:
        here = waiting.pop()
        yield here
        waiting.extend(reversed(children(here)))
