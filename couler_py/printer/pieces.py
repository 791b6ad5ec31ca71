"""The pieces of a Python step, taken apart: what each defines, and what type a class or annotation in them stands for.

Nothing of a person's is run for it: annotations are read from the syntax tree, and only in the forms of which
it is certain what the DSL makes of them. For all others a step is printed as the IR says it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import msgspec

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

PieceKind: TypeAlias = Literal["import", "constant", "class", "function", "alias"]


class Parsed(msgspec.Struct, frozen=True, eq=False):
    """One piece: the name that it binds, its text and its syntax tree."""

    name: str
    kind: PieceKind
    text: str
    node: ast.stmt


class File(msgspec.Struct, frozen=True):
    """The annotation of a file, a folder, or (many) a folder read as a list of paths."""

    optional: bool = False
    many: bool = False


def parse(text: str) -> Parsed | None:
    """A piece that is one statement which binds one name; None for any other text."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    if len(body) != 1:
        return None
    node = body[0]
    match node:
        case ast.Import(names=[alias]):
            return Parsed(alias.asname or alias.name.partition(".")[0], "import", text, node)
        case ast.ImportFrom(names=[alias], level=0) if alias.name != "*":
            return Parsed(alias.asname or alias.name, "import", text, node)
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return Parsed(name, "constant" if _is_literal(value) else "alias", text, node)
        case ast.ClassDef(name=name):
            return Parsed(name, "class", text, node)
        case ast.FunctionDef(name=name):
            return Parsed(name, "function", text, node)
        case _:
            return None


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def constant(parsed: Parsed) -> Any:
    """The value of a constant."""
    assert isinstance(parsed.node, ast.Assign)
    return ast.literal_eval(parsed.node.value)


_SCALARS: dict[str, Type] = {
    "str": STR,
    "int": INT,
    "float": FLOAT,
    "bool": BOOL,
    "object": ANY,
    "list": ListOf(ANY),
    "dict": DictOf(ANY),
}
_IMPORTED: dict[str, Type | File] = {
    "typing.Any": ANY,
    "datetime.datetime": DATETIME,
    "pathlib.Path": File(),
    "pathlib.PurePath": File(),
}
_LISTS = frozenset(
    {"list", "typing.List", "typing.Sequence", "typing.Iterable"}
    | {f"collections.abc.{name}" for name in ("Sequence", "MutableSequence", "Iterable", "Collection")}
)
_DICTS = frozenset({"dict", "typing.Dict", "typing.Mapping"}) | {
    f"collections.abc.{name}" for name in ("Mapping", "MutableMapping")
}


class UnreadableError(Exception):
    """An annotation of which it isn't certain what it stands for."""


