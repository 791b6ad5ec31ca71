"""Walking through the structs of the IR, whatever they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec


def nodes(value: Any) -> Iterator[Any]:
    """Every struct inside a part of the IR, that part included, in no order.

    >>> from couler_py.ir import Suspend, Template
    >>> [type(each).__name__ for each in nodes(Suspend(duration=1.0))]
    ['Suspend']
    """
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, msgspec.Struct):
            yield each
            left += (getattr(each, name) for name in each.__struct_fields__)
        elif isinstance(each, tuple | list):
            left += each
        elif isinstance(each, dict):
            left += each.values()
