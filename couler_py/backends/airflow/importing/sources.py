"""The source of a task's function, with what it needs from around it, as the pieces of a step.

Nothing of it is run: functions, classes and imports are read from the file, and the plain values of its module are
those that it had in Airflow's environment.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from couler_py.backends.airflow.importing import rewriting
from couler_py.backends.airflow.importing.facts import marked, plain
from couler_py.backends.airflow.importing.rewriting import Rewritten
from couler_py.backends.airflow.importing.unsayable import UnsayableError
from couler_py.dsl.needs import BUILTINS, needs
from couler_py.dsl.sourcecode import SourceFile, cut, read
from couler_py.dsl.sources import shown
from couler_py.ir.model import Function, Piece
from couler_py.printer.names import identifier

AIRFLOWS = ("task", "dag", "setup", "teardown", "task_group")


class Captured:
    """A function on its way to a step: its own text, and the pieces that it needs."""

    def __init__(self, fact: Mapping[str, Any], values: Mapping[str, Mapping[str, Any]], name: str):
        self.values = values
        found = read(fact["file"])
        if found is None:
            raise UnsayableError(f"the source of {fact['name']} isn't at hand", "define it in the file of the DAG")
        self.source: SourceFile = found
        self.line = fact["line"]
        self.closure: Mapping[str, Any] = fact.get("closure", {})
        self.own = Rewritten(_text(self.source, fact, name), {})
        self.future = tuple(each for each in self.source.future if each == "annotations")

    @property
    def node(self) -> ast.FunctionDef:
        """The function."""
        found = ast.parse(self.own.text).body[0]
        assert isinstance(found, ast.FunctionDef)
        return found

    def without_context(self, given: set[str]) -> None:
        """Make parameters of what the function asks Airflow's context for; `given` are those that have values."""
        self.own = rewriting.rewritten(self.own.text, given)

    def pieces(self, text: str, name: str) -> tuple[Piece, ...]:
        """A function's pieces: what it needs, and itself. Raises `UnsayableError` for what can't travel."""
        walk = _Walk(self, name)
        walk.definition(text, name, self.source, self.closure)
        own = walk.definitions.pop(name)
        file = shown(self.source.filename)
        found = [*walk.imports, *walk.constants.values(), *walk.definitions.values(), own]
        return tuple(Piece(each, file, self.line) for each in found)


def _text(source: SourceFile, fact: Mapping[str, Any], name: str) -> str:
    """The text of the function that begins at a line, without Airflow's decorators; of a lambda, as a function."""
    if fact["name"] == "<lambda>":
        return _of_lambda(source, fact["line"], name)
    for node in source.definitions.get(fact["qualname"], ()):
        decorators = node.decorator_list
        if fact["line"] not in (node.lineno, *(each.lineno for each in decorators[:1])):
            continue
        if not isinstance(node, ast.FunctionDef):
            raise UnsayableError("the function is async", "write a plain function that calls `asyncio.run` inside")
        if any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in ast.walk(node)):
            raise UnsayableError("the function is a generator", "return a list")
        theirs = [each for each in decorators if _root(each) not in AIRFLOWS]
        if theirs:
            raise UnsayableError(f"the function is decorated by {ast.unparse(theirs[0])}", "write it out in the step")
        return cut(source, node, len(decorators)).text
    raise UnsayableError(f"the source of {fact['name']} can't be found", "define it in the file of the DAG, by `def`")


def _of_lambda(source: SourceFile, line: int, name: str) -> str:
    found = [node for node in ast.walk(source.tree) if isinstance(node, ast.Lambda) and node.lineno == line]
    if len(found) != 1:
        raise UnsayableError("it isn't clear which of several lambdas it is", "write it as `def`")
    return f"def {identifier(name)}({ast.unparse(found[0].args)}):\n    return {ast.unparse(found[0].body)}"


def renamed(body: Function, name: str) -> Function:
    """A step's function under the name of its template, as long as it doesn't speak of itself by its own.

    In one module two steps of one function need two names.
    """
    own = body.pieces[-1]
    node = ast.parse(own.text).body[0]
    if not isinstance(node, ast.FunctionDef) or not name.isidentifier() or body.name == name:
        return body
    if any(isinstance(each, ast.Name) and each.id == body.name for each in ast.walk(node)):
        return body
    text = own.text.replace(f"def {body.name}(", f"def {name}(", 1)
    return msgspec.structs.replace(body, name=name, pieces=(*body.pieces[:-1], Piece(text, own.file, own.line)))


