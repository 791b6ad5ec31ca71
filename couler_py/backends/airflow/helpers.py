"""The definitions that a DAG file is made of, cut out of `couler_py/templates/airflow/`, each with what it needs."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from importlib import resources

import msgspec

_OURS = "couler_py"
SHARED = ("building.py", "values.py", "states.py", "expressions.py", "steps.py")
"""What files are made of whatever their operators, in the order in which it stands in them."""


class Helper(msgspec.Struct, frozen=True):
    """One definition: its text, the names that it uses at once, and those that only a worker needs of it."""

    name: str
    text: str
    early: frozenset[str]
    late: frozenset[str]


class Library(msgspec.Struct, frozen=True):
    """All definitions for one kind of operators, in their order, and the imports by the name that they bind."""

    helpers: dict[str, Helper]
    imports: dict[str, tuple[str, str]]


class Wanted(msgspec.Struct, frozen=True):
    """What one file needs: definitions before the DAG, definitions that only its workers use, and imports."""

    early: tuple[Helper, ...]
    late: tuple[Helper, ...]
    imports: frozenset[str]


@functools.cache
def library(operators: str) -> Library:
    """The definitions for one kind of operators."""
    helpers: dict[str, Helper] = {}
    imports: dict[str, tuple[str, str]] = {}
    for file in (*SHARED, f"{operators}.py"):
        text = resources.files("couler_py.templates.airflow").joinpath(file).read_text(encoding="utf-8")
        lines = text.split("\n")
        for node in ast.parse(text).body:
            match node:
                case ast.Import(names=names):
                    imports |= {each.asname or each.name: ("", each.name) for each in names}
                case ast.ImportFrom(module=str(module), names=names) if not module.startswith(_OURS):
                    imports |= {each.name: (module, each.name) for each in names}
                case ast.FunctionDef() | ast.ClassDef():
                    helpers[node.name] = _helper(node.name, node, lines)
                case ast.Assign(targets=[ast.Name(id=name)]):
                    helpers[name] = _helper(name, node, lines)
    return Library(helpers, imports)


def _helper(name: str, node: ast.stmt, lines: list[str]) -> Helper:
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    early: set[str] = set()
    late: set[str] = set()
    _names(node, early, late, depth=0)
    bound = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    bound |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    text = "\n".join(lines[first - 1 : node.end_lineno])
    return Helper(name, text, frozenset(early - bound), frozenset(late - bound))


def _names(node: ast.AST, early: set[str], late: set[str], depth: int) -> None:
    """The names that a definition reads: those inside functions in it are read when a worker calls these."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name):
            (early if depth == 0 else late).add(child.id)
        inside = isinstance(child, ast.FunctionDef | ast.Lambda) and not _at_once(child)
        _names(child, early, late, depth + inside)


def _at_once(node: ast.FunctionDef | ast.Lambda) -> bool:
    # What makes tasks when the file is read: functions that a helper for that calls itself.
    return isinstance(node, ast.FunctionDef) and node.name in ("expand", "each")


def wanted(operators: str, used_at_once: Iterable[str], used_later: Iterable[str]) -> Wanted:
    """What a file needs that uses these names: at once, while it is read, or later, in a worker."""
    known = library(operators)
    early: set[str] = set()
    every: set[str] = set()
    waiting = [(name, True) for name in used_at_once] + [(name, False) for name in used_later]
    while waiting:
        name, at_once = waiting.pop()
        if name in (early if at_once else every):
            continue
        every.add(name)
        if at_once:
            early.add(name)
        helper = known.helpers.get(name)
        if helper is not None:
            waiting += [(each, at_once) for each in helper.early]
            waiting += [(each, False) for each in helper.late]
    helpers = [each for each in known.helpers.values() if each.name in every]
    return Wanted(
        tuple(each for each in helpers if each.name in early),
        tuple(each for each in helpers if each.name not in early),
        frozenset(name for name in every if name in known.imports),
    )


def reserved(operators: str) -> frozenset[str]:
    """Names that no variable of a file may have."""
    known = library(operators)
    return frozenset(known.helpers) | frozenset(known.imports) | {"item", "given", "when", "inputs", "last", "dag"}
