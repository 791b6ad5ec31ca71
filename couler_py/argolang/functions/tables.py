"""Tables of functions, written briefly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from couler_py.argolang.values import Function

Table = dict[str, Function]


def table(**functions: tuple[str, Callable[..., Any]]) -> Table:
    """Functions by their names, each with the kinds of its arguments; a star after the last one lets it be repeated.

    >>> table(double=("int", lambda number: 2 * number))["double"].parameters
    ('int',)
    """
    return {
        name: Function(name, tuple(kind.rstrip("*") for kind in kinds.split()), kinds.endswith("*"), apply)
        for name, (kinds, apply) in functions.items()
    }
