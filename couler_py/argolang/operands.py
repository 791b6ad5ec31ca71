"""What stands between the operators of expressions: literals, names, calls, brackets, and what follows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from couler_py.argolang.nodes import (
    Array,
    Boolean,
    Call,
    Chain,
    Float,
    Identifier,
    Integer,
    Map,
    Member,
    Nil,
    Node,
    Pointer,
    Slice,
    String,
    Unary,
)
from couler_py.argolang.operators import UNARY
from couler_py.argolang.problems import SyntaxProblem
from couler_py.argolang.tokens import BRACKET, NAME, NUMBER, OPERATOR, STRING, WORDS, Token

if TYPE_CHECKING:
    from couler_py.argolang.parser import Parser

MOST, LARGEST = 2**63 - 1, float("inf")


def operand(read: Parser) -> Node:
    """The operand that comes next, with the members, indexes and slices that follow it."""
    token = read.word
    if token.kind == OPERATOR and token.text in UNARY:
        read.take()
        inner = read.expression(UNARY[token.text])
        read.count(token.start)
        return _followed(read, Unary(token.start, inner.end, token.text, inner), token.start)
    if read.skip(BRACKET, "("):
        inner = read.sequence()
        read.expect(BRACKET, ")")
        return _followed(read, inner, token.start)
    if read.predicates and token.kind == OPERATOR and token.text in ("#", "."):
        return _followed(read, _pointer(read), token.start)
    if read.skip(OPERATOR, "::"):
        return _followed(read, read.call(read.expect(NAME), token.start), token.start)
    return _plain(read)


def _pointer(read: Parser) -> Node:
    """`#`, `#index`, `#acc`, or nothing before a dot."""
    token, name = read.word, ""
    read.count(token.start)
    if token.text == ".":
        return Pointer(token.start, token.start, "")
    read.take()
    if read.at(NAME):
        name = read.take().text
    return Pointer(token.start, read.ended, name)


def _plain(read: Parser) -> Node:
    token = read.word
    if token.kind == NAME:
        read.take()
        if token.text in ("true", "false"):
            read.count(token.start)
            return Boolean(token.start, token.end, token.text == "true")
        if token.text == "nil":
            read.count(token.start)
            return Nil(token.start, token.end)
        if read.at(BRACKET, "("):
            return _followed(read, read.call(token, token.start), token.start)
        read.count(token.start)
        return _followed(read, Identifier(token.start, token.end, token.text), token.start)
    if token.kind == NUMBER:
        read.take()
        read.count(token.start)
        return _number(token)
    if token.kind == STRING:
        read.take()
        read.count(token.start)
        return _followed(read, String(token.start, token.end, token.text), token.start)
    if read.skip(BRACKET, "["):
        items = read.listed("]")
        read.count(token.start)
        return _followed(read, Array(token.start, read.ended, items), token.start)
    if read.at(BRACKET, "{"):
        return _followed(read, _map(read), token.start)
    raise read.unexpected("a value")


def _number(token: Token) -> Node:
    written = token.text.replace("_", "").lower()
    try:
        if written.startswith("0x"):
            value = int(written[2:], 16)
        elif "." in written or "e" in written:
            number = float(written)
            if number == LARGEST:
                raise SyntaxProblem(f"{token.text} is larger than any float", token.start)
            return Float(token.start, token.end, number)
        elif written.startswith(("0b", "0o")):
            value = int(written[2:], 2 if written[1] == "b" else 8)
        else:
            value = int(written)
    except ValueError as problem:
        if isinstance(problem, SyntaxProblem):
            raise
        raise SyntaxProblem(f"{token.text!r} is no number", token.start) from None
    if value > MOST:
        raise SyntaxProblem(f"{token.text} doesn't fit into 64 bits", token.start)
    return Integer(token.start, token.end, value)


def _map(read: Parser) -> Node:
    start = read.expect(BRACKET, "{").start
    pairs: list[tuple[Node, Node]] = []
    while not read.at(BRACKET, "}"):
        if pairs:
            read.expect(OPERATOR, ",")
            if read.at(BRACKET, "}"):
                break
        key = _key(read)
        read.expect(OPERATOR, ":")
        pairs.append((key, read.expression()))
        read.count(start)
    read.expect(BRACKET, "}")
    read.count(start)
    return Map(start, read.ended, tuple(pairs))


def _key(read: Parser) -> Node:
    token = read.word
    if token.kind in (NAME, NUMBER, STRING):
        read.take()
        read.count(token.start)
        return String(token.start, token.end, token.text)
    if read.at(BRACKET, "("):
        return read.expression()
    raise read.unexpected("a key: a name, a string, a number, or an expression in parentheses")


def _followed(read: Parser, node: Node, start: int) -> Node:
    """A node with the members, indexes, slices and calls that follow it."""
    links = 0
    while read.at(OPERATOR, ".", "?.") or read.at(BRACKET, "["):
        links += 1
        if links + read.depth > 200:
            raise SyntaxProblem("a chain of too many members", read.word.start)
        optional = read.skip(OPERATOR, "?.")
        if read.at(BRACKET, "["):
            node = _indexed(read, node, start, optional)
        else:
            if not optional:
                read.take()
            node = _member(read, node, start, optional)
    return node


def _member(read: Parser, node: Node, start: int, optional: bool) -> Node:
    token = read.take()
    if not (token.kind == NAME or (token.kind == OPERATOR and token.text in WORDS)):
        raise SyntaxProblem("a name must follow the dot", token.start)
    read.count(token.start)
    read.count(token.start)
    name = String(token.start, token.end, token.text)
    chained = isinstance(node, Chain)
    base = node.body if isinstance(node, Chain) else node
    member: Node = Member(start, token.end, base, name, optional)
    if read.at(BRACKET, "("):
        arguments = read.arguments()
        read.count(token.start)
        member = Call(start, read.ended, member, arguments)
    if chained or optional:
        read.count(token.start)
        return Chain(start, read.ended, member)
    return member


def _indexed(read: Parser, node: Node, start: int, optional: bool) -> Node:
    read.take()
    first = None if read.at(OPERATOR, ":") else read.expression()
    sliced = read.skip(OPERATOR, ":")
    last = read.expression() if sliced and not read.at(BRACKET, "]") else None
    read.expect(BRACKET, "]")
    read.count(start)
    if sliced:
        return Slice(start, read.ended, node, first, last)
    assert first is not None
    member = Member(start, read.ended, node, first, optional, bracketed=True)
    return Chain(start, read.ended, member) if optional else member
