"""The options of an engine, as its caller chose them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TypeVar

import msgspec
from msgspec import inspect

from couler_py.backends.base import OptionError

T = TypeVar("T", bound=msgspec.Struct)


def options_from(given: Mapping[str, object], options: type[T], whose: str) -> T:
    """Options from what was given by name; `whose` begins the message.

    Raises `OptionError` for one that isn't known, or for a value that it can't have; it says which there are.
    """
    words = {field.encode_name: _words(field.type) for field in inspect.type_info(options).fields}  # type: ignore[attr-defined]
    for name, value in given.items():
        if name not in words:
            near = difflib.get_close_matches(name, words, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"the options are {', '.join(words)}"
            raise OptionError(f"{whose}: there is no option {name!r}; {hint}")
        if words[name] and value is not None and value not in words[name]:
            raise OptionError(f"{whose}: {name} can't be {value!r}; it is one of {', '.join(words[name])}")
    try:
        return msgspec.convert(given, options)
    except msgspec.ValidationError as error:
        raise OptionError(f"{whose}: {error}; the options are {', '.join(words)}") from None


def _words(kind: inspect.Type) -> tuple[str, ...]:
    # The words that an option may have; none, where it may be anything else too.
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    said = [each for each in kinds if not isinstance(each, inspect.NoneType)]
    if not all(isinstance(each, inspect.LiteralType) for each in said):
        return ()
    return tuple(str(value) for each in said for value in each.values)  # type: ignore[attr-defined]
