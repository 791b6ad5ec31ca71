"""What a task or group is mapped over: the list, and what each item of it is."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec

from couler_py.backends.airflow.importing import facts
from couler_py.backends.airflow.importing.facts import MARK, plain
from couler_py.backends.airflow.importing.unsayable import UnsayableError
from couler_py.backends.airflow.importing.values import ELEMENT, Values
from couler_py.ir import expr as x
from couler_py.ir.model import Each


def with_elements(task: facts.Task, values: Values) -> tuple[facts.Task, x.Expr | None]:
    """A mapped task whose arguments are marked as elements, and the list of items; None for one that isn't mapped.

    Raises `UnsayableError`.
    """
    expansion = task.expand
    if expansion is None:
        return task, None
    items, elements = _items(expansion, values)
    if elements is None:
        values.whole = expansion
        if not expansion.arguments:
            raise UnsayableError(
                "what each item says isn't known before the run", "map a Python step over the list of objects"
            )
        return task, items
    values.elements = elements
    marks: dict[str, Any] = {name: {MARK: ELEMENT, "name": name} for name in elements}
    if expansion.arguments:
        marks = {"op_kwargs": {**(task.given.get("op_kwargs") or {}), **marks}}
    return msgspec.structs.replace(task, given={**task.given, **marks}), items


def group_items(expansion: facts.Expansion, values: Values) -> tuple[x.Expr, dict[str, Any]]:
    """The items of a mapped group, and by argument None where an item is that argument, else True.

    Raises `UnsayableError`.
    """
    items, elements = _items(expansion, values)
    if elements is None:
        return items, {}
    alone = len(elements) == 1 and not expansion.whole
    return items, dict.fromkeys(elements, None if alone else True)


def fan_out(items: x.Expr, parallel: int | None) -> Each:
    """One run for each item."""
    return Each(items, parallel=parallel)


def _items(expansion: facts.Expansion, values: Values) -> tuple[x.Expr, dict[str, list[Any] | None] | None]:
    """The list of items, and by argument its values where they are known; None where the arguments aren't."""
    if expansion.whole:
        listed = expansion.value
        if not isinstance(listed, list):
            return values.expr(listed), None
        names = list(listed[0]) if listed else []
        if not all(isinstance(each, dict) and MARK not in each and list(each) == names for each in listed):
            return values.expr(listed), None
        if len(names) < 2:
            names.append("")  # so that an item is an object, of which the argument is a member
        return values.expr(listed), {name: [each.get(name) for each in listed] for name in names}
    lists: dict[str, Any] = {name: _as_list(value) for name, value in expansion.value.items()}
    if len(lists) == 1:
        [(name, value)] = lists.items()
        return values.expr(value), {name: value if isinstance(value, list) else None}
    if not all(isinstance(each, list) and plain(each) for each in lists.values()):
        raise UnsayableError(
            "it is mapped over several lists that only the run knows", "let one step make the list of all pairs"
        )
    items = [dict(zip(lists, each, strict=True)) for each in itertools.product(*lists.values())]
    return values.expr(items), {name: [each[name] for each in items] for name in lists}


def _as_list(value: Any) -> Any:
    if isinstance(value, dict) and MARK not in value:
        return [[key, each] for key, each in value.items()]
    return value
