"""Python annotations as types of the IR: what a step's signature says about the values that travel.

| annotation | type |
|---|---|
| `bool`, `int`, `float`, `str`, `None`, `datetime` | the scalar of that name |
| `Any`, `object`, none at all | `any` |
| `list[T]`, `Sequence[T]`, `Iterable[T]` | list of T |
| `dict[str, T]`, `Mapping[str, T]` | object with values T |
| `Literal[…]`, an `Enum` | one of its values |
| `T | U`, `Optional[T]` | any of them |
| a dataclass, `TypedDict`, `NamedTuple` | object with its fields |
| `Path`, `Path | None`, `list[Path]` | an artifact: a file or folder; optional; a folder of them |

Everything else is refused, with what to write instead.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import enum
import os
import pathlib
import sys
import types as python_types
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ForwardRef, Literal, TypeAlias, TypeVar, Union

import msgspec

from couler_py.dsl.errors import AnnotationError
from couler_py.ir.diagnostics import error
from couler_py.ir.model import Source
from couler_py.ir.types import (
    ANY,
    BOOL,
    DATETIME,
    FLOAT,
    INT,
    NONE,
    STR,
    Choice,
    DictOf,
    Field,
    ListOf,
    Record,
    Type,
    UnionOf,
)

SCALARS: dict[Any, Type] = {
    bool: BOOL,
    int: INT,
    float: FLOAT,
    str: STR,
    None: NONE,
    python_types.NoneType: NONE,
    datetime.datetime: DATETIME,
    Any: ANY,
    object: ANY,
    list: ListOf(ANY),
    dict: DictOf(ANY),
}
LISTS: tuple[Any, ...] = (
    list,
    collections.abc.Sequence,
    collections.abc.MutableSequence,
    collections.abc.Iterable,
    collections.abc.Collection,
)
DICTS: tuple[Any, ...] = (dict, collections.abc.Mapping, collections.abc.MutableMapping)

HELP: dict[Any, str] = {
    bytes: "bytes travel as a file: write them to a path and annotate `pathlib.Path`",
    bytearray: "bytes travel as a file: write them to a path and annotate `pathlib.Path`",
    set: "JSON has no sets: annotate `list[...]` and make a set of it inside the step",
    frozenset: "JSON has no sets: annotate `list[...]` and make a set of it inside the step",
    tuple: "JSON has no tuples: annotate `list[...]`, or a `NamedTuple` whose fields have names",
    complex: "annotate `list[float]`, or a `NamedTuple` of two floats",
    datetime.date: "annotate `datetime.datetime`, or `str` and use `date.isoformat()`",
    datetime.time: "annotate `str` and use `time.isoformat()`",
    datetime.timedelta: "annotate `float` and say in the name that it is in seconds",
}


class ArtifactType(msgspec.Struct, frozen=True):
    """A file or folder. `optional`: it may be missing, and is None then. `many`: a folder, read as a list of paths."""

    optional: bool = False
    many: bool = False

    def describe(self) -> str:
        """The type as a person would write it."""
        text = "list[Path]" if self.many else "Path"
        return f"{text} | None" if self.optional else text


Hint: TypeAlias = Type | ArtifactType


class Scope(msgspec.Struct, frozen=True):
    """Where names in annotations are looked up, and what to name in an error."""

    names: Mapping[str, Any]
    source: Source | None = None
    step: str = ""
    what: str = ""


def hint(annotation: Any, scope: Scope) -> Hint:
    """The type or artifact that an annotation stands for. Raises `AnnotationError`."""
    if type(annotation) is type and annotation in SCALARS:
        return SCALARS[annotation]
    annotation = resolve(annotation, scope)
    if is_path(annotation):
        return ArtifactType()
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in LISTS and len(arguments) == 1 and is_path(resolve(arguments[0], scope)):
        return ArtifactType(many=True)
    if origin in (Union, python_types.UnionType):
        options = [resolve(option, scope) for option in arguments]
        artifacts = [option for option in options if isinstance(_peek(option, scope), ArtifactType)]
        others = [option for option in options if option not in artifacts]
        if artifacts:
            if len(artifacts) == 1 and others in ([None], [python_types.NoneType]):
                found = _peek(artifacts[0], scope)
                assert isinstance(found, ArtifactType)
                return ArtifactType(optional=True, many=found.many)
            raise _refused(annotation, scope, "a file is an artifact and can't be mixed with values: use two arguments")
    return value_type(annotation, scope)


def _peek(annotation: Any, scope: Scope) -> Hint | None:
    if is_path(annotation):
        return ArtifactType()
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) in LISTS and len(arguments) == 1 and is_path(resolve(arguments[0], scope)):
        return ArtifactType(many=True)
    return None


def is_path(annotation: Any) -> bool:
    """Whether an annotation names a file or folder."""
    return isinstance(annotation, type) and (
        issubclass(annotation, pathlib.PurePath) or annotation is os.PathLike  # a str is no path
    )


def value_type(annotation: Any, scope: Scope, inside: tuple[type, ...] = ()) -> Type:
    """The type of values that an annotation stands for; `inside` are the classes being read, to find recursion.

    Raises `AnnotationError` for what can't travel, a `Path` included.
    """
    annotation = resolve(annotation, scope)
    try:
        scalar = SCALARS.get(annotation)
    except TypeError:
        scalar = None
    if scalar is not None:
        return scalar
    if is_path(annotation):
        raise _refused(annotation, scope, "a file travels as an argument or a result of its own, not inside a value")
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return Choice(tuple(_literal(value, annotation, scope) for value in arguments))
    if origin in (Union, python_types.UnionType):
        return _union([value_type(option, scope, inside) for option in arguments])
    if origin in LISTS:
        return ListOf(value_type(arguments[0], scope, inside))
    if origin in DICTS:
        _check_keys(resolve(arguments[0], scope), annotation, scope)
        return DictOf(value_type(arguments[1], scope, inside))
    if annotation in LISTS:
        return ListOf(ANY)
    if annotation in DICTS:
        return DictOf(ANY)
    if isinstance(annotation, type) and origin is None:
        return _class(annotation, scope, inside)
    raise _refused(annotation, scope, _help(origin if origin is not None else annotation))


def resolve(annotation: Any, scope: Scope) -> Any:
    """The annotation with text evaluated and `Annotated`, `NewType`, `Required` and type aliases taken off."""
    while True:
        if isinstance(annotation, ForwardRef):
            annotation = annotation.__forward_arg__
        if isinstance(annotation, str):
            annotation = _evaluate(annotation, scope)
        elif typing.get_origin(annotation) in (Annotated, typing.Required, typing.NotRequired):
            annotation = typing.get_args(annotation)[0]
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":
            annotation = annotation.__value__
        else:
            return annotation


def description(annotation: Any, scope: Scope) -> str:
    """The first text that `Annotated[T, "text"]` carries, else ""."""
    if isinstance(annotation, ForwardRef):  # of a NamedTuple, where annotations are text
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        annotation = _evaluate(annotation, scope)
    if typing.get_origin(annotation) is not Annotated:
        return ""
    return next((extra for extra in annotation.__metadata__ if isinstance(extra, str)), "")


def result_fields(annotation: Any, scope: Scope) -> tuple[tuple[str, Any], ...] | None:
    """The fields of a `NamedTuple` or dataclass, each an output of a step that returns it; None for other types."""
    annotation = resolve(annotation, scope)
    if isinstance(annotation, type) and (_is_named_tuple(annotation) or dataclasses.is_dataclass(annotation)):
        return tuple((name, field) for name, field, _ in _members(annotation, scope))
    return None


def class_scope(class_: type, scope: Scope) -> Scope:
    """Where the annotations of a class's fields are looked up: its module first."""
    module = sys.modules.get(class_.__module__)
    names = {**scope.names, **(vars(module) if module else {}), class_.__name__: class_}
    return msgspec.structs.replace(scope, names=names)


