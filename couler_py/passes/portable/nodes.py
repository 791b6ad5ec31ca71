"""Every expression that stands anywhere in a part of a workflow, whatever field holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_args

import msgspec

from couler_py.ir.expr import Expr, rewrite, walk
from couler_py.ir.types import Type

# Asked of every field of every task: by the class itself, for none has another below it.
EXPRESSIONS: frozenset[type] = frozenset(get_args(Expr))
TYPES: frozenset[type] = frozenset(get_args(Type))


def nodes(part: Any) -> Iterator[Expr]:
    """The expressions in a struct, outermost first."""
    stack = [part]
    while stack:
        each = stack.pop()
        if type(each) in EXPRESSIONS:
            yield from walk(each)
        elif isinstance(each, tuple):
            stack.extend(reversed(each))
        elif isinstance(each, msgspec.Struct) and type(each) not in TYPES:
            stack.extend(getattr(each, name) for name in reversed(each.__struct_fields__))


def changed(part: Any, change: Callable[[Expr], Expr]) -> Any:
    """A struct with `change` applied to every expression in it, innermost first."""
    if type(part) in EXPRESSIONS:
        return rewrite(part, change)
    if isinstance(part, tuple):
        made = tuple(changed(each, change) for each in part)
        return part if all(new is old for new, old in zip(made, part, strict=True)) else made
    if isinstance(part, msgspec.Struct) and type(part) not in TYPES:
        fields = {name: getattr(part, name) for name in part.__struct_fields__}
        made_fields = {name: changed(value, change) for name, value in fields.items()}
        different = {name: value for name, value in made_fields.items() if value is not fields[name]}
        return msgspec.structs.replace(part, **different) if different else part
    return part
