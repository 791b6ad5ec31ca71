"""What a piece of source needs from around it: global names, and modules that it imports itself."""

from __future__ import annotations

import ast
import builtins
import dis
from collections.abc import Iterator
from types import CodeType

import msgspec

BUILTINS = frozenset(dir(builtins))

OF_THE_MODULE = frozenset(
    {"__name__", "__doc__", "__builtins__", "__annotations__", "__module__", "__qualname__", "__debug__"}
    | {"__conditional_annotations__"}
)
"""Names that every module has of its own, where a step runs too."""


class Import(msgspec.Struct, frozen=True):
    """A module imported inside a piece: its name (relative ones with `level` dots), and the line in the piece."""

    module: str
    level: int
    line: int


class Needs(msgspec.Struct, frozen=True):
    """`names` in order of use; `paths` are dotted uses of them ("xml.etree"); `imports` are made by the piece."""

    names: tuple[str, ...]
    paths: frozenset[str]
    imports: tuple[Import, ...]
    lines: dict[str, int]


def needs(text: str, future: tuple[str, ...]) -> Needs:
    """What a text that defines or assigns something needs. Raises `SyntaxError` where it can't stand by itself."""
    tree = ast.parse(text)
    code = compile(tree, "<piece>", "exec", flags=_flags(future), dont_inherit=True)
    stored = {name for name, _ in _accesses(code, "STORE_NAME")}
    found: dict[str, None] = {}
    for name, _ in _accesses(code, "LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"):
        found[name] = None
    for name in _annotation_names(tree):
        found[name] = None
    own = stored | _defined(tree)
    names = tuple(name for name in found if name not in own and name not in OF_THE_MODULE)
    lines: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            lines[node.id] = min(lines.get(node.id, node.lineno), node.lineno)
    return Needs(names, frozenset(_paths(tree)), tuple(_imports(tree)), lines)


def _flags(future: tuple[str, ...]) -> int:
    import __future__

    return sum(getattr(__future__, name).compiler_flag for name in future)


def _accesses(code: CodeType, *operations: str) -> Iterator[tuple[str, CodeType]]:
    # The names of a class body are its own where it stores them, and global otherwise.
    own = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_NAME"}
    module = code.co_name == "<module>"
    for step in dis.get_instructions(code):
        if step.opname in operations and (module or step.opname != "LOAD_NAME" or step.argval not in own):
            yield step.argval, code
    if operations == ("STORE_NAME",):
        return
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _accesses(constant, *operations)


def _defined(tree: ast.Module) -> set[str]:
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


def _annotation_names(tree: ast.Module) -> Iterator[str]:
    """Names in annotations that the runner reads: of functions and classes at the top of the piece."""
    for node in tree.body:
        annotations: list[ast.expr | None] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            annotations = [arg.annotation for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
            annotations.append(node.returns)
        elif isinstance(node, ast.ClassDef):
            annotations = [field.annotation for field in node.body if isinstance(field, ast.AnnAssign)]
        for annotation in annotations:
            if annotation is not None:
                yield from _names_in(annotation)


def _names_in(annotation: ast.expr) -> Iterator[str]:
    literal = {
        id(part)
        for node in ast.walk(annotation)
        if isinstance(node, ast.Subscript) and _last_name(node.value) in ("Literal", "Annotated")
        for part in (ast.walk(node.slice) if _last_name(node.value) == "Literal" else _metadata(node.slice))
    }
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in literal:
            try:
                inner = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                continue
            yield from _names_in(inner)


def _metadata(slice_: ast.expr) -> Iterator[ast.AST]:
    for extra in slice_.elts[1:] if isinstance(slice_, ast.Tuple) else ():
        yield from ast.walk(extra)


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _paths(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            parts = [node.attr]
            value = node.value
            while isinstance(value, ast.Attribute):
                parts.append(value.attr)
                value = value.value
            if isinstance(value, ast.Name):
                yield ".".join([value.id, *reversed(parts)])


def _imports(tree: ast.Module) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, 0, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                yield Import(node.module or "", node.level, node.lineno)
            else:
                # `from pkg import sub` may name a module: both are looked at.
                yield Import(node.module, 0, node.lineno)
