"""`Native`: what a document says beyond, or otherwise than, what its workflow is written as."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from couler_py.backends.argo.document.templated import copied, escaped, steps
from couler_py.ir.diagnostics import Diagnostic, warning
from couler_py.ir.model import Native

JSON = dict[str, Any]


def difference(written: Any, wanted: Any) -> tuple[Native, ...]:
    """Natives that make the written data the wanted, sorted by pointer. Lists of unequal length differ as a whole."""
    if written is wanted:
        return ()
    found: list[Native] = []
    _compare(written, wanted, "", found)
    return tuple(sorted(found, key=lambda each: each.pointer))


def _compare(written: Any, wanted: Any, pointer: str, found: list[Native]) -> None:
    if type(written) is dict and type(wanted) is dict:
        for key, value in wanted.items():
            if key in written:
                own = written[key]
                if type(value) is str:
                    if own != value:
                        found.append(_native(f"{pointer}/{escaped(key)}", own, value))
                elif own is not value:
                    _compare(own, value, f"{pointer}/{escaped(key)}", found)
            else:
                found.append(Native("argo", f"{pointer}/{escaped(key)}", value=copied(value)))
        if len(written) > len(wanted) or written.keys() - wanted.keys():
            for key in written.keys() - wanted.keys():
                found.append(Native("argo", f"{pointer}/{escaped(key)}", was=copied(written[key])))
    elif type(written) is list and type(wanted) is list and len(written) == len(wanted):
        for index, (own, value) in enumerate(zip(written, wanted, strict=True)):
            _compare(own, value, f"{pointer}/{index}", found)
    elif not same(written, wanted):
        found.append(_native(pointer, written, wanted))


def _native(pointer: str, written: Any, wanted: Any) -> Native:
    return Native("argo", pointer, copied(written), copied(wanted))


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal, types of numbers included: 1, 1.0 and true are three values."""
    if type(one) is not type(other):
        return False
    if type(one) is dict:
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if type(one) is list:
        return len(one) == len(other) and all(same(*pair) for pair in zip(one, other, strict=True))
    return bool(one == other)


def applied(data: JSON, natives: Iterable[Native]) -> tuple[Diagnostic, ...]:
    """Put natives into written data, in place; what was written otherwise meanwhile stays, and is said."""
    return tuple(_dropped(each) for each in natives if each.engine == "argo" and not _apply(data, each))


def fits(data: JSON, native: Native) -> bool:
    """Whether written data says in a native's place what the native stands for."""
    return _fits(functools.reduce(_member, steps(native.pointer), data), native)


def _fits(own: Any, native: Native) -> bool:
    return own is UNSET if native.was is UNSET else own is not UNSET and same(own, native.was)


def _apply(data: JSON, native: Native) -> bool:
    *outer, last = steps(native.pointer)
    inner: Any = functools.reduce(_member, outer, data)
    own = _member(inner, last)
    if not _fits(own, native):
        # An empty object that is filled meanwhile says nothing that could be lost.
        return native.was is UNSET and native.value in ({}, [], None)
    if isinstance(inner, list):
        if native.value is UNSET or own is UNSET:
            return False
        inner[int(last)] = copied(native.value)
    elif not isinstance(inner, dict):
        return False
    elif native.value is UNSET:
        del inner[last]
    else:
        inner[last] = copied(native.value)
    return True


def _member(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step, UNSET)
    if isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
        return value[int(step)]
    return UNSET


def _dropped(native: Native) -> Diagnostic:
    return warning(
        "CLR494",
        f"{native.pointer}: the workflow says something else there now, so what the imported document said is gone",
        why="a part of an imported document that the IR has no word for holds only as long as what it replaced",
        help="write the field anew, or change the document itself",
    )
