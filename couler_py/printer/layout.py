"""Source text laid out as `ruff format` does: on one line where it fits, else broken at brackets, outermost first."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import msgspec

WIDTH = 120
"""Most columns of a line; this project's own."""

INDENT = 4


class Group(msgspec.Struct, frozen=True):
    """Something in brackets. A call's content may stand on one line of its own; that of a display gets a line each.

    `opening` ends in the bracket, `lone` is the comma that a tuple of one needs.
    """

    opening: str
    items: tuple[Doc, ...]
    closing: str
    call: bool = False
    lone: str = ""


class Named(msgspec.Struct, frozen=True):
    """A value behind something that stays on its line: `name=`, `"key": `, `lambda x: `."""

    before: tuple[Doc, ...]
    value: Doc


class Chain(msgspec.Struct, frozen=True):
    """Operands between operators of one strength; where they don't fit, each operator begins a line."""

    first: Doc
    rest: tuple[tuple[str, Doc], ...]


class Block(msgspec.Struct, frozen=True):
    """A triple-quoted text of several lines, which stand one step further in than the line that `opening` ends.

    What takes them off again (`textwrap.dedent`) stands around: `opening` ends in the quotes, `closing` begins with
    them.
    """

    opening: str
    lines: tuple[str, ...]
    closing: str


Doc: TypeAlias = str | Group | Named | Chain | Block


def call(function: str, *items: Doc, **named: Doc) -> Group:
    """A call. Names of arguments are identifiers that this package wrote."""
    given = tuple(keyword(name, value) for name, value in named.items())
    return Group(f"{function}(", (*items, *given), ")", call=True)


def keyword(name: str, value: Doc) -> Named:
    """An argument by name."""
    return Named((f"{name}=",), value)


def items(values: Iterable[Doc]) -> Group:
    """A list."""
    return Group("[", tuple(values), "]")


def flat(doc: Doc) -> str:
    """All of it on one line."""
    match doc:
        case str():
            return doc
        case Group(opening, inner, closing, _, lone):
            return f"{opening}{', '.join(map(flat, inner))}{lone}{closing}"
        case Named(before, value):
            return "".join(map(flat, before)) + flat(value)
        case Chain(first, rest):
            return flat(first) + "".join(f" {sign} {flat(operand)}" for sign, operand in rest)
        case Block(opening, lines, closing):
            return "\n".join((opening, *lines)) + closing


def columns(text: str) -> int:
    """How wide a text is: signs of east Asia take two columns, marks on others none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text
    )


def broken(doc: Doc, indent: int, used: int, after: int = 0, width: int = WIDTH) -> str:
    """The text, its first line begun at column `used` and `after` columns still to follow on its last."""
    if not (isinstance(doc, Group) and len(doc.items) > width):  # so many don't fit: the text needn't be made to see it
        text = flat(doc)
        if "\n" not in text and used + columns(text) + after <= width:
            return text
    match doc:
        case str():
            return doc
        case Named(before, value):
            start = "".join(map(flat, before))
            return start + broken(value, indent, used + columns(start), after, width)
        case Chain(first, rest):
            pad = "\n" + " " * indent
            return broken(first, indent, used, 0, width) + "".join(
                f"{pad}{sign} {broken(operand, indent, indent + len(sign) + 1, 0, width)}" for sign, operand in rest
            )
        case Block(opening, lines, closing):
            pad = " " * (indent + INDENT)
            *whole, last = (pad + line if line else line for line in lines)
            return "\n".join((opening, *whole, last or pad)) + closing
        case Group():
            return _group(doc, indent, width)


def _group(doc: Group, indent: int, width: int) -> str:
    if not doc.items:
        return flat(doc)
    inner = indent + INDENT
    pad, end = " " * inner, "\n" + " " * indent + doc.closing
    if doc.call:
        whole = ", ".join(map(flat, doc.items))
        if "\n" not in whole and inner + columns(whole) <= width:
            # The only parameter of a function gets a comma; arguments on a line of their own have none.
            comma = "," if doc.opening.startswith("def ") and len(doc.items) == 1 else ""
            return f"{doc.opening}\n{pad}{whole}{comma}{end}"
    if len(doc.items) == 1 and "\n" in flat(doc.items[0]):
        return f"{doc.opening}\n{pad}{broken(doc.items[0], inner, inner, 0, width)}{end}"
    rows = "".join(f"{pad}{broken(item, inner, inner, 1, width)},\n" for item in doc.items)
    return f"{doc.opening}\n{rows[:-1]}{end}"


def statement(before: str, doc: Doc, margin: int = 0) -> str:
    """A statement: `before` ("x = ", "return ") and an expression. It will stand `margin` columns to the right."""
    width = WIDTH - margin
    start = columns(before)
    if not isinstance(doc, Group) and start + columns(flat(doc)) > width:
        lone = isinstance(doc, str) and INDENT + columns(doc) > width
        if not lone and before:
            return f"{before}(\n{' ' * INDENT}{broken(doc, INDENT, INDENT, 0, width)}\n)"
    return f"{before}{broken(doc, 0, start, 0, width)}"


def definition(before: str, parameters: Sequence[Doc], after: str, margin: int = 0) -> str:
    """The head of a function: `def f(`, its parameters, and what follows (` -> int:`)."""
    group = Group(before, tuple(parameters), ")", call=True)
    return f"{broken(group, 0, 0, columns(after), WIDTH - margin)}{after}"


def body(blocks: Iterable[str]) -> str:
    """Statements as the body of a function, those that define functions with space around them."""
    found: list[str] = []
    defines = False
    for block in blocks:
        was, defines = defines, block.startswith(("def ", "@"))
        if found and (was or defines):
            found.append("")
        found += [" " * INDENT + line if line else line for line in block.split("\n")]
    return "\n".join(found)
