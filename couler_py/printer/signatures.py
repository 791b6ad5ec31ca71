"""What the DSL will make of the source of a Python step: its inputs, its outputs, and the order of its pieces."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import msgspec

from couler_py.dsl.needs import BUILTINS, needs
from couler_py.ir.model import Function, InputArtifact, Inputs, OutputArtifact, OutputParameter, Outputs, Parameter
from couler_py.ir.types import ANY
from couler_py.printer.pieces import File, Parsed, Reader, UnreadableError, constant, parse


class Source(msgspec.Struct, frozen=True, eq=False):
    """A step's source: its own definition, what it needs by the name that each binds, and what both say."""

    own: Parsed
    needed: dict[str, Parsed]
    names: tuple[str, ...]
    inputs: Inputs
    outputs: Outputs
    returns: str
    description: str

    @property
    def places(self) -> tuple[str, ...]:
        """The parameters that can be given without their names."""
        return tuple(argument.arg for argument in self.function.args.args)

    @property
    def function(self) -> ast.FunctionDef:
        """The syntax tree of the function."""
        assert isinstance(self.own.node, ast.FunctionDef)
        return self.own.node


def read(body: Function) -> Source | None:
    """The source of a function's pieces; None where it isn't certain that the DSL would take in the same again."""
    parsed = [parse(piece.text) for piece in body.pieces]
    if not parsed or None in parsed:
        return None
    *before, own = [piece for piece in parsed if piece is not None]
    needed = {piece.name: piece for piece in before}
    known = {piece.text for piece in before}
    if len(known) != len(before) or own.name in needed or own.name != body.name or own.kind != "function":
        return None
    if not _same_order(before, own, body.future):
        return None
    assert isinstance(own.node, ast.FunctionDef)
    reader = Reader(needed)
    try:
        inputs, names = _inputs(own.node, reader)
        returns, outputs = _outputs(own.node, reader)
    except UnreadableError:
        return None
    return Source(own, needed, names, inputs, outputs, returns, ast.get_docstring(own.node) or "")


def _inputs(node: ast.FunctionDef, reader: Reader) -> tuple[Inputs, tuple[str, ...]]:
    given = node.args
    if given.vararg or given.kwarg or given.posonlyargs:
        raise UnreadableError
    places: list[tuple[ast.arg, ast.expr | None]] = []
    missing = len(given.args) - len(given.defaults)
    places += zip(given.args, [*([None] * missing), *given.defaults], strict=True)
    places += zip(given.kwonlyargs, given.kw_defaults, strict=True)
    parameters, artifacts = [], []
    for argument, default in places:
        found, text = reader.hint(argument.annotation)
        if isinstance(found, File):
            if default is not None and not (found.optional and _is_none(default)):
                raise UnreadableError
            artifacts.append(InputArtifact(argument.arg, optional=found.optional, description=text))
        else:
            value = msgspec.UNSET if default is None else _default(default, reader)
            parameters.append(Parameter(argument.arg, found, value, description=text))
    return Inputs(tuple(parameters), tuple(artifacts)), tuple(argument.arg for argument, _ in places)


def _default(node: ast.expr, reader: Reader) -> Any:
    if isinstance(node, ast.Name) and (known := reader.pieces.get(node.id)) is not None and known.kind == "constant":
        return _wire(constant(known))
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return _wire(reader.member(node.value.id, node.attr))
    try:
        value = ast.literal_eval(node)
    except ValueError:
        raise UnreadableError from None
    return _wire(value)


def _wire(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_wire(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _wire(item) for key, item in value.items()}
    raise UnreadableError


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _outputs(node: ast.FunctionDef, reader: Reader) -> tuple[str, Outputs]:
    if node.returns is None:
        returns_value = any(
            isinstance(inner, ast.Return) and inner.value is not None and not _is_none(inner.value)
            for inner in _own_statements(node)
        )
        return ("one", Outputs((OutputParameter("result", ANY),))) if returns_value else ("none", Outputs())
    annotation = node.returns
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if _is_none(annotation):
        return "none", Outputs()
    fields = reader.result(annotation.id) if isinstance(annotation, ast.Name) else None
    if fields is None:
        return "one", _given([("result", annotation)], reader)
    return "fields", _given(fields, reader)


def _given(fields: list[tuple[str, ast.expr]], reader: Reader) -> Outputs:
    parameters, artifacts = [], []
    for name, annotation in fields:
        found, text = reader.hint(annotation)
        if isinstance(found, File):
            if found.many:
                raise UnreadableError
            artifacts.append(OutputArtifact(name, optional=found.optional, description=text))
        else:
            parameters.append(OutputParameter(name, found, description=text))
    return Outputs(tuple(parameters), tuple(artifacts))


def _own_statements(node: ast.AST) -> Any:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            yield child
            yield from _own_statements(child)


# ---- the order of pieces


def _same_order(before: list[Parsed], own: Parsed, future: tuple[str, ...]) -> bool:
    """Whether a walk over what the function needs finds the pieces in this order, and nothing else."""
    if future not in ((), ("annotations",)):
        return False
    walk = _Walk({piece.name: piece for piece in before}, own.name, future)
    try:
        walk.definition(own)
    except (SyntaxError, KeyError):
        return False
    found = [*walk.imports, *walk.constants, *[name for name in walk.definitions if name != own.name]]
    return found == [piece.name for piece in before]


class _Walk:
    """Imports, constants and definitions in the order in which capturing a function meets them."""

    def __init__(self, pieces: Mapping[str, Parsed], root: str, future: tuple[str, ...]):
        self._pieces = pieces
        self._root = root
        self._future = future
        self._seen: set[str] = {root}
        self.imports: dict[str, None] = {}
        self.constants: dict[str, None] = {}
        self.definitions: dict[str, None] = {}

    def definition(self, piece: Parsed) -> None:
        for name in needs(piece.text, self._future).names:
            self._name(name)
        self.definitions[piece.name] = None

    def _name(self, name: str) -> None:
        if name in self._seen:
            return
        piece = self._pieces.get(name)
        if piece is None:
            if name not in BUILTINS:
                raise KeyError(name)
            return
        self._seen.add(name)
        if piece.kind == "import":
            self.imports[name] = None
        elif piece.kind == "constant":
            self.constants[name] = None
        else:
            self.definition(piece)