def _class(class_: type, scope: Scope, inside: tuple[type, ...]) -> Type:
    if issubclass(class_, enum.Enum):
        if issubclass(class_, enum.Flag):
            raise _refused(class_, scope, "flags combine: annotate `int`, or `list` of an Enum")
        return Choice(tuple(_literal(member.value, class_, scope) for member in class_), class_.__name__)
    if _is_generic(class_):
        raise _refused(class_, scope, "generic classes can't travel: write a dataclass with the types filled in")
    if not (_is_named_tuple(class_) or dataclasses.is_dataclass(class_) or typing.is_typeddict(class_)):
        raise _refused(class_, scope, _help(class_))
    if class_ in inside:
        raise _refused(
            class_, scope, f"{class_.__name__} contains itself: annotate the inner field `Any` or `dict[str, Any]`"
        )
    members = _members(class_, scope)
    fields = tuple(
        Field(
            name,
            value_type(
                annotation,
                msgspec.structs.replace(class_scope(class_, scope), what=f"{scope.what}, field {name!r}"),
                (*inside, class_),
            ),
            required,
        )
        for name, annotation, required in members
    )
    return Record(class_.__name__, fields)


def _is_generic(class_: type) -> bool:
    return bool(getattr(class_, "__parameters__", ()))


def _members(class_: type, scope: Scope) -> list[tuple[str, Any, bool]]:
    """Name, annotation and whether it is required, of each field of a class, in order."""
    if dataclasses.is_dataclass(class_):
        return [
            (
                field.name,
                field.type,
                field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
            )
            for field in dataclasses.fields(class_)
            if field.init
        ]
    if typing.is_typeddict(class_):
        required = _required_keys(class_, scope)
        return [(name, annotation, name in required) for name, annotation in _annotations(class_).items()]
    fields = class_._fields  # type: ignore[attr-defined]
    defaults = class_._field_defaults  # type: ignore[attr-defined]
    annotations = _annotations(class_)
    return [(name, annotations.get(name, Any), name not in defaults) for name in fields]