class Reader:
    """Reads the annotations of one step. `pieces` are by the name that they bind."""

    def __init__(self, pieces: Mapping[str, Parsed]):
        self.pieces = pieces
        self._inside: list[str] = []

    def hint(self, node: ast.expr | None) -> tuple[Type | File, str]:
        """What an annotation stands for, and the description that it carries. Raises `UnreadableError`."""
        if node is None:
            return ANY, ""
        if isinstance(node, ast.Subscript) and self._named(node.value) == "typing.Annotated":
            inner = node.slice
            if not isinstance(inner, ast.Tuple):
                raise UnreadableError
            texts = [e.value for e in inner.elts[1:] if isinstance(e, ast.Constant) and isinstance(e.value, str)]
            return self.hint(inner.elts[0])[0], texts[0] if texts else ""
        return self._hint(self._text(node)), ""

    def _hint(self, node: ast.expr) -> Type | File:
        options = self._options(node)
        if len(options) > 1:
            found = [self._hint(option) for option in options]
            files = [item for item in found if isinstance(item, File)]
            if files:
                if len(found) == 2 and NONE in found:
                    return File(optional=True, many=files[0].many)
                raise UnreadableError
            return _union([item for item in found if not isinstance(item, File)])
        if isinstance(node, ast.Subscript) and self._named(node.value) in _LISTS:
            inner = self._hint(self._text(node.slice))
            if isinstance(inner, File):
                if inner != File():
                    raise UnreadableError
                return File(many=True)
            return ListOf(inner)
        return self._single(node)

    def _single(self, node: ast.expr) -> Type | File:
        if isinstance(node, ast.Constant) and node.value is None:
            return NONE
        if isinstance(node, ast.Subscript):
            return self._generic(node)
        name = self._named(node)
        if name in self.pieces:
            return self.type_of_class(name)
        found = _IMPORTED.get(name) or _SCALARS.get(name)
        if found is None:
            raise UnreadableError
        return found

    def _generic(self, node: ast.Subscript) -> Type:
        name = self._named(node.value)
        if name in _DICTS and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
            key, value = node.slice.elts
            if self._named(key) != "str":
                raise UnreadableError
            return DictOf(self.value(value))
        if name == "typing.Literal":
            elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            try:
                values = [ast.literal_eval(element) for element in elements]
            except ValueError:
                raise UnreadableError from None
            if any(not (value is None or isinstance(value, str | int | float)) for value in values):
                raise UnreadableError
            return Choice(tuple(values))
        raise UnreadableError

    def value(self, node: ast.expr) -> Type:
        """The type of values that an annotation stands for. Raises `UnreadableError`, for files too."""
        found = self._hint(self._text(node))
        if isinstance(found, File):
            raise UnreadableError
        return found

    def type_of_class(self, name: str) -> Type:
        """The type that a class among the pieces stands for."""
        parsed = self.pieces[name]
        if parsed.kind == "alias" and isinstance(parsed.node, ast.Assign):
            return self.value(parsed.node.value)
        if parsed.kind == "import":
            found = _IMPORTED.get(self._origin(parsed))
            if found is None or isinstance(found, File):
                raise UnreadableError
            return found
        if not isinstance(parsed.node, ast.ClassDef) or name in self._inside:
            raise UnreadableError
        self._inside.append(name)
        try:
            if self._is_enum(parsed.node):
                return self._enum(parsed.node)
            return Record(name, tuple(self._field(field) for field in self.fields(parsed.node)))
        finally:
            self._inside.pop()

    def result(self, name: str) -> list[tuple[str, ast.expr]] | None:
        """The fields of a class whose members are outputs of a step each (NamedTuple, dataclass); None for others."""
        parsed = self.pieces.get(name)
        if parsed is None or not isinstance(parsed.node, ast.ClassDef):
            return None
        if self._kind(parsed.node) not in ("NamedTuple", "dataclass"):
            return None
        return [(field.target.id, field.annotation) for field in self.fields(parsed.node)]  # type: ignore[union-attr]

    def fields(self, node: ast.ClassDef) -> list[ast.AnnAssign]:
        """The fields of a class, in order. Raises `UnreadableError` where it isn't certain which these are."""
        if self._kind(node) == "":
            raise UnreadableError
        found = [inner for inner in node.body if isinstance(inner, ast.AnnAssign)]
        if any(not isinstance(field.target, ast.Name) for field in found):
            raise UnreadableError
        if any(_last(field.annotation) in ("ClassVar", "InitVar") or _is_field(field.value) for field in found):
            raise UnreadableError
        return found

    def _field(self, node: ast.AnnAssign) -> Field:
        assert isinstance(node.target, ast.Name)
        annotation, required = node.annotation, node.value is None
        if isinstance(annotation, ast.Subscript) and _last(annotation.value) in ("NotRequired", "Required"):
            required = _last(annotation.value) == "Required"
            annotation = annotation.slice
        found, _ = self.hint(annotation)
        if isinstance(found, File):
            raise UnreadableError
        return Field(node.target.id, found, required)

    def _kind(self, node: ast.ClassDef) -> str:
        if node.keywords or getattr(node, "type_params", None):
            return ""
        bases = [self._named(base) for base in node.bases]
        if bases == ["typing.NamedTuple"] and not node.decorator_list:
            return "NamedTuple"
        if bases == ["typing.TypedDict"] and not node.decorator_list:
            return "TypedDict"
        if not bases and len(node.decorator_list) == 1:
            made = node.decorator_list[0]
            made = made.func if isinstance(made, ast.Call) else made
            return "dataclass" if self._named(made) == "dataclasses.dataclass" else ""
        return ""

    def _is_enum(self, node: ast.ClassDef) -> bool:
        kinds = ("enum.Enum", "enum.StrEnum", "enum.IntEnum")
        bases = [self._named(base) for base in node.bases]
        plain = bases in (["str", "enum.Enum"], ["int", "enum.Enum"]) or (len(bases) == 1 and bases[0] in kinds)
        return plain and not node.decorator_list and not node.keywords

    def member(self, name: str, member: str) -> Any:
        """The value of a member of an Enum among the pieces. Raises `UnreadableError`."""
        parsed = self.pieces.get(name)
        if parsed is None or not isinstance(parsed.node, ast.ClassDef) or not self._is_enum(parsed.node):
            raise UnreadableError
        for inner in parsed.node.body:
            match inner:
                case ast.Assign(targets=[ast.Name(id=found)], value=ast.Constant(value=value)) if found == member:
                    return value
        raise UnreadableError

    def _enum(self, node: ast.ClassDef) -> Choice:
        values = []
        for inner in node.body:
            match inner:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)) if name[0] != "_":
                    if not (value is None or isinstance(value, str | int | float)) or value in values:
                        raise UnreadableError
                    values.append(value)
                case ast.FunctionDef() | ast.Expr() | ast.Pass():
                    pass
                case _:
                    raise UnreadableError
        return Choice(tuple(values), node.name)

    def _options(self, node: ast.expr) -> list[ast.expr]:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return [*self._options(self._text(node.left)), *self._options(self._text(node.right))]
        if isinstance(node, ast.Subscript):
            name = self._named(node.value)
            if name == "typing.Optional":
                return [*self._options(self._text(node.slice)), ast.Constant(None)]
            if name == "typing.Union":
                elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                return [option for element in elements for option in self._options(self._text(element))]
        return [node]

    def _text(self, node: ast.expr) -> ast.expr:
        """An annotation; where it is written as text, what the text says."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                return ast.parse(node.value, mode="eval").body
            except SyntaxError:
                raise UnreadableError from None
        return node

    def named(self, node: ast.expr) -> str:
        """A name or dotted name: where it comes from ("pathlib.Path"), or itself."""
        return self._named(node)

    def _named(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id=name):
                parsed = self.pieces.get(name)
                return self._origin(parsed) if parsed is not None and parsed.kind == "import" else name
            case ast.Attribute(value=value, attr=attribute):
                return f"{self._named(value)}.{attribute}"
            case _:
                return ""

    def _origin(self, parsed: Parsed) -> str:
        match parsed.node:
            case ast.ImportFrom(module=module, names=[alias]):
                return f"{module}.{alias.name}"
            case ast.Import(names=[alias]):
                return alias.name if alias.asname else parsed.name
            case _:
                return parsed.name


def _union(options: list[Type]) -> Type:
    flat: dict[Type, None] = {}
    for option in options:
        for part in option.options if isinstance(option, UnionOf) else (option,):
            flat[part] = None
    if ANY in flat:
        return ANY
    return next(iter(flat)) if len(flat) == 1 else UnionOf(tuple(flat))


def _last(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _is_field(node: ast.expr | None) -> bool:
    # `dataclasses.field(...)` may say anything about its member.
    return isinstance(node, ast.Call)
