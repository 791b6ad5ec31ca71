"""What is taken from values: members, elements, slices, and whether something is in them."""

from __future__ import annotations

from typing import Any

from couler_py.argolang.arithmetic import equal, whole
from couler_py.argolang.functions.gotime import Moment
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import AnyMap, Byte, StringMap, from_bytes, in_bytes, is_nil, kind

_MISSING = object()


def fetched(base: Any, name: Any) -> Any:
    """`base.name` and `base[name]`: nil for what an object doesn't have, an error for what a list doesn't."""
    if isinstance(base, list | str):
        found = element(base, name)
        if found is _MISSING:
            raise EvaluationProblem(f"the index {name} is out of range: there are {_length(base)} elements")
        return found
    if isinstance(base, dict):
        return base.get(_key(base, name), "" if isinstance(base, StringMap) else None)
    raise EvaluationProblem(f"{_said(name)} can't be taken from a {kind(base)}")


def element(base: list[Any] | str, index: Any) -> Any:
    """An element by its number, from the end where it is negative; that of a text is a byte."""
    items: Any = in_bytes(base) if isinstance(base, str) else base
    place = whole(index)
    place = place + len(items) if place < 0 else place
    if not 0 <= place < len(items):
        return _MISSING
    return Byte(items[place]) if isinstance(base, str) else items[place]


def got(base: Any, name: Any) -> Any:
    """`get(base, name)`: nil for whatever isn't there."""
    if is_nil(base):
        return None
    if isinstance(base, list | str):
        found = element(base, name)
        return None if found is _MISSING else found
    return base.get(_key(base, name)) if isinstance(base, dict) else None


def sliced(base: Any, first: Any, last: Any) -> Any:
    """`base[first:last]`; that of a text counts bytes."""
    if not isinstance(base, list | str):
        raise EvaluationProblem(f"a {kind(base)} can't be sliced")
    items: Any = in_bytes(base) if isinstance(base, str) else base
    length = len(items)
    start, end = (0 if first is None else whole(first)), (length if last is None else whole(last))
    start = max(start + length, 0) if start < 0 else start
    end = min(max(end + length, 0) if end < 0 else end, length)
    part = items[min(start, end) : end]
    if isinstance(base, str):
        return from_bytes(part)
    return type(base)(part)


def held(container: Any, needle: Any) -> bool:
    """`needle in container`."""
    if container is None:
        return False
    if isinstance(container, list):
        return any(equal(each, needle) for each in container)
    if isinstance(container, dict):
        return _key(container, needle) in container
    if isinstance(container, Moment) and isinstance(needle, str):
        return False
    raise EvaluationProblem(f"'in' has no meaning for a {kind(container)}")


def _key(base: dict[Any, Any], name: Any) -> Any:
    if isinstance(base, AnyMap):
        return name
    if name is None:
        return ""
    if not isinstance(name, str):
        raise EvaluationProblem(f"an object has texts as keys, not a {kind(name)}")
    return name


def _length(base: list[Any] | str) -> int:
    return len(in_bytes(base)) if isinstance(base, str) else len(base)


def _said(name: Any) -> str:
    return repr(name) if isinstance(name, str) else f"the element {name}"
