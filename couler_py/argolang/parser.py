"""Expressions as trees: the language of github.com/expr-lang/expr 1.17.7, by precedence climbing.

No Python library for this language exists, and its grammar is small. What this reader accepts and how it nests is held
to the real one by tests on a cluster.
"""

from __future__ import annotations

from functools import lru_cache

from couler_py.argolang import operands
from couler_py.argolang.nodes import (
    Binary,
    Builtin,
    Call,
    Conditional,
    Identifier,
    Let,
    Node,
    Predicate,
    Sequence,
    Unary,
)
from couler_py.argolang.operators import BINARY, BUILTINS, NEGATABLE, ORDER, PREDICATES, RIGHT
from couler_py.argolang.problems import SyntaxProblem
from couler_py.argolang.tokens import BRACKET, END, NAME, OPERATOR, Token, tokens

MAX_NODES = 10_000  # the language's own limit
MAX_DEPTH = 100  # ours: the language has none


@lru_cache(maxsize=2048)
def parse(text: str) -> Node:
    """The tree of an expression, as it stands between `{{=` and `}}`.

    Raises SyntaxProblem, with the place, for a text that isn't an expression, and for one of more than 10,000 nodes or
    nested deeper than 100 levels.

    >>> parse("inputs.parameters.n == '1'").operator
    '=='
    """
    return Parser(text).whole()


