"""Parts of the IR as calls of their classes: the form in which everything can be said."""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py.ir.model import Piece, Source
from couler_py.ir.types import Scalar
from couler_py.printer.layout import Doc, Group, Named, call, keyword
from couler_py.printer.literal import literal

# What `couler` itself has under the same name; everything else is written `ir.model.Task` and so on.
PUBLIC = frozenset(
    {"Backoff", "Cache", "Mutex", "RetryPolicy", "Schedule", "Semaphore", "Ttl", "ConfigMapRef", "Container", "Dns"}
    | {"DnsOption", "EnvFrom", "FieldRef", "Resources", "Toleration", "Volume", "VolumeClaim", "VolumeMount", "GCS"}
    | {"HDFS", "OSS", "S3", "Azure", "Git", "HTTPLocation", "LocalPath", "RawData"}
)
_MODULES = ("model", "pod", "storage")


def construct(part: Any) -> Doc:
    """A struct, or a tuple of these, or a JSON value, as source. Names `couler` and `ir` are what it needs."""
    if isinstance(part, tuple):
        return Group("(", tuple(construct(item) for item in part), ")", lone="," if len(part) == 1 else "")
    if not isinstance(part, msgspec.Struct):
        return literal(part)
    if isinstance(part, Scalar):
        return f"ir.types.{part.name.upper()}"
    if isinstance(part, Piece):
        return call("ir.model.Piece", literal(part.text))
    if type(part).__name__ == "SecretRef":
        return secret(part)
    return call(_class(part), *_arguments(part))


def secret(part: Any) -> Doc:
    """A reference to a secret, by the verb that people use where that gives the same."""
    if not part.name or not part.key:
        return call("couler.SecretRef", *_arguments(part))
    given = [literal(part.name), literal(part.key)]
    return call("couler.secret", *given, *([keyword("optional", "True")] if part.optional else []))


def _class(part: Any) -> str:
    kind = type(part)
    module = kind.__module__.removeprefix("couler_py.ir.")
    if module in _MODULES and kind.__name__ in PUBLIC:
        return f"couler.{kind.__name__}"
    return f"ir.{module}.{kind.__name__}"


def _arguments(part: Any) -> list[Doc]:
    """The fields that say something: the first ones without a default by place, the others by name."""
    found: list[Doc] = []
    by_place = True
    for field in msgspec.structs.fields(part):
        value = getattr(part, field.name)
        if field.required:
            doc = construct(value)
            found.append(doc if by_place else keyword(field.name, doc))
            continue
        by_place = False
        default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        if isinstance(value, Source) or _same(value, default):
            continue
        found.append(keyword(field.name, construct(value)))
    return found


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


__all__ = ["Named", "construct", "secret"]
