"""What a printed program writes, found out without running it as a program.

The interpreter knows the few forms that printed programs consist of: calls of `argo.*` and of what they returned,
literals, `with`, assignments. Whatever else a text might have been made to say is refused, not executed.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from couler_py import argo_native
from couler_py.backends.argo.native.workflows import Written

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {ast.BitAnd: operator.and_, ast.BitOr: operator.or_}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.Invert: operator.invert, ast.USub: operator.neg}


class ForeignError(Exception):
    """A printed program holds what no printed program holds: a bug of ours, never a user's."""


def built(source: str) -> list[tuple[Any, Any, Any]]:
    """The documents that a printed program writes: data, and what stands before and behind each in its file.

    Raises `DiagnosticError` for what Argo's schema refuses, and `ForeignError`.
    """
    interpreter = _Interpreter()
    interpreter.block(ast.parse(source).body)
    written = [each for each in interpreter.names.values() if isinstance(each, Written)]
    return [(each.data, *each.around) for each in written]


class _Interpreter:
    def __init__(self) -> None:
        self.names: dict[str, Any] = {}

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.ImportFrom("couler_py", [ast.alias("argo_native", "argo")], 0):
                self.names["argo"] = argo_native
            case ast.Assign([ast.Name(name)], value):
                self.names[name] = self._value(value)
            case ast.Expr(ast.Call() as value):
                self._value(value)
            case ast.With(items, body):
                with ExitStack() as stack:
                    for item in items:
                        entered = stack.enter_context(self._value(item.context_expr))
                        if isinstance(item.optional_vars, ast.Name):
                            self.names[item.optional_vars.id] = entered
                    self.block(body)
            case ast.Pass():
                pass
            case _:
                raise ForeignError(ast.unparse(node))

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name) if name in self.names:
                return self.names[name]
            case ast.Attribute(value, name) if not name.startswith("_"):
                return getattr(self._value(value), name)
            case ast.Subscript(value, ast.Constant(key)):
                return self._value(value)[key]
            case ast.JoinedStr(parts):
                return "".join(str(self._value(part)) for part in parts)
            case ast.FormattedValue(value, -1, None):
                return self._value(value)
            case ast.List(items):
                return [self._value(item) for item in items]
            case ast.Dict(keys, values):
                return {
                    self._value(key): self._value(value)
                    for key, value in zip(keys, values, strict=True)
                    if key is not None
                }
            case ast.BinOp(left, sign, right) if type(sign) in _BINARY:
                return _BINARY[type(sign)](self._value(left), self._value(right))
            case ast.UnaryOp(sign, operand) if type(sign) in _UNARY:
                return _UNARY[type(sign)](self._value(operand))
            case ast.Call(function, arguments, keywords):
                named = {each.arg: self._value(each.value) for each in keywords if each.arg is not None}
                return self._value(function)(*(self._value(each) for each in arguments), **named)
            case _:
                raise ForeignError(ast.unparse(node))
