"""Argo's tags: the pieces of a text between `{{` and `}}`.

A tag begins at the first `{{` and ends at the first `}}` after it, whatever stands between: a `}}` inside a string of
an expression ends the tag too. `{{=` begins an expression; in any other tag the text is a name, and spaces around it
don't count. (Facts: util/template of Argo Workflows 4.0.7, which reads by fasttemplate.)
"""

from __future__ import annotations

import msgspec

OPEN, CLOSE, EXPRESSION = "{{", "}}", "="


class Literal(msgspec.Struct, frozen=True):
    """Text outside of tags, from `start` up to `end`."""

    text: str
    start: int
    end: int


class Tag(msgspec.Struct, frozen=True):
    """What stands between braces: for `{{=1+1}}` an expression with the text `1+1`, else the text as it is written.

    `start` is the place of the opening braces and `end` that after the closing ones.
    """

    text: str
    start: int
    end: int
    expression: bool = False

    @property
    def name(self) -> str:
        """The name that Argo looks up: the text without the spaces around it."""
        return self.text.strip()

    @property
    def inside(self) -> int:
        """The place of the first character of `text`, to which offsets in an expression are counted."""
        return self.start + len(OPEN) + len(EXPRESSION) * self.expression


Part = Literal | Tag


def scan(text: str) -> tuple[Part, ...]:
    """The pieces of a text, in order; joined by `written` they are the text again.

    Opening braces that are never closed are literal, as is what follows them: `unclosed` finds them.

    >>> [part.text for part in scan("a {{ b }} {{=1 + 1}}")]
    ['a ', ' b ', ' ', '1 + 1']
    """
    parts: list[Part] = []
    position = 0
    while True:
        start = text.find(OPEN, position)
        end = text.find(CLOSE, start + len(OPEN)) if start >= 0 else -1
        if end < 0:
            break
        if start > position:
            parts.append(Literal(text[position:start], position, start))
        inside = text[start + len(OPEN) : end]
        expression = inside.startswith(EXPRESSION)
        position = end + len(CLOSE)
        parts.append(Tag(inside[len(EXPRESSION) :] if expression else inside, start, position, expression))
    if position < len(text):
        parts.append(Literal(text[position:], position, len(text)))
    return tuple(parts)


def tags_in(text: str) -> tuple[Tag, ...]:
    """The tags of a text, without what stands around them.

    >>> tags_in("{{item}}s of {{inputs.parameters.size}}")[1].name
    'inputs.parameters.size'
    """
    return tuple(part for part in scan(text) if isinstance(part, Tag))


def written(part: Part) -> str:
    """A piece as it stands in a text.

    >>> "".join(map(written, scan("a{{=b}}")))
    'a{{=b}}'
    """
    if isinstance(part, Literal):
        return part.text
    return f"{OPEN}{EXPRESSION if part.expression else ''}{part.text}{CLOSE}"


def unclosed(text: str) -> int | None:
    """The place of opening braces that are never closed, or None.

    In a whole document they swallow what stands up to the next closing braces, even those that end two objects of its
    JSON form.

    >>> unclosed("{{a}} {{b"), unclosed("{{a}}")
    (6, None)
    """
    *_, last = scan(text) or (Literal("", 0, 0),)
    place = last.text.find(OPEN) if isinstance(last, Literal) else -1
    return last.start + place if place >= 0 else None
