"""Fan-outs: what they run over, and their bounds."""

from __future__ import annotations

from couler_py.ir import expr as x
from couler_py.ir.model import Each, Sequence
from couler_py.ir.types import ANY, INT, STR, ListOf, Type, accepts, describe
from couler_py.passes.check.scope import Scope
from couler_py.passes.check.typing import infer, kinds, unfit, value_type
from couler_py.passes.check.values import Artifact


def check_each(each: Each, scope: Scope) -> None:
    """The bounds and the items of one fan-out."""
    findings, place = scope.findings, scope.place
    for name, value, least in (
        ("parallel", each.parallel, 1),
        ("max_items", each.max_items, 1),
        ("tolerate", each.tolerate, 0),
    ):
        if value is not None and value < least:
            findings.error("CLR252", f"{name}={value}: it must be at least {least}", place)
    scope.what = "the list of the fan-out"
    if isinstance(each.items, Sequence):
        _check_sequence(each.items, each.max_items, scope)
        return
    found = infer(each.items, scope)
    if isinstance(found, Artifact) or "list" not in kinds(found):
        what = "a file" if isinstance(found, Artifact) else describe(found)
        findings.error("CLR250", f"a fan-out runs over a list, not over {what}", place)
        return
    if isinstance(each.items, x.Literal) and isinstance(each.items.value, list):
        items = each.items.value
        if len(items) > each.max_items:
            findings.error(
                "CLR251",
                f"the list has {len(items):,} items, and the fan-out may have {each.max_items:,}",
                place,
                help=f"write max_items={len(items)}, or pass the items in groups",
            )
    if each.parallel is not None and each.parallel > each.max_items:
        findings.note("CLR253", f"parallel={each.parallel} is more than max_items={each.max_items}", place)


def _check_sequence(items: Sequence, max_items: int, scope: Scope) -> None:
    if (items.count is None) == (items.end is None):
        scope.findings.error("CLR254", "a range needs either a count or an end", scope.place)
    for part in (items.start, items.end, items.count):
        if part is not None:
            no = unfit(part, INT, scope)
            if no is not None and not accepts(STR, value_type(part, scope)):
                scope.findings.error("CLR254", f"a range is made of ints: {no.reason}", scope.place)
    length = _length(items)
    if length is not None and length > max_items:
        scope.findings.error(
            "CLR251",
            f"the range has {length:,} items, and the fan-out may have {max_items:,}",
            scope.place,
            help=f"write max_items={length}, or pass the items in groups",
        )
    if length is not None and length < 0:
        scope.findings.error("CLR254", f"a range can't have {length} items", scope.place)


def _length(items: Sequence) -> int | None:
    count, start, end = (
        part.value if isinstance(part, x.Literal) and type(part.value) is int else None
        for part in (items.count, items.start, items.end)
    )
    if count is not None:
        return count
    if end is None or (items.start is not None and start is None):
        return None
    return abs(end - (start or 0)) + 1


def item_type(each: Each, scope: Scope) -> Type:
    """The type of one item."""
    if isinstance(each.items, Sequence):
        return STR if each.items.form else INT
    found = infer(each.items, scope)
    return found.item if isinstance(found, ListOf) else ANY
