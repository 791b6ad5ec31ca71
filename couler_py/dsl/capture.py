"""The source of a step: the function as written, and all that it needs from around it, as pieces of text.

What travels: imports of installed modules; constants that are literals; functions and classes of the same
file or notebook, or imported from a file that says `__couler_travels__ = True`; values of a closure that are
literals. Everything else is an error where the step is defined, and names the fix. A name that isn't there yet
(a helper defined further down) is looked up when the step is first used, as Python itself does.
"""

from __future__ import annotations
import __future__ as future_features

import ast
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any

import msgspec

from couler_py.dsl import literals, modules, sourcecode
from couler_py.dsl.errors import DefinitionError
from couler_py.dsl.needs import BUILTINS, Needs, needs
from couler_py.dsl.origins import (
    MISSING,
    Origin,
    absolute,
    files,
    find_definition,
    holds_step,
    import_nodes,
    is_member,
    is_used,
    origin_of,
    travelling,
)
from couler_py.dsl.sourcecode import Definition
from couler_py.dsl.sources import shown
from couler_py.ir.diagnostics import error
from couler_py.ir.model import Piece, Source

TYPING_OBJECTS: tuple[type, ...] = (
    types.GenericAlias,
    types.UnionType,
    typing.TypeVar,
    typing.NewType,
    type(typing.List[int]),  # noqa: UP006  the class of such aliases has no public name
    type(typing.Literal["x"]),
    type(typing.Union[int, str]),  # noqa: UP007
)


class LocalImport(msgspec.Struct, frozen=True):
    """A module of the user's own that a step imports: it must be in an include archive."""

    module: str
    path: Path
    source: Source


class Captured(msgspec.Struct, frozen=True):
    """The source of a step, ready for the IR."""

    name: str
    pieces: tuple[Piece, ...]
    future: tuple[str, ...]
    local: tuple[LocalImport, ...]
    complete: bool


class FunctionSource:
    """The source of one function, captured when asked for and again when what it captured has changed."""

    def __init__(self, function: FunctionType, step: str, frame: FrameType | None):
        self.function = function
        self.step = step
        self._around = dict(frame.f_locals) if frame is not None and frame.f_locals is not frame.f_globals else {}
        code = function.__code__
        self.place = Source(shown(code.co_filename), code.co_firstlineno)
        self.definition = self._find(frame)
        self._captured: Captured | None = None
        self._watched: list[tuple[Origin, str, Any, str | None]] = []

    def capture(self, *, partial: bool = False) -> Captured:
        """The pieces. With `partial`, names that aren't there yet are left for later.

        Raises `DefinitionError` for what can't travel.
        """
        if self._captured is None or not self._captured.complete or self.changed():
            gathering = _Gathering(self.step, self.place, partial)
            self._captured = gathering.gather(self.function, self.definition, self.origin())
            self._watched = gathering.watched
        return self._captured

    def origin(self) -> Origin:
        """Where the names of the function are looked up."""
        return origin_of(self.function, self.definition.source, self._around)

    def returns_value(self) -> bool:
        """Whether some `return` of the function gives a value: what tells where no annotation does."""
        return any(
            isinstance(node, ast.Return)
            and node.value is not None
            and not (isinstance(node.value, ast.Constant) and node.value.value is None)
            for node in _own_statements(self.definition.node)
        )

    def changed(self) -> bool:
        """Whether a value that was captured is another one by now."""
        return any(
            origin.lookup(name) is not value or (text is not None and literals.literal(value) != text)
            for origin, name, value, text in self._watched
        )

    def _find(self, frame: FrameType | None) -> Definition:
        code = self.function.__code__
        source = sourcecode.read(code.co_filename, self.function.__globals__)
        if source is not None:
            qualified = self.function.__qualname__
            found = sourcecode.function_definition(source, qualified, code.co_firstlineno)
            if found is not None:
                dropped = sourcecode.decorators_until(source, found.node, frame)
                return sourcecode.cut(source, found.node, dropped) if dropped else found
        raise DefinitionError(
            [
                error(
                    "CLR110",
                    f"the source of {self.function.__qualname__} can't be found",
                    source=self.place,
                    step=self.step,
                    why="a step's source travels to where it runs",
                    help="define the step in a file or a notebook cell, not by `exec` or in `python -c`",
                )
            ]
        )


def future_of(function: FunctionType) -> tuple[str, ...]:
    """The `from __future__` features that the function was compiled with and that still change something."""
    flag = future_features.annotations.compiler_flag
    return ("annotations",) if function.__code__.co_flags & flag else ()


