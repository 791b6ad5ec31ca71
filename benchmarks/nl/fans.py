"""The lists that tasks run over, as far as they are known before a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.nl.values import literals
from couler_py.ir import expr as ir
from couler_py.ir.expr import Expr

Path = tuple[str, ...]  # the names of the tasks from the outside in


@dataclass(frozen=True)
class Fan:
    """A list that something runs over: its values or how many they are, where known, or else the task it is from."""

    values: tuple[Any, ...] | None = None
    count: int | None = None
    start: Path | None = None
    parallel: int | None = None


def listed(items: Expr, bound: int | None, lists: Mapping[Path, Fan]) -> Fan:
    """What an expression runs over. What a fan-out gives is as long as its own list, found in `lists`."""
    match items:
        case ir.Literal(value=list() | tuple() as value):
            return Fan(tuple(value), len(value), parallel=bound)
        case ir.Record(form="list", values=values):
            return Fan(tuple(v for one in values for v in literals(one)), len(values), parallel=bound)
        case ir.Zip(lists=zipped):
            fans = [listed(one, bound, lists) for one in zipped]
            known = [value for fan in fans for value in fan.values or ()]
            count = next((fan.count for fan in fans if fan.count is not None), None)
            return Fan(tuple(known) or None, count, next((fan.start for fan in fans if fan.start), None), bound)
        case ir.TaskOutput(task=task) | ir.TaskItems(task=task):
            path = tuple(task.split("/"))
            if path not in lists:
                return Fan(start=path, parallel=bound)
            of = lists[path]
            return Fan(of.values, of.count, of.start, bound or of.parallel)
        case _:
            start = next((n.task for n in ir.walk(items) if isinstance(n, ir.TaskOutput | ir.TaskItems)), None)
            return Fan(start=tuple(start.split("/")) if start else None, parallel=bound)


def length(count: Expr | None, start: Expr | None, end: Expr | None) -> int | None:
    """How many numbers there are: `count`, or those from `start` to `end`; None where that isn't known."""
    known = [None if one is None else next(literals(one), None) for one in (count, start, end)]
    many, first, last = (number if isinstance(number, int) else None for number in known)
    return abs(last - (first or 0)) + 1 if many is None and last is not None else many
