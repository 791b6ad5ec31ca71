"""Steps and workflows read from a Python file, which is parsed and never run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from couler_py.dsl.needs import BUILTINS, needs
from couler_py.nl.lake.entries import Entry, LakeError

_KINDS = {"step": "step", "workflow": "workflow"}
OURS = "couler_py"


def read(path: str | Path, *, source: bool = False) -> tuple[Entry, ...]:
    """The entries of a file, or of every Python file of a folder: signatures and docstrings, with `source` that too.

    Raises `LakeError` for a file that can't be read or parsed, and where there are no steps and workflows.
    """
    place = Path(path)
    if place.is_dir():
        files = [each for each in sorted(place.rglob("*.py")) if not _hidden(each.relative_to(place))]
    else:
        files = [place]
    found = tuple(entry for file in files for entry in _of_file(file, source))
    if not found:
        raise LakeError(f"{place}: there are no functions with @couler.step or @couler.workflow")
    return found


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def _of_file(file: Path, source: bool) -> Iterator[Entry]:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise LakeError(f"{file}: {error.strerror or error}") from error
    except (SyntaxError, ValueError) as error:
        raise LakeError(f"{file} is no Python: {error}") from error
    module = _Module(tree)
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            kind = _KINDS.get(_called(decorator))
            if kind is not None:
                yield Entry(
                    node.name,
                    kind,  # type: ignore[arg-type]
                    _signature(node),
                    _summary(node),
                    file.name,
                    calls=tuple(dict.fromkeys(_calls(node, module.steps))) if kind == "workflow" else (),
                    packages=module.packages(decorator),
                    pieces=module.pieces(node) if source and kind == "step" else (),
                )


def _called(decorator: ast.expr) -> str:
    """The last word of a decorator: `@couler.step(...)` is "step"."""
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return named.attr if isinstance(named, ast.Attribute) else named.id if isinstance(named, ast.Name) else ""


def _signature(node: ast.FunctionDef) -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    return f"{node.name}({ast.unparse(node.args)}){returns}"[:1000]


def _summary(node: ast.FunctionDef) -> str:
    said = (ast.get_docstring(node) or "").strip().split("\n\n")[0]
    return " ".join(said.split())[:500]


def _calls(node: ast.FunctionDef, steps: frozenset[str]) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id in steps:
            yield each.id


class _Module:
    """The top level of a file: what each name there is defined by."""

    def __init__(self, tree: ast.Module):
        self._defined: dict[str, ast.stmt] = {}
        for node in tree.body:
            for name in _names(node):
                self._defined[name] = node
        self.steps = frozenset(
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and any(_called(each) == "step" for each in node.decorator_list)
        )

    def packages(self, decorator: ast.expr) -> tuple[str, ...]:
        """The packages that a step's decorator lists, as a literal or as a constant of the module."""
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
            if keyword.arg == "packages":
                value: ast.expr | None = keyword.value
                if isinstance(value, ast.Name):
                    defined = self._defined.get(value.id)
                    value = defined.value if isinstance(defined, ast.Assign) else None
                if isinstance(value, ast.List | ast.Tuple):
                    parts = [each.value for each in value.elts if isinstance(each, ast.Constant)]
                    return tuple(each for each in parts if isinstance(each, str))
        return ()

    def pieces(self, node: ast.FunctionDef) -> tuple[str, ...]:
        """The source of a step behind what it needs of its module; () where it needs something of this package."""
        found: dict[str, str] = {}
        if not self._gather(_bare(node), found):
            return ()
        return (*dict.fromkeys(found.values()), _bare(node))

    def _gather(self, text: str, found: dict[str, str]) -> bool:
        for name in needs(text, ()).names:
            if name in found or (name not in self._defined and name in BUILTINS):
                continue
            node = self._defined.get(name)
            if node is None:
                return False
            if isinstance(node, ast.Import | ast.ImportFrom):
                if _ours(node):
                    return False
                found[name] = ast.unparse(node)
                continue
            text_of = _bare(node) if isinstance(node, ast.FunctionDef) else ast.unparse(node)
            found[name] = ""  # what needs itself is gathered once
            if not self._gather(text_of, found):
                return False
            del found[name]  # behind what it needs
            found[name] = text_of
        return True


def _ours(node: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(node, ast.ImportFrom):
        return node.level > 0 or (node.module or "").split(".")[0] == OURS
    return any(alias.name.split(".")[0] == OURS for alias in node.names)


def _bare(node: ast.stmt) -> str:
    """A definition without its decorators."""
    if isinstance(node, ast.FunctionDef):
        plain = ast.FunctionDef(
            **{field: getattr(node, field) for field in node._fields if field != "decorator_list"}, decorator_list=[]
        )
        return ast.unparse(ast.copy_location(plain, node))
    return ast.unparse(node)


def _names(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            for target in targets:
                yield from (each.id for each in ast.walk(target) if isinstance(each, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            for alias in aliases:
                yield alias.asname or alias.name.split(".")[0]
        case _:
            return
