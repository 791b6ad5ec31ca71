"""The values that stand in expressions and in plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from couler_py.ir import expr as ir
from couler_py.ir.expr import Expr


def literals(value: Expr) -> Iterator[Any]:
    """The values that stand in an expression; a text that is all known counts as one."""
    if isinstance(value, ir.Text):
        yield joined(value)
        return
    if isinstance(value, ir.Literal):
        yield from flat(value.value)
        return
    for child in ir.children(value):
        yield from literals(child)


def joined(text: Expr) -> str:
    """A text with its known values in it; what isn't known leaves a gap."""
    if not isinstance(text, ir.Text):
        return str(next(literals(text), ""))
    return "".join(part if isinstance(part, str) else " ".join(str(v) for v in literals(part)) for part in text.parts)


def flat(value: Any) -> Iterator[Any]:
    """The scalars in plain data."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from flat(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from flat(one)
    elif value is not None:
        yield value


def texts(value: Any) -> Iterator[Any]:
    """The scalars in a struct or plain data; a bucket and a key also as one address, a list of words also as a line."""
    plain = msgspec.to_builtins(value)
    if isinstance(plain, list) and len(plain) > 1:
        yield from (line(one) for one in plain if isinstance(one, list) and one)
    if isinstance(plain, dict) and isinstance(plain.get("key"), str) and plain.get("bucket"):
        yield f"{plain.get('type', 's3')}://{plain['bucket']}/{plain['key']}"
    yield from flat(plain)


def line(words: list[Any]) -> str:
    """A command as one would type it."""
    return " ".join(str(word) for word in flat(words))