class _Gathering:
    """One walk from a function over all that it needs, dependencies first."""

    def __init__(self, step: str, place: Source, partial: bool):
        self.step = step
        self.place = place
        self.partial = partial
        self.root = ""
        self.imports: dict[str, Piece] = {}
        self.constants: dict[str, Piece] = {}
        self.definitions: dict[str, Piece] = {}
        self.values: dict[str, Any] = {}
        self.local: dict[str, LocalImport] = {}
        self.watched: list[tuple[Origin, str, Any, str | None]] = []
        self.complete = True

    def gather(self, function: FunctionType, definition: Definition, origin: Origin) -> Captured:
        name = definition.node.name
        self.root = name
        self.values[name] = function
        self._definition(name, definition, origin)
        own = self.definitions.pop(name)
        pieces = (*self.imports.values(), *self.constants.values(), *self.definitions.values(), own)
        return Captured(name, pieces, future_of(function), tuple(self.local.values()), self.complete)

    def _definition(self, name: str, definition: Definition, origin: Origin) -> None:
        where = Source(definition.file, definition.line)
        wanted = self._needs(definition.text, where, name, origin)
        self._walk(wanted, origin, where)
        self.definitions[name] = Piece(definition.text, definition.file, definition.line)

    def _needs(self, text: str, where: Source, name: str, origin: Origin) -> Needs:
        future = origin.source.future
        try:
            found = needs(text, tuple(feature for feature in future if feature == "annotations"))
        except SyntaxError as problem:
            raise self._error(
                "CLR112",
                f"the source of {name} can't stand by itself: {problem.msg}",
                Source(where.file, where.line + (problem.lineno or 1) - 1),
                help="give it what it needs as arguments; `nonlocal` and `super()` need what is around them",
            ) from problem
        for made in found.imports:
            self._own_import(made.module, made.level, Source(where.file, where.line + made.line - 1), origin)
        return found

    def _walk(self, wanted: Needs, origin: Origin, where: Source) -> None:
        for name in wanted.names:
            value = origin.lookup(name)
            line = Source(where.file, where.line + wanted.lines.get(name, 1) - 1)
            if name in ("__file__", "__path__"):
                raise self._error(
                    "CLR113",
                    f"{name} can't travel",
                    line,
                    why="there is no such file where the step runs",
                    help="pass a `Path` as an argument, or pack the file by include= and use couler.included(name)",
                )
            if value is MISSING:
                if name not in BUILTINS:
                    self.complete = False
                    if not self.partial:
                        raise self._error(
                            "CLR116",
                            f"the name {name!r} is not defined",
                            line,
                            help="import it inside the step, or define it in the same file before the step is used",
                        )
                continue
            self._value(name, value, origin, wanted, line)

    def _value(self, name: str, value: Any, origin: Origin, wanted: Needs, line: Source) -> None:
        text = literals.literal(value)
        self.watched.append((origin, name, value, text))
        step_source = getattr(value, "__couler_source__", None)
        if isinstance(step_source, FunctionSource):
            if name == self.root:
                return  # the step itself, or, in a cell that is run again, the one before
            value = step_source.function
        if name in self.values:
            known = self.values[name]
            if known is not value and (literals.literal(known) is None or not _same_literal(known, value)):
                raise self._conflict(name, line)
            if not isinstance(value, ModuleType):
                return
        self.values[name] = value
        if isinstance(step_source, FunctionSource):
            self._named(name, value, step_source.definition, step_source.origin(), line)
            return
        if isinstance(value, ModuleType):
            self._module(name, value, origin, wanted, line)
            return
        if text is not None:
            self._constant(name, text, origin, line)
            return
        if literals.is_member(value):
            class_name = type(value).__name__
            self._value(class_name, type(value), origin, wanted, line)
            self.definitions[name] = Piece(f"{name} = {class_name}.{value.name}", line.file, line.line)
            return
        homes = [origin]  # one has the name from the next
        while (home := travelling(name, value, homes[-1])) and all(home.module is not each.module for each in homes):
            homes.append(home)
        if any(self._from_source(name, value, each, line) for each in homes[:0:-1]):
            return
        if self._from_import(name, value, origin) or self._from_source(name, value, origin, line):
            return
        raise self._cannot_travel(name, value, line)

    # ---- literals

    def _constant(self, name: str, text: str, origin: Origin, line: Source) -> None:
        if len(text.encode("utf-8", "surrogatepass")) > literals.LIMIT:
            raise self._error(
                "CLR113",
                f"the value of {name!r} is larger than {literals.LIMIT:,} bytes of source",
                line,
                help="write it to a file and pass its `Path` as an argument, or make it inside the step",
            )
        at = next(
            (
                Source(shown(source.filename), source.assignments[name][-1].lineno)
                for source in files(origin.source)
                if name in source.assignments
            ),
            line,
        )
        self.constants[name] = Piece(f"{name} = {text}", at.file, at.line)

    # ---- imports

    def _module(self, name: str, value: ModuleType, origin: Origin, wanted: Needs, line: Source) -> None:
        if self._from_import(name, value, origin, wanted):
            return
        module = value.__name__
        text = f"import {module}" if module == name else f"import {module} as {name}"
        self._import(text, module, line, origin)

    def _from_import(self, name: str, value: Any, origin: Origin, wanted: Needs | None = None) -> bool:
        found = False
        for source, node in import_nodes(origin.source):
            at = Source(shown(source.filename), node.lineno)
            for alias in node.names:
                if isinstance(node, ast.ImportFrom):
                    module = absolute(node.module or "", node.level, origin.package)
                    if (alias.asname or alias.name) == name and is_member(module, alias.name, value):
                        renamed = f" as {alias.asname}" if alias.asname else ""
                        member = f"{module}.{alias.name}" if isinstance(value, ModuleType) else module
                        self._import(f"from {module} import {alias.name}{renamed}", member, at, origin)
                        return True
                elif alias.asname == name and sys.modules.get(alias.name) is value:
                    self._import(f"import {alias.name} as {name}", alias.name, at, origin)
                    return True
                elif alias.asname is None and alias.name.partition(".")[0] == name and is_used(alias.name, wanted):
                    self._import(f"import {alias.name}", alias.name, at, origin)
                    found = True
        return found

    def _import(self, text: str, module: str, at: Source, origin: Origin) -> None:
        if text not in self.imports:
            self._check_local(module, at, origin)
            self.imports[text] = Piece(text, at.file, at.line)

    def _own_import(self, module: str, level: int, at: Source, origin: Origin) -> None:
        if level:
            raise self._error(
                "CLR114",
                f"the step imports {'.' * level}{module} relative to its package",
                at,
                why="where a step runs it is in no package",
                help="import it by its full name, and add its package to include=",
            )
        self._check_local(module, at, origin)

    def _check_local(self, module: str, at: Source, origin: Origin) -> None:
        path = modules.local_path(module, origin.source.filename)
        if path is not None:
            self.local.setdefault(module, LocalImport(module, path, at))

    # ---- functions and classes

    def _from_source(self, name: str, value: Any, origin: Origin, line: Source) -> bool:
        found = find_definition(name, value, origin)
        if found is not None:
            return self._named(name, value, *found, line)
        return self._from_assignment(name, value, origin) or self._from_module(name, value, origin)

    def _named(self, name: str, value: Any, definition: Definition, origin: Origin, line: Source) -> bool:
        """Take in a definition, under another name where the step knows it by that."""
        own = definition.node.name
        if own != name:
            if self.values.setdefault(own, value) is not value:
                raise self._conflict(own, line)
            if own in self.definitions:
                self.definitions[name] = Piece(f"{name} = {own}", definition.file, definition.line)
                return True
        self._definition(own, definition, origin)
        if own != name:
            self.definitions[name] = Piece(f"{name} = {own}", definition.file, definition.line)
        return True

    def _from_assignment(self, name: str, value: Any, origin: Origin) -> bool:
        is_lambda = isinstance(value, FunctionType) and value.__name__ == "<lambda>"
        if not (is_lambda or isinstance(value, TYPING_OBJECTS)):
            return False
        for source in files(origin.source):
            for statement in reversed(source.assignments.get(name, ())):
                if is_lambda and not (
                    isinstance(statement.value, ast.Lambda) and statement.value.lineno == value.__code__.co_firstlineno
                ):
                    continue
                text = source.text(statement.lineno, statement.end_lineno or statement.lineno, statement.col_offset)
                where = Source(shown(source.filename), statement.lineno)
                inner = origin_of(value, source, {}) if is_lambda else origin
                self._walk(self._needs(text, where, name, inner), inner, where)
                self.definitions[name] = Piece(text, where.file, where.line)
                return True
        return False

    def _from_module(self, name: str, value: Any, origin: Origin) -> bool:
        module, qualified = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
        if not isinstance(module, str) or "." in qualified or module in ("__main__", origin.package):
            return False
        if getattr(sys.modules.get(module), qualified, MISSING) is not value:
            return False
        renamed = f" as {name}" if name != qualified else ""
        self._import(f"from {module} import {qualified}{renamed}", module, self.place, origin)
        return True

    # ---- errors

    def _conflict(self, name: str, line: Source) -> DefinitionError:
        return self._error(
            "CLR115",
            f"the step needs two different things named {name!r}",
            line,
            why="its source and that of its helpers stand in one file where it runs",
            help="rename one of them, or pass it as an argument",
        )

    def _cannot_travel(self, name: str, value: Any, line: Source) -> DefinitionError:
        kind = type(value).__qualname__
        if hasattr(type(value), "_couler_member"):
            why = "it is known only while the workflow runs"
            help_ = f"make {name} a parameter of the step and pass it where the step is called"
        elif isinstance(value, type) and holds_step(value):
            why = "a step is defined inside this class"
            help_ = f"define the steps of {value.__name__} outside of it"
        elif isinstance(value, FunctionType | type):
            why = "its source can't be found, or it needs another name than it has"
            help_ = "define it at the top of the same file, or in a module that include= packs"
        else:
            why = "only literals, modules, functions and classes travel with the source of a step"
            help_ = f"make {name} inside the step, or pass what it is made of as an argument"
        return self._error(
            "CLR113", f"the variable {name!r} (a {kind}) can't travel with the step", line, why=why, help=help_
        )

    def _error(self, code: str, message: str, line: Source, **details: Any) -> DefinitionError:
        return DefinitionError([error(code, message, source=line, step=self.step, **details)])


def _same_literal(known: Any, value: Any) -> bool:
    return literals.literal(known) == literals.literal(value)


def _own_statements(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield child
            yield from _own_statements(child)
