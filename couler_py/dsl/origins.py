"""Where the names of a piece of source come from: its closure, its module, the cells of a notebook."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

import msgspec

from couler_py.dsl import sourcecode
from couler_py.dsl.needs import Needs
from couler_py.dsl.sourcecode import Definition, ImportNode, SourceFile

MISSING = object()


class Origin(msgspec.Struct, frozen=True, eq=False):
    """Where the names of a piece are looked up: its closure, then its module, then what was around it."""

    names: tuple[Mapping[str, Any], ...]
    source: SourceFile
    package: str = ""

    def lookup(self, name: str) -> Any:
        """The value of a name, or a marker where there is none yet."""
        for scope in self.names:
            if name in scope:
                return scope[name]
        return MISSING

    @property
    def module(self) -> Mapping[str, Any]:
        """The namespace of the module."""
        return self.names[1]


def origin_of(function: FunctionType, source: SourceFile, around: Mapping[str, Any]) -> Origin:
    """Where the names of a function of a file are looked up; `around` are the locals of who defined it."""
    closure: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            closure[name] = cell.cell_contents
        except ValueError:
            continue  # not bound yet, as a name of a function that is being defined
    package = function.__globals__.get("__package__") or ""
    return Origin((closure, function.__globals__, around), source, package)


def files(source: SourceFile) -> Iterator[SourceFile]:
    """The file itself, then, in a notebook, the other cells, the last one first."""
    yield source
    for cell in sourcecode.cells():
        if cell is not source:
            yield cell


def import_nodes(source: SourceFile) -> Iterator[tuple[SourceFile, ImportNode]]:
    """The import statements that may have bound a name of the file."""
    for found in files(source):
        for node in found.imports:
            yield found, node


def absolute(module: str, level: int, package: str) -> str:
    """The full name of a module that is imported relative to a package."""
    if not level:
        return module
    try:
        return importlib.util.resolve_name("." * level + module, package)
    except ImportError:
        return module


def is_member(module: str, name: str, value: Any) -> bool:
    """Whether `from module import name` gives the value."""
    return getattr(sys.modules.get(module), name, MISSING) is value or sys.modules.get(f"{module}.{name}") is value


def travelling(name: str, value: Any, origin: Origin) -> Origin | None:
    """Where the names of another module are looked up: of one whose definitions travel, from which a name was imported.

    Such a module says so: ``__couler_travels__ = True``. None where the name is another one's.
    """
    for _, node in import_nodes(origin.source):
        if not isinstance(node, ast.ImportFrom):
            continue
        home = sys.modules.get(absolute(node.module or "", node.level, origin.package))
        if home is None or not vars(home).get("__couler_travels__"):
            continue
        for alias in node.names:
            if (alias.asname or alias.name) == name and getattr(home, alias.name, MISSING) is value:
                source = sourcecode.read(home.__file__ or "", vars(home))
                return None if source is None else Origin(({}, vars(home), {}), source, home.__package__ or "")
    return None


def holds_step(class_: type) -> bool:
    """Whether a step is defined in the body of a class."""
    return any(hasattr(getattr(member, "__func__", member), "__couler_source__") for member in vars(class_).values())


def is_used(module: str, wanted: Needs | None) -> bool:
    """Whether `import a.b` is needed: a dotted module only where its full name is used."""
    if "." not in module:
        return True
    return wanted is not None and any(f"{path}.".startswith(f"{module}.") for path in wanted.paths)


def find_definition(name: str, value: Any, origin: Origin) -> tuple[Definition, Origin] | None:
    """The `def` or `class` statement that made a value, and where its own names are looked up."""
    plain = inspect.unwrap(value) if callable(value) and not isinstance(value, type) else value
    if isinstance(plain, FunctionType):
        source = sourcecode.read(plain.__code__.co_filename, plain.__globals__)
        if source is None or plain.__globals__ is not origin.module:
            return None
        found = sourcecode.function_definition(source, plain.__qualname__, plain.__code__.co_firstlineno)
        if found is not None and (found.node.name == name or plain.__name__ == found.node.name):
            by_name = source.definitions.get(name)
            if found.node.name != name and by_name:  # `name` is a decorated function: its own source says all
                return sourcecode.cut(source, by_name[-1]), origin
            return found, origin_of(plain, source, {})
        return None
    if isinstance(value, type):
        if value.__module__ != origin.module.get("__name__") or holds_step(value):
            return None
        for source in files(origin.source):
            nodes = source.definitions.get(value.__qualname__)
            if nodes:
                return sourcecode.cut(source, nodes[-1]), msgspec.structs.replace(origin, source=source)
    return None
