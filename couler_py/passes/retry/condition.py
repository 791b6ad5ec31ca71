"""Which failures are worth another attempt, as a condition that engines evaluate themselves.

An engine's own condition sees what the engine says of an attempt (`LastRetry`), without what the program wrote, and
can only look for words in it. So it is coarser than `recognise`, by which this machine decides.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import msgspec

from couler_py.ir.expr import AllOf, AnyOf, Compare, Contains, Expr, LastRetry, Literal, Not
from couler_py.passes.retry.pattern import Pattern
from couler_py.passes.retry.table import TABLE


class Heard(msgspec.Struct, frozen=True):
    """What makes another attempt worth it: an exit code, or one of `again` in the message, and none of `never`."""

    exit_codes: tuple[int, ...]
    again: tuple[str, ...]
    never: tuple[str, ...]


@functools.cache
def heard(engine: str, *, begun: bool = True) -> Heard:
    """What an engine's condition goes by.

    `engine` ("Argo", "Airflow") is whose words are looked for, with those of Kubernetes. With `begun=False` only where
    the program can't have begun: what it does is then never done twice.
    """
    rows = [row for row in TABLE if row.system in (engine, "Kubernetes", "machine") and not row.own]
    worth = [row for row in rows if row.verdict != "no" and (begun or not row.begun)]
    never = [row for row in rows if row.verdict == "no"]
    return Heard(tuple(code for row in worth for code in row.exit_codes), _words(worth), _words(never))


@functools.cache
def condition(engine: str, *, begun: bool = True) -> Expr:
    """Whether the attempt before ended by a fault of the platform that may be gone the next time (see `heard`)."""
    found = heard(engine, begun=begun)
    exits = (Compare("==", LastRetry("exit_code"), Literal(code)) for code in found.exit_codes)
    return AllOf((AnyOf((*exits, *map(_says, found.again))), *(Not(_says(word)) for word in found.never)))


def _words(rows: Iterable[Pattern]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for row in rows for word in row.words))


def _says(word: str) -> Expr:
    return Contains(LastRetry("message"), Literal(word))
