"""The definitions that a DAG file is made of, cut out of `couler_py/templates/airflow/`, each with what it needs."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable
from importlib import resources

import msgspec

_OURS = "couler_py"
SHARED = ("building.py", "values.py", "states.py", "expressions.py", "steps.py", "resources.py")
"""What files are made of whatever their operators, in the order in which it stands in them."""
OWN = {
    "kubernetes": ("containers.py", "kubernetes.py"),
    "docker": ("containers.py", "docker.py"),
    "local": ("local.py",),
}
"""And what the operators of a kind need besides."""


class Helper(msgspec.Struct, frozen=True):
    """One definition: its text, and the names that it uses."""

    name: str
    text: str
    uses: frozenset[str]


class Library(msgspec.Struct, frozen=True):
    """All definitions for one kind of operators, in their order, and the imports by the name that they bind."""

    helpers: dict[str, Helper]
    imports: dict[str, tuple[str, str]]


class Wanted(msgspec.Struct, frozen=True):
    """What one file needs: definitions, and the names that these import."""

    helpers: tuple[Helper, ...]
    imports: frozenset[str]


@functools.cache
def library(operators: str) -> Library:
    """The definitions for one kind of operators."""
    helpers: dict[str, Helper] = {}
    imports: dict[str, tuple[str, str]] = {}
    for file in (*SHARED, *OWN[operators]):
        text = resources.files("couler_py.templates.airflow").joinpath(file).read_text(encoding="utf-8")
        lines = text.split("\n")
        for node in ast.parse(text).body:
            match node:
                case ast.Import(names=names):
                    imports |= {each.asname or each.name: ("", each.name) for each in names}
                case ast.ImportFrom(module=str(module), names=names) if not module.startswith(_OURS):
                    imports |= {each.name: (module, each.name) for each in names}
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]):
                    assert name not in helpers, name
                    helpers[name] = _helper(name, node, lines)
    return Library(helpers, imports)


def _helper(name: str, node: ast.stmt, lines: list[str]) -> Helper:
    first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    bound = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    bound |= {each.id for each in names if isinstance(each.ctx, ast.Store)}
    return Helper(name, "\n".join(lines[first - 1 : node.end_lineno]), frozenset(each.id for each in names) - bound)


def wanted(operators: str, used: Iterable[str]) -> Wanted:
    """What a file needs whose own part uses these names."""
    known = library(operators)
    waiting = [name for name in used if name in known.helpers]
    found: dict[str, Helper] = {}
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = known.helpers[name]
            waiting += [each for each in found[name].uses if each in known.helpers]
    imports = {name for each in found.values() for name in each.uses if name in known.imports}
    return Wanted(tuple(each for each in known.helpers.values() if each.name in found), frozenset(imports))


def reserved(operators: str) -> frozenset[str]:
    """Names that no variable of a file may have."""
    known = library(operators)
    return frozenset(known.helpers) | frozenset(known.imports) | {"item", "given", "when", "inputs", "last", "dag"}