def _annotations(class_: type) -> dict[str, Any]:
    return dict(class_.__annotations__)


def _required_keys(class_: Any, scope: Scope) -> set[str]:
    # With `from __future__ import annotations` Python can't see Required and NotRequired in the text.
    required = set(class_.__required_keys__)
    inner = class_scope(class_, scope)
    for name, annotation in _annotations(class_).items():
        found = annotation
        if isinstance(found, ForwardRef):
            found = found.__forward_arg__
        if isinstance(found, str):
            found = _evaluate(found, inner)
        if typing.get_origin(found) is typing.NotRequired:
            required.discard(name)
        elif typing.get_origin(found) is typing.Required:
            required.add(name)
    return required


def _is_named_tuple(class_: type) -> bool:
    return issubclass(class_, tuple) and hasattr(class_, "_fields")


def _union(options: list[Type]) -> Type:
    flat: dict[Type, None] = {}
    for option in options:
        for part in option.options if isinstance(option, UnionOf) else (option,):
            flat[part] = None
    if ANY in flat:
        return ANY
    return next(iter(flat)) if len(flat) == 1 else UnionOf(tuple(flat))


def _literal(value: Any, annotation: Any, scope: Scope) -> str | int | float | bool | None:
    if isinstance(value, enum.Enum):
        value = value.value
    if value is None or isinstance(value, bool):
        return value
    for plain in (str, int, float):
        if isinstance(value, plain):
            return plain(value)
    raise _refused(annotation, scope, f"the value {value!r} is not a string, number, boolean or None")


def _check_keys(keys: Any, annotation: Any, scope: Scope) -> None:
    literal = typing.get_origin(keys) is Literal and all(isinstance(key, str) for key in typing.get_args(keys))
    strings = keys in (str, Any) or (isinstance(keys, type) and issubclass(keys, str))
    if not (literal or strings):
        raise _refused(annotation, scope, "the keys of JSON objects are strings: annotate `dict[str, ...]`")


def _evaluate(text: str, scope: Scope) -> Any:
    try:
        # What `typing.get_type_hints` does with the text that a person wrote as an annotation.
        return eval(text, {**scope.names})  # noqa: S307
    except Exception as problem:
        raise AnnotationError(
            [
                error(
                    "CLR101",
                    f"the annotation {text!r}{_of(scope)} can't be resolved: {problem}",
                    source=scope.source,
                    step=scope.step,
                    why="types are read when the step is defined",
                    help="import or define the name above the step, not under `if TYPE_CHECKING:`",
                )
            ]
        ) from problem


def _help(class_: Any) -> str:
    if class_ in HELP:
        return HELP[class_]
    if isinstance(class_, TypeVar):
        return "a step is not generic: write the type that travels, or `Any`"
    if isinstance(class_, type) and _is_generic(class_):
        return "generic classes can't travel: write a dataclass with the types filled in"
    if class_ is collections.abc.Callable or class_ is Callable:
        return "functions can't travel: pass a name or number and choose inside the step"
    module = getattr(class_, "__module__", "").partition(".")[0]
    if module in ("numpy", "pandas", "torch", "polars", "pyarrow", "PIL", "scipy", "sklearn", "tensorflow"):
        return "write it to a file and annotate `pathlib.Path`; small numbers travel as `float` or `list[float]`"
    return "use a dataclass, TypedDict or NamedTuple of plain values, or write a file and annotate `pathlib.Path`"


def _of(scope: Scope) -> str:
    return f" of {scope.what}" if scope.what else ""


def _refused(annotation: Any, scope: Scope, help_: str) -> AnnotationError:
    shown = annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")
    return AnnotationError(
        [
            error(
                "CLR100",
                f"the type {shown}{_of(scope)} can't travel between steps",
                source=scope.source,
                step=scope.step,
                help=help_,
            )
        ]
    )