class Parser:
    """The reading of one text: where it is, and what follows."""

    def __init__(self, text: str) -> None:
        self._ahead = tokens(text)
        self.words = [next(self._ahead)]
        """Those read so far, up to the one at `position`: a text that is refused early isn't read to its end."""
        self.position = 0
        self.depth = 0
        self.predicates = 0
        self.nodes = 0

    # ---- words

    @property
    def word(self) -> Token:
        """The word that comes next."""
        return self.words[self.position]

    @property
    def ended(self) -> int:
        """Where the last word that was read ends."""
        return self.words[self.position - 1].end

    def take(self) -> Token:
        """Read the next word."""
        token = self.words[self.position]
        if token.kind != END:
            self._move(1)
        return token

    def _move(self, count: int) -> None:
        self.position += count
        self._read_to(self.position)

    def _read_to(self, position: int) -> None:
        while len(self.words) <= position:
            self.words.append(next(self._ahead))

    def at(self, kind: str, *texts: str) -> bool:
        """Whether the next word is of a kind, and one of these words where some are given."""
        token = self.words[self.position]
        return token.kind == kind and (not texts or token.text in texts)

    def skip(self, kind: str, text: str) -> bool:
        """Read the next word if it is this one."""
        if self.at(kind, text):
            self._move(1)
            return True
        return False

    def expect(self, kind: str, text: str = "") -> Token:
        """Read the next word, which must be this one."""
        if not (self.at(kind, text) if text else self.at(kind)):
            raise self.unexpected(repr(text) if text else f"a {kind}")
        return self.take()

    def unexpected(self, wanted: str = "") -> SyntaxProblem:
        """What to say of the next word."""
        token = self.word
        here = "the end" if token.kind == END else f"{token.kind} {token.text!r}"
        return SyntaxProblem(f"expected {wanted}, not {here}" if wanted else f"unexpected {here}", token.start)

    def count(self, start: int) -> None:
        """Count one more node."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise SyntaxProblem(f"an expression of more than {MAX_NODES} nodes", start)

    # ---- expressions

    def whole(self) -> Node:
        """The tree of the whole text."""
        node = self.sequence()
        if not self.at(END):
            raise self.unexpected()
        return node

    def sequence(self) -> Node:
        """Expressions between semicolons."""
        items = [self.expression()]
        while self.skip(OPERATOR, ";"):
            if self.at(END):
                break
            items.append(self.expression())
        return items[0] if len(items) == 1 else Sequence(items[0].start, items[-1].end, tuple(items))

    def expression(self, precedence: int = 0) -> Node:
        """An expression whose operators bind at least as tightly as this."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise SyntaxProblem(f"an expression nested deeper than {MAX_DEPTH} levels", self.word.start)
        try:
            if precedence == 0 and self.at(OPERATOR, "let"):
                return self._let()
            if precedence == 0 and self.at(OPERATOR, "if"):
                return self._if()
            node = self._operations(operands.operand(self), precedence)
            return self._ternary(node) if precedence == 0 else node
        finally:
            self.depth -= 1

    def _operations(self, left: Node, least: int) -> Node:
        before = ""
        while self.at(OPERATOR):
            negated = self.at(OPERATOR, "not")
            self._read_to(self.position + negated)
            operator = self.words[self.position + 1] if negated else self.word
            if negated and operator.text not in NEGATABLE:
                raise SyntaxProblem(f"unexpected {operator.text or 'end'!r} after 'not'", operator.start)
            if BINARY.get(operator.text, -1) < least:
                break
            self._move(2 if negated else 1)
            self.count(operator.start)
            if operator.text == "|":
                left = self.call(self.expect(NAME), left.start, (left,))
            elif before == "??" != operator.text:
                raise SyntaxProblem(f"{operator.text!r} beside '??' needs parentheses", operator.start)
            elif operator.text in ORDER:
                left = self._comparisons(left, operator)
            else:
                tighter = 0 if operator.text in RIGHT else 1
                right = self.expression(BINARY[operator.text] + tighter)
                left = Binary(left.start, right.end, operator.text, left, right)
                if negated:
                    left = Unary(left.start, left.end, "not", left)
            before = operator.text
        return left

    def _comparisons(self, left: Node, operator: Token) -> Node:
        """`a < b < c` compares each neighbour."""
        whole: Node | None = None
        while True:
            right = self.expression(BINARY[operator.text] + 1)
            compared = Binary(left.start, right.end, operator.text, left, right)
            whole = compared if whole is None else Binary(whole.start, right.end, "&&", whole, compared)
            if not self.at(OPERATOR, *ORDER):
                return whole
            left, operator = right, self.take()
            self.count(operator.start)

    def _ternary(self, condition: Node) -> Node:
        while self.skip(OPERATOR, "?"):
            self.count(condition.start)
            yes = condition
            if not self.skip(OPERATOR, ":"):
                yes = self.expression()
                self.expect(OPERATOR, ":")
            no = self.expression()
            condition = Conditional(condition.start, no.end, condition, yes, no)
        return condition

    def _let(self) -> Node:
        start = self.take().start
        name = self.expect(NAME).text
        self.expect(OPERATOR, "=")
        value = self.expression()
        self.expect(OPERATOR, ";")
        body = self.sequence()
        self.count(start)
        return Let(start, body.end, name, value, body)

    def _if(self) -> Node:
        start = self.take().start
        condition = self.expression()
        yes = self._block()
        self.expect(OPERATOR, "else")
        no = self.expression() if self.at(OPERATOR, "if") else self._block()
        self.count(start)
        return Conditional(start, self.ended, condition, yes, no)

    def _block(self) -> Node:
        self.expect(BRACKET, "{")
        node = self.sequence()
        self.expect(BRACKET, "}")
        return node

    # ---- calls

    def call(self, name: Token, start: int, given: tuple[Node, ...] = ()) -> Node:
        """The call of a name whose parentheses come next; `given` are arguments that stand before a `|`."""
        self.count(start)
        if name.text in PREDICATES:
            arguments = (*given, *self._predicates(PREDICATES[name.text][len(given) :]))
            return Builtin(start, self.ended, name.text, arguments)
        arguments = (*given, *self.arguments())
        if name.text in BUILTINS:
            return Builtin(start, self.ended, name.text, arguments)
        return Call(start, self.ended, Identifier(name.start, name.end, name.text), arguments)

    def arguments(self) -> tuple[Node, ...]:
        """Arguments in parentheses."""
        self.expect(BRACKET, "(")
        return self.listed(")")

    def listed(self, closing: str) -> tuple[Node, ...]:
        """Expressions between commas, up to a bracket, before which a comma may stand."""
        found: list[Node] = []
        while not self.at(BRACKET, closing):
            if found:
                self.expect(OPERATOR, ",")
                if self.at(BRACKET, closing):
                    break
            found.append(self.expression())
        self.expect(BRACKET, closing)
        return tuple(found)

    def _predicates(self, wanted: tuple[str, ...]) -> list[Node]:
        found: list[Node] = []
        self.expect(BRACKET, "(")
        for kind in wanted:
            if self.at(BRACKET, ")"):
                if kind.startswith("["):
                    break
                raise SyntaxProblem("an argument is missing", self.word.start)
            if found:
                self.expect(OPERATOR, ",")
                if kind.startswith("[") and self.at(BRACKET, ")"):
                    raise self.unexpected()
            found.append(self._predicate() if "predicate" in kind else self.expression())
        self.skip(OPERATOR, ",")
        self.expect(BRACKET, ")")
        return found

    def _predicate(self) -> Node:
        start = self.word.start
        self.predicates += 1
        if self.at(BRACKET, "{"):
            body = self._block()
        else:
            body = self.expression()
            if self.at(OPERATOR, ";"):
                raise SyntaxProblem("several expressions in a predicate need { and } around them", self.word.start)
        self.predicates -= 1
        self.count(start)
        return Predicate(start, self.ended, body)
