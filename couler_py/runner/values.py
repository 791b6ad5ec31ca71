"""Values on their way into a step and out of it: JSON as the objects that annotations ask for, and back.

A part of the runner, as `step.py` is: standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import enum
import sys
import types
import typing
from typing import Any

from couler_py.ir import wire

if typing.TYPE_CHECKING:
    import datetime

# The annotations of each class that was met: a list may hold many of its objects.
FIELDS: dict[Any, dict[str, Any]] = {}


class StepError(Exception):
    """Something about the step, not inside the user's code, that a person must mend."""


def hints_of(function: Any, namespace: dict[str, Any]) -> dict[str, Any]:
    """The annotations of a function or class as objects; none, said on stderr, where this Python can't read them."""
    plain = getattr(function, "__annotations__", None)
    if plain and all(isinstance(hint, type) for hint in plain.values()):
        return dict(plain)  # nothing to read, which takes time
    try:
        return typing.get_type_hints(function, namespace)
    except Exception as error:  # an annotation is any expression, as `int | None` on Python 3.8
        name = getattr(function, "__name__", "the step")
        print(
            f"couler: values for {name} stay plain JSON, its annotations can't be read here: {error}", file=sys.stderr
        )
        return {}


def is_list(hint: Any) -> bool:
    """Whether an annotation asks for a list of files: those of a fan-out, which lie in one folder."""
    origin = typing.get_origin(hint)
    return isinstance(origin, type) and hasattr(origin, "__iter__")


def build(hint: Any, value: Any) -> Any:
    """A JSON value as the object that an annotation asks for."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is not None and str(origin) == "<class 'typing.Annotated'>":
        return build(inner[0], value)
    if origin is typing.Union or str(origin) == "<class 'types.UnionType'>":
        return build_union(inner, value)
    if origin in (list, tuple) and isinstance(value, list):
        if origin is tuple and inner and inner[-1] is not Ellipsis:
            return tuple(build(kind, item) for kind, item in zip(inner, value))  # noqa: B905
        return origin(build(inner[0], item) for item in value) if inner else origin(value)
    if origin is dict and isinstance(value, dict) and len(inner) == 2:
        return {key: build(inner[1], item) for key, item in value.items()}
    if not isinstance(hint, type):
        return value
    if hint is tuple and isinstance(value, list):
        return tuple(value)
    if issubclass(hint, enum.Enum):
        return hint(value)
    if isinstance(value, str) and is_time(hint):
        return parse_time(value)
    if isinstance(value, dict) and (hasattr(hint, "__dataclass_fields__") or hasattr(hint, "_fields")):
        if hint not in FIELDS:
            FIELDS[hint] = hints_of(hint, dict(vars(sys.modules.get(hint.__module__, types))))
        kinds = FIELDS[hint]
        return hint(**{key: build(kinds.get(key, Any), item) for key, item in value.items()})
    return value


def build_union(options: tuple[Any, ...], value: Any) -> Any:
    for option in options:
        if option is type(None):
            if value is None:
                return None
            continue
        if isinstance(option, type) and type(value) is option:
            return value
    for option in options:
        if option is type(None):
            continue
        try:
            built = build(option, value)
        except (TypeError, ValueError, KeyError):
            continue
        if type(built) is not type(value):
            return built
    return value


def is_time(kind: type) -> bool:
    module = sys.modules.get("datetime")  # who has never imported it has no times
    return module is not None and issubclass(kind, module.datetime)


def parse_time(text: str) -> datetime.datetime:
    import datetime

    return datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)


def reads_as_time(text: str) -> bool:
    try:
        parse_time(text)
    except ValueError:
        return False
    return "T" in text.upper()


def plain(value: Any) -> Any:
    """A returned object as a JSON value. Raises `StepError` for what has no JSON form."""
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if is_time(type(value)):
        if value.tzinfo is None:
            raise StepError(f"the datetime {value!r} has no time zone: give it one, as datetime.timezone.utc")
        return value.isoformat()
    if hasattr(type(value), "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in fields_of(value)}
    if hasattr(value, "_asdict"):
        return {key: plain(item) for key, item in value._asdict().items()}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:  # a number of numpy, torch, jax
        return plain(value.item())
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    raise StepError(f"a {type(value).__name__} can't travel to another step: return JSON values, or a Path to a file")


def fields_of(value: Any) -> list[str]:
    import dataclasses

    return [field.name for field in dataclasses.fields(value)]


SCALARS: dict[str, Any] = {
    "str": str,
    "datetime": str,
    "int": int,
    "float": (int, float),
    "bool": bool,
    "none": type(None),
    "any": object,
}


def misfit(type_: dict[str, Any], value: Any) -> str | None:
    """Why a JSON value is not of a type; None where it is. The same rule as `couler_py.ir.types.mismatch`."""
    kind = type_["type"]
    shown = repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "..."
    if kind == "scalar":
        name = type_["name"]
        if name in ("int", "float") and isinstance(value, bool):
            return f"{shown} is not {name}"
        if name == "float" and isinstance(value, str) and value in wire.NON_FINITE:
            return None
        if name == "datetime" and isinstance(value, str) and not reads_as_time(value):
            return f"{shown} is not datetime"
        return None if isinstance(value, SCALARS[name]) else f"{shown} is not {name}"
    if kind == "choice":
        fits = any(value == known and type(value) is type(known) for known in type_["values"])
        return None if fits else f"{shown} is not one of {', '.join(map(repr, type_['values']))}"
    if kind == "union":
        fits = any(misfit(option, value) is None for option in type_["options"])
        return None if fits else f"{shown} has none of the types that are allowed"
    if kind == "list":
        if not isinstance(value, (list, tuple)):
            return f"{shown} is not a list"
        return first_misfit((f"element {i}", type_["item"], item) for i, item in enumerate(value))
    if not isinstance(value, dict):
        return f"{shown} is not an object"
    if kind == "dict":
        return first_misfit((f"member {key!r}", type_["value"], item) for key, item in value.items())
    fields = {field["name"]: field for field in type_["fields"]}
    for key in value:
        if key not in fields:
            return f"{type_['name']} has no field {key!r}"
    for key, field in fields.items():
        if field.get("required", True) and key not in value:
            return f"{type_['name']} lacks the field {key!r}"
    return first_misfit((f"field {key!r}", fields[key]["type"], item) for key, item in value.items())


def first_misfit(parts: Any) -> str | None:
    for place, type_, value in parts:
        problem = misfit(type_, value)
        if problem:
            return f"{place}: {problem}"
    return None
