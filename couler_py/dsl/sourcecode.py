"""Source text of functions and classes as their file says it: found by syntax tree, dedented, else verbatim."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any, TypeAlias

import msgspec

from couler_py.dsl.sources import shown

DefNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
ImportNode: TypeAlias = ast.Import | ast.ImportFrom


class SourceFile(msgspec.Struct, frozen=True, eq=False):
    """One parsed file or notebook cell.

    `definitions` holds functions and classes by qualified name, in order; `assignments` and `imports` are
    the statements at module level, also inside `if` and `try`.
    """

    filename: str
    lines: list[str]
    tree: ast.Module
    future: tuple[str, ...]
    definitions: dict[str, list[DefNode]]
    assignments: dict[str, list[ast.Assign | ast.AnnAssign]]
    imports: tuple[ImportNode, ...]

    def text(self, first: int, last: int, margin: int, strings: Iterable[ast.AST] = ()) -> str:
        """The lines from `first` to `last` without `margin` characters of indent; strings stay as they are."""
        inside = {
            number
            for node in strings
            for number in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)  # type: ignore[attr-defined]
        }
        kept = []
        for number, line in enumerate(self.lines[first - 1 : last], first):
            indent = len(line) - len(line.lstrip(" \t"))
            kept.append(line if number in inside else line[min(margin, indent) :])
        return "".join(kept).rstrip("\n")


class Definition(msgspec.Struct, frozen=True, eq=False):
    """A function or class as text that stands by itself."""

    node: DefNode
    text: str
    source: SourceFile
    line: int

    @property
    def file(self) -> str:
        """The file as messages name it."""
        return shown(self.source.filename)


_parsed: dict[str, SourceFile] = {}


def read(filename: str, module_globals: dict[str, Any] | None = None) -> SourceFile | None:
    """The parsed file; None where its source isn't at hand or isn't Python."""
    linecache.checkcache(filename)
    lines = linecache.getlines(filename, module_globals)
    known = _parsed.get(filename)
    if known is not None and known.lines is lines:
        return known
    if not lines:
        return None
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return None
    definitions: dict[str, list[DefNode]] = {}
    for qualified, node in _definitions(tree, ""):
        definitions.setdefault(qualified, []).append(node)
    assignments: dict[str, list[ast.Assign | ast.AnnAssign]] = {}
    imports: list[ImportNode] = []
    for statement in _module_level(tree.body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            imports.append(statement)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    assignments.setdefault(target.id, []).append(statement)
    future = tuple(
        alias.name
        for statement in imports
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        for alias in statement.names
    )
    found = SourceFile(filename, lines, tree, future, definitions, assignments, tuple(imports))
    _parsed[filename] = found
    return found


def cells() -> Iterator[SourceFile]:
    """The cells of the notebook or IPython session at hand, the last one first; none elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    numbers = getattr(getattr(shell, "compile", None), "_filename_map", {})
    for filename in reversed(list(linecache.cache)):
        if filename in numbers or filename.startswith("<ipython-input"):
            found = read(filename)
            if found is not None:
                yield found


def function_definition(source: SourceFile, qualified: str, first_line: int, dropped: int = 0) -> Definition | None:
    """The function that begins at a line, the first `dropped` decorators taken off."""
    for node in source.definitions.get(qualified, ()):
        decorators = node.decorator_list
        if first_line in (node.lineno, *(decorator.lineno for decorator in decorators[:1])):
            return cut(source, node, dropped)
    return None


def cut(source: SourceFile, node: DefNode, dropped: int = 0) -> Definition:
    """A function or class cut out of its file, the first `dropped` decorators taken off."""
    kept = node.decorator_list[dropped:]
    first = kept[0].lineno if kept else node.lineno
    assert node.end_lineno is not None
    strings = [part for part in ast.walk(node) if isinstance(part, ast.Constant | ast.JoinedStr) and _is_text(part)]
    text = source.text(first, node.end_lineno, node.col_offset, strings)
    return Definition(node, text, source, first)


def decorators_until(source: SourceFile, node: DefNode, frame: FrameType | None) -> int:
    """How many decorators, from the top, lie at or above the one that is being applied right now.

    While a decorator is called, the line of the frame that defines the function is the decorator's.
    """
    while frame is not None:
        if frame.f_code.co_filename == source.filename:
            for number, decorator in enumerate(node.decorator_list, 1):
                if decorator.lineno <= frame.f_lineno <= (decorator.end_lineno or decorator.lineno):
                    return number
        frame = frame.f_back
    return 0


def _is_text(node: ast.Constant | ast.JoinedStr) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(node.value, str | bytes)


def _definitions(node: ast.AST, prefix: str) -> Iterator[tuple[str, DefNode]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield prefix + child.name, child
            inner = "." if isinstance(child, ast.ClassDef) else ".<locals>."
            yield from _definitions(child, prefix + child.name + inner)
        else:
            yield from _definitions(child, prefix)


def _module_level(statements: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in statements:
        yield statement
        if isinstance(statement, ast.If | ast.Try | ast.With):
            yield from _module_level(statement.body)
            yield from _module_level(getattr(statement, "orelse", []))
            yield from _module_level(getattr(statement, "finalbody", []))
            for handler in getattr(statement, "handlers", []):
                yield from _module_level(handler.body)
