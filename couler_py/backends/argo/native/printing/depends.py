"""`depends` as Python: names of tasks with `&`, `|` and `~`."""

from __future__ import annotations

import re
from typing import TypeAlias

from couler_py.backends.argo.native.depends import Depends
from couler_py.backends.argo.native.printing.scope import Scope
from couler_py.printer.layout import Chain, Doc, flat

_TOKEN = re.compile(r"\s*(&&|\|\||!|\(|\)|[-a-zA-Z0-9_.]+)")
_STATES = {
    "Succeeded": "succeeded",
    "Failed": "failed",
    "Errored": "errored",
    "Skipped": "skipped",
    "Omitted": "omitted",
    "Daemoned": "daemoned",
    "AnySucceeded": "any_succeeded",
    "AllFailed": "all_failed",
}


_Tree: TypeAlias = tuple[Doc, Depends]
"""What is printed, and what that means."""

LONGEST = 72
"""A longer tree reads no better than its text, and wouldn't stay on a line."""


class _UnreadableError(Exception):
    """Text that only text can say."""


def depends(text: str, scope: Scope) -> Doc | None:
    """The tree that a text says, over tasks that are written already; None where Python can't say it."""
    try:
        reader = _Reader(text, scope)
        doc, means = reader.any_of()
        short = len(flat(doc)) <= LONGEST
        return doc if short and not reader.words and str.__str__(means) == text else None
    except _UnreadableError:
        return None


class _Reader:
    """Reads the text by Argo's precedence, which is Python's for these operators."""

    def __init__(self, text: str, scope: Scope):
        self.scope = scope
        self.words: list[str] = []
        place = 0
        while text[place:].strip():
            found = _TOKEN.match(text, place)
            if found is None or len(self.words) == LONGEST:
                raise _UnreadableError
            self.words.append(found[1])
            place = found.end()

    def any_of(self) -> _Tree:
        first, means = self.all_of()
        rest: list[tuple[str, Doc]] = []
        while self._next("||"):
            doc, more = self.all_of()
            rest.append(("|", doc))
            means = means | more
        return (Chain(first, tuple(rest)) if rest else first), means

    def all_of(self) -> _Tree:
        first, means = self.one()
        rest: list[tuple[str, Doc]] = []
        while self._next("&&"):
            doc, more = self.one()
            rest.append(("&", doc))
            means = means & more
        return (Chain(first, tuple(rest)) if rest else first), means

    def _next(self, sign: str) -> bool:
        if self.words and self.words[0] == sign:
            self.words.pop(0)
            return True
        return False

    def one(self) -> _Tree:
        word = self.words.pop(0) if self.words else ""
        if word == "!":
            doc, means = self.one()
            return f"~{flat(doc)}", ~means
        if word == "(":
            inner, means = self.any_of()
            if not self._next(")"):
                raise _UnreadableError
            return (f"({flat(inner)})" if isinstance(inner, Chain) else inner), means
        name, dot, state = word.partition(".")
        if not name or (dot and state not in _STATES):
            raise _UnreadableError
        variable = self.scope.task(name)
        if variable is None:
            raise _UnreadableError
        return f"{variable}.{_STATES[state]}" if dot else variable, Depends(word)
