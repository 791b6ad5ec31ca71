"""Calls inside of calls: a value that is read once, right behind where it is made, needs no variable."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from couler_py.printer.expressions import Result
from couler_py.printer.layout import Chain, Doc, Group, Named, columns, flat, statement

READABLE = 80
"""Most columns of a call with others inside: what is longer is read more easily line by line."""

CALL = "()"
_WORD = re.compile(r"[^\W\d]\w*")
_STRING = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""")


class Printed(msgspec.Struct):
    """One statement: what it calls, the variable for what that gives, and the lines around it."""

    doc: Doc
    result: Result
    before: list[str] = []
    after: list[str] = []


def statements(printed: list[Printed], end: list[str], back: Doc | None, margin: int) -> Iterator[str]:
    """The lines of a function's body: its statements, what stands at their end, and what is returned."""
    counts = _words(printed, end, back)
    kept: list[Printed] = []
    for one in printed:
        one.doc = _taken_in(one.doc, kept, counts)
        kept.append(one)
    if back is not None and not end:
        back = _returned(back, kept, counts)
    for one in kept:
        yield from one.before
        if one.doc:
            yield statement(f"{one.result.variable} = " if one.result.used else "", one.doc, margin)
        yield from one.after
    yield from end
    if back is not None:
        yield statement("return ", back, margin)


def _words(printed: list[Printed], end: list[str], back: Doc | None) -> Counter[str]:
    texts = [*end, "" if back is None else flat(back)]
    for one in printed:
        texts += [flat(one.doc), *one.before, *one.after]
    return Counter(word for text in texts for word in _WORD.findall(_STRING.sub("", text)))


def _returned(back: Doc, kept: list[Printed], counts: Counter[str]) -> Doc:
    last = kept[-1] if kept else None
    if last is not None and back == last.result.variable and counts[last.result.variable] == 1 and not last.after:
        kept.pop()
        # The lines of a function that it maps stand before what is returned.
        if last.before:
            kept.append(Printed("", last.result, last.before))
        return last.doc
    return _taken_in(back, kept, counts)


def _taken_in(doc: Doc, kept: list[Printed], counts: Counter[str]) -> Doc:
    """The call with those before it inside, as far as Python makes them in the same order."""
    while kept:
        last = kept[-1]
        variable = last.result.variable
        if last.before or last.after or not _simple(last) or counts[variable] != 1:
            return doc
        leaves = list(_leaves(doc))
        # What is made first must stay first: no other call may come before it.
        if leaves.count(variable) != 1 or CALL in leaves[: leaves.index(variable)]:
            return doc
        found = _replaced(doc, variable, last.doc)
        if columns(flat(found)) > READABLE:
            return doc
        doc = found
        kept.pop()
    return doc


def _simple(one: Printed) -> bool:
    doc = one.doc
    return isinstance(doc, Group) and one.result.form == "one" and not doc.opening.startswith("couler.")


def _leaves(doc: Doc) -> Iterator[str]:
    """The names and literals of a call, and the calls in it, in Python's order; not what it reads later."""
    match doc:
        case str():
            yield doc
        case Group(items=inner, call=is_call):
            for item in inner:
                yield from _leaves(item)
            if is_call:
                yield CALL
        case Named(before, value):
            if not _is_later(before):
                yield from _leaves(value)
        case Chain():
            yield ""


def _is_later(before: tuple[Doc, ...]) -> bool:
    return isinstance(before[0], str) and ("lambda" in before[0])


def _replaced(doc: Doc, variable: str, value: Doc) -> Doc:
    match doc:
        case Group(items=inner):
            return msgspec.structs.replace(doc, items=tuple(_replaced(item, variable, value) for item in inner))
        case Named(before, inner) if not _is_later(before):
            return Named(before, _replaced(inner, variable, value))
        case str() if doc == variable:
            return value
        case _:
            return doc