def _root(node: ast.expr) -> str:
    node = node.func if isinstance(node, ast.Call) else node
    while isinstance(node, ast.Attribute):
        if node.attr in AIRFLOWS:
            return node.attr
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


class _Walk:
    """A walk from a function over what it needs, in the order in which a step's capture meets it."""

    def __init__(self, captured: Captured, root: str):
        self.captured = captured
        self.seen = {root}
        self.imports: dict[str, None] = {}
        self.constants: dict[str, str] = {}
        self.definitions: dict[str, str] = {}

    def definition(self, text: str, name: str, source: SourceFile, closure: Mapping[str, Any]) -> None:
        try:
            found = needs(text, self.captured.future)
        except SyntaxError as problem:
            raise UnsayableError(f"the source of {name} can't stand by itself: {problem.msg}") from problem
        for each in found.names:
            if each not in self.seen:
                self.seen.add(each)
                self._name(each, source, closure, found.paths)
        self.definitions[name] = text

    def _name(self, name: str, source: SourceFile, closure: Mapping[str, Any], paths: frozenset[str]) -> None:
        if name in closure:
            self._closed_over(name, closure[name])
        elif not self._imported(name, source, paths) and not self._defined(name, source) and name not in BUILTINS:
            raise UnsayableError(f"the name {name!r} isn't defined in {Path(source.filename).name}")

    def _closed_over(self, name: str, value: Any) -> None:
        if plain(value):
            self.constants[name] = f"{name} = {value!r}"
        elif marked(value) == "module":
            module = value["name"]
            self.imports[f"import {module}" if module == name else f"import {module} as {name}"] = None
        elif marked(value) == "function" and value["name"] == name:
            source = read(value["file"])
            if source is not None:
                self.definition(_text(source, value, name), name, source, value.get("closure", {}))
        else:
            raise _cannot_travel(name)

    def _imported(self, name: str, source: SourceFile, paths: frozenset[str]) -> bool:
        found = False
        for node in source.imports:
            for alias in node.names:
                if (alias.asname or alias.name.partition(".")[0]) != name:
                    continue
                renamed = f" as {alias.asname}" if alias.asname else ""
                if isinstance(node, ast.ImportFrom):
                    if node.level:
                        raise UnsayableError(f"{name} is imported relative to a package", "import it by its full name")
                    if not self._beside(name, alias.name, node.module or "", source):
                        self.imports[f"from {node.module} import {alias.name}{renamed}"] = None
                    return True
                if renamed or "." not in alias.name or alias.name in paths or len(node.names) == 1:
                    self.imports[f"import {alias.name}{renamed}"] = None
                    found = True
        return found

    def _beside(self, name: str, origin: str, module: str, source: SourceFile) -> bool:
        """Take a function, class or constant from a module of the user's own, which lies beside the file."""
        path = Path(source.filename).parent.joinpath(*module.split(".")).with_suffix(".py")
        if not path.is_file() or name != origin:
            return False
        other = read(str(path))
        return other is not None and self._defined(name, other)

    def _defined(self, name: str, source: SourceFile) -> bool:
        if name in source.definitions:
            node = source.definitions[name][-1]
            self.definition(cut(source, node).text, name, source, {})
            return True
        statements = source.assignments.get(name)
        if not statements:
            return False
        values = self.captured.values.get(source.filename, {})
        value = statements[-1].value
        if name in values:
            self.constants[name] = f"{name} = {values[name]!r}"
        elif value is not None and _literal(value):
            self.constants[name] = f"{name} = {ast.unparse(value)}"
        elif value is not None and _stands_alone(value):
            self.definition(f"{name} = {ast.unparse(value)}", name, source, {})
        else:
            raise _cannot_travel(name)
        return True


def _literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError):
        return False
    return True


def _stands_alone(node: ast.expr) -> bool:
    """Whether what is assigned may be made anew in a step: a logger, a lambda, a name for a type."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute | ast.Name) and ast.unparse(node.func).endswith("getLogger")
    return isinstance(node, ast.Lambda | ast.Subscript)


def _cannot_travel(name: str) -> UnsayableError:
    return UnsayableError(
        f"the variable {name!r} can't travel with the function", "make it inside the function, or pass it as a value"
    )
