"""Options held against the types that their `TypedDict` gives them: a wrong one is refused where it is written."""

from __future__ import annotations

import collections.abc
import functools
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Union, cast

Options = TypeVar("Options", bound=Mapping[str, Any])


def without_none(options: Options) -> Options:
    """The options without those that are None, which stands for leaving an option out."""
    return cast(Options, {name: value for name, value in options.items() if value is not None})


def misfit(known: type, options: Mapping[str, Any], *, beside: frozenset[str] = frozenset()) -> str | None:
    """What is wrong with the first option that isn't of its type; None where all are.

    `known` is the `TypedDict`; options in `beside` are left to others. Values are not shown: one may be a secret.

    >>> class Options(typing.TypedDict, total=False):
    ...     names: collections.abc.Sequence[str]
    >>> misfit(Options, {"names": "a"})
    'names is of type str, not Sequence[str]'
    """
    hints = _hints(known)
    for name, value in options.items():
        if name in hints and name not in beside:
            wrong = _wrong(hints[name], value, name)
            if wrong is not None:
                return wrong
    return None


@functools.cache
def _hints(known: type) -> dict[str, Any]:
    return typing.get_type_hints(known)


def _wrong(hint: Any, value: Any, place: str) -> str | None:
    inner = _inner(hint, value)
    if inner is None:
        return f"{place} is of type {type(value).__name__}, not {_shown(hint)}"
    found = (_wrong(part, item, f"{place}{where}") for part, item, where in inner)
    return next((wrong for wrong in found if wrong is not None), None)


def _inner(hint: Any, value: Any) -> list[tuple[Any, Any, str]] | None:
    """The parts of a value that have types of their own; None where the value itself is of another type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return [] if value in arguments else None
    if origin in (Union, types.UnionType):
        found = [(option, inner) for option in arguments if (inner := _inner(option, value)) is not None]
        whole = (option for option, _ in found if _wrong(option, value, "") is None)
        return [] if next(whole, None) is not None else found[0][1] if found else None
    if origin is collections.abc.Callable:
        return [] if callable(value) else None
    if origin is tuple:
        fits = isinstance(value, tuple) and len(value) == len(arguments)
        return [(part, item, f"[{i}]") for i, (part, item) in enumerate(zip(arguments, value))] if fits else None  # noqa: B905
    if origin is collections.abc.Sequence:
        fits = isinstance(value, collections.abc.Sequence) and not isinstance(value, str | bytes)
        return [(arguments[0], item, f"[{i}]") for i, item in enumerate(value)] if fits else None
    if origin is collections.abc.Mapping:
        if not isinstance(value, Mapping):
            return None
        return [(arguments[1], item, f"[{key!r}]") for key, item in value.items()]
    if hint in (int, float):
        numbers = int if hint is int else int | float
        return [] if isinstance(value, numbers) and not isinstance(value, bool) else None
    return [] if hint is Any or not isinstance(hint, type) or isinstance(value, hint) else None


def _shown(hint: Any) -> str:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return " | ".join(map(_shown, arguments))
    if origin is Literal:
        return " or ".join(map(repr, arguments))
    if origin is not None and arguments:
        return f"{origin.__name__}[{', '.join(map(_shown, arguments))}]"
    return str(getattr(hint, "__name__", hint))
