"""Expressions of the IR as Python, with the meaning that `couler_py.ir.evaluate` gives them.

Python's own operators stand where the types of the operands make them mean the same; everything else is a call of a
definition in `couler_py/templates/airflow/expressions.py`, which is held to the reference by tests.
"""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py.backends.airflow.scope import Node, Scope
from couler_py.backends.airflow.types import may_be_float, member_type
from couler_py.ir import expr as x
from couler_py.ir.types import ANY, BOOL, FLOAT, INT, STR, DictOf, ListOf, Record, Type, type_of_literal
from couler_py.printer.layout import Chain, Doc, Group, Named, call, columns, flat
from couler_py.printer.literal import literal, quoted

SHORT = 56
"""Columns up to which operators are written between operands; longer ones are calls, which break at commas."""


class UnsayableError(Exception):
    """An expression that has no meaning on Airflow."""


class Code(msgspec.Struct, frozen=True):
    """An expression as source, the type of its value, and whether it needs parentheses inside another."""

    doc: Doc
    type: Type = ANY
    loose: bool = False


def value(expr: x.Expr | str, scope: Scope) -> Doc:
    """The source of a value that is handed on. Raises `UnsayableError`."""
    if isinstance(expr, str):
        return quoted(expr)
    found = _code(expr, scope)
    if isinstance(expr, x.Compute) and found.type != STR and not isinstance(found.type, ListOf):
        return call("as_json", found.doc)
    return found.doc


def condition(expr: x.Expr, scope: Scope) -> Doc:
    """The source of an expression that must be true or false. Raises `UnsayableError`."""
    return _truth(expr, scope).doc


def is_constant(expr: x.Expr | str) -> bool:
    """Whether a value is known when the file is written."""
    return isinstance(expr, str | x.Literal)


def late(doc: Doc, *parameters: str) -> Doc:
    """A function without a name."""
    return Named((f"lambda {', '.join(parameters)}: " if parameters else "lambda: ",), doc)


def _code(expr: x.Expr, scope: Scope) -> Code:
    rule = _RULES.get(type(expr))
    if rule is None:
        raise UnsayableError(f"an expression of the kind {expr.__struct_config__.tag!r} has no meaning on Airflow")
    found: Code = rule(expr, scope)
    return found


def _computed(expr: x.Expr, scope: Scope) -> Code:
    """An operand: a float that JSON has no word for becomes one."""
    found = _code(expr, scope)
    if may_be_float(found.type) and not isinstance(expr, x.Literal | x.NonFinite | x.Compute):
        name = "as_fraction" if found.type == FLOAT else "as_float"
        return Code(call(name, found.doc), found.type)
    return found


def _tight(code: Code) -> Doc:
    return Group("(", (code.doc,), ")") if code.loose else code.doc


def _between(left: Code, sign: str, right: Code) -> Doc | None:
    """`left sign right` where that is short."""
    doc = Chain(_tight(left), ((sign, _tight(right)),))
    text = flat(doc)
    return text if columns(text) <= SHORT and "\n" not in text else None


def _truth(expr: x.Expr, scope: Scope) -> Code:
    found = _code(expr, scope)
    return found if found.type == BOOL else Code(call("is_true", found.doc), BOOL)


# ---- what stands elsewhere


def _literal(expr: x.Literal, scope: Scope) -> Code:
    return Code(literal(expr.value), type_of_literal(expr.value))


def _nonfinite(expr: x.NonFinite, scope: Scope) -> Code:
    return Code(call("float", quoted(expr.name)), FLOAT)


def _input(expr: x.Input, scope: Scope) -> Code:
    if expr.name not in scope.inputs:
        raise UnsayableError(f"there is no input {expr.name!r}")
    return Code(scope.inputs[expr.name], scope.input_types.get(expr.name, ANY))


def _parameter(expr: x.WorkflowParameter, scope: Scope) -> Code:
    return Code(call("param", quoted(expr.name)), scope.parameters.get(expr.name, ANY))


def node_of(name: str, scope: Scope) -> Node:
    """The task of that name. Raises `UnsayableError`."""
    if name not in scope.nodes:
        raise UnsayableError(f"there is no task {name!r} here")
    return scope.nodes[name]


def _output(expr: x.TaskOutput, scope: Scope) -> Code:
    node = node_of(expr.task, scope)
    type_ = node.outputs.get(expr.name, ANY)
    if node.shape == "fan_out":
        return Code(call("gather", node.variable, quoted(expr.name)), ListOf(type_))
    return Code(call("out", node.end, quoted(expr.name)), type_)


def _artifact(expr: x.TaskArtifact, scope: Scope) -> Code:
    node = node_of(expr.task, scope)
    if node.shape == "fan_out":
        return Code(call("files_of", node.variable, quoted(expr.name)))
    return Code(call("out", node.end, quoted(expr.name)))


def _status(expr: x.TaskStatus, scope: Scope) -> Code:
    return Code(call("state_of", node_of(expr.task, scope).variable), STR)


def _items(expr: x.TaskItems, scope: Scope) -> Code:
    return Code(call("items_of", node_of(expr.task, scope).variable), ListOf(ANY))


def _own(expr: x.Own, scope: Scope) -> Code:
    if not scope.own:
        raise UnsayableError("there are no outputs of its own here")
    return Code(f"{scope.own}[{quoted(expr.name)}]", scope.own_types.get(expr.name, ANY))


def _item(expr: x.Item, scope: Scope) -> Code:
    return Code("item", scope.item_type)


def _run(expr: x.Run, scope: Scope) -> Code:
    if expr.field == "status":
        if not scope.outcome:
            raise UnsayableError("only a handler knows how the run ended")
        return Code(call("run_status", scope.outcome), STR)
    if expr.field == "failures":
        return Code("run_failures()", ListOf(ANY))
    type_ = INT if expr.field == "attempt" else FLOAT if expr.field == "duration" else STR
    return Code(call("fact", quoted(expr.field)), type_)


def _published(expr: x.Published, scope: Scope) -> Code:
    tasks = scope.published.get(expr.name, ())
    return Code(call("published_as", quoted(expr.name), literal([*tasks])))


def _last_retry(expr: x.LastRetry, scope: Scope) -> Code:
    field = {"exit_code": "last.exit_code", "status": '"Failed"', "message": "str(last)", "duration": "last.seconds"}
    types = {"exit_code": INT, "status": STR, "message": STR, "duration": FLOAT}
    return Code(field[expr.field], types[expr.field])


# ---- what is computed


def _or_else(expr: x.OrElse, scope: Scope) -> Code:
    inner, default = _code(expr.value, scope), _code(expr.default, scope)
    other = default.doc if is_constant(expr.default) else late(default.doc)
    return Code(call("or_else", late(inner.doc), other), inner.type if inner.type == default.type else ANY)


def _first(expr: x.First, scope: Scope) -> Code:
    options = [_code(option, scope) for option in expr.options]
    types = {option.type for option in options}
    return Code(call("first_of", *(late(option.doc) for option in options)), types.pop() if len(types) == 1 else ANY)


def _compare(expr: x.Compare, scope: Scope) -> Code:
    left, right = _computed(expr.left, scope), _computed(expr.right, scope)
    if expr.op in ("==", "!="):
        if left.type == right.type and left.type in (STR, BOOL):
            short = _between(left, expr.op, right)
            if short is not None:
                return Code(short, BOOL, loose=True)
        same = Code(call("equal", left.doc, right.doc), BOOL)
        return same if expr.op == "==" else _opposite(same)
    if expr.op in (">", ">="):
        left, right = right, left
    return Code(call("less" if expr.op in ("<", ">") else "at_most", left.doc, right.doc), BOOL)


def _all(expr: x.AllOf, scope: Scope) -> Code:
    return _joined("and", "every", [_truth(operand, scope) for operand in expr.operands])


def _any(expr: x.AnyOf, scope: Scope) -> Code:
    return _joined("or", "some", [_truth(operand, scope) for operand in expr.operands])


def _joined(word: str, function: str, operands: list[Code]) -> Code:
    if len(operands) == 2 and (short := _between(operands[0], word, operands[1])) is not None:
        return Code(short, BOOL, loose=True)
    return Code(call(function, *(late(operand.doc) for operand in operands)), BOOL)


def _not(expr: x.Not, scope: Scope) -> Code:
    return _opposite(_truth(expr.operand, scope))


def _opposite(code: Code) -> Code:
    text = f"not {flat(_tight(code))}"
    if columns(text) <= SHORT and "\n" not in text:
        return Code(text, BOOL, loose=True)
    return Code(call("is_false", code.doc), BOOL)


def _compute(expr: x.Compute, scope: Scope) -> Code:
    left, right = _computed(expr.left, scope), _computed(expr.right, scope)
    if expr.op == "+" and left.type == right.type == STR and (short := _between(left, "+", right)) is not None:
        return Code(short, STR, loose=True)
    type_ = left.type if left.type == right.type and left.type in (STR, INT) and expr.op != "/" else ANY
    if FLOAT in (left.type, right.type) or expr.op == "/":
        type_ = FLOAT
    return Code(call("compute", quoted(expr.op), left.doc, right.doc), type_)


def _access(expr: x.Access, scope: Scope) -> Code:
    inner, key = _code(expr.value, scope), _code(expr.key, scope)
    known = expr.key.value if isinstance(expr.key, x.Literal) else None
    plain = (isinstance(inner.type, ListOf) and isinstance(known, int) and not isinstance(known, bool)) or (
        isinstance(inner.type, DictOf | Record) and isinstance(known, str)
    )
    if plain and isinstance(inner.doc, str | Group):
        return Code(f"{flat(inner.doc)}[{flat(key.doc)}]", member_type(inner.type, known))
    return Code(call("member_of", inner.doc, key.doc), member_type(inner.type, known))


def _length(expr: x.Length, scope: Scope) -> Code:
    return Code(call("len", _computed(expr.value, scope).doc), INT)


def _contains(expr: x.Contains, scope: Scope) -> Code:
    container, inside = _computed(expr.container, scope), _computed(expr.member, scope)
    if container.type == STR and inside.type == STR and (short := _between(inside, "in", container)) is not None:
        return Code(short, BOOL, loose=True)
    return Code(call("contains", container.doc, inside.doc), BOOL)


def _record(expr: x.Record, scope: Scope) -> Code:
    values = [value(each, scope) for each in expr.values]
    if expr.form == "list":
        return Code(Group("[", tuple(values), "]"), ListOf(ANY))
    pairs = zip(expr.keys, values, strict=True)
    return Code(Group("{", tuple(Named((literal(key), ": "), each) for key, each in pairs), "}"), DictOf(ANY))


def _zip(expr: x.Zip, scope: Scope) -> Code:
    return Code(call("zipped", *(_code(each, scope).doc for each in expr.lists)), ListOf(ListOf(ANY)))


def text(expr: x.Text, scope: Scope) -> Code:
    """A text made of parts."""
    parts = [quoted(part) if isinstance(part, str) else _computed(part, scope).doc for part in expr.parts]
    return Code(call("joined", *parts), STR)


def _from_json(expr: x.FromJson, scope: Scope) -> Code:
    return Code(call("json.loads", _code(expr.text, scope).doc))


_RULES: dict[type, Any] = {
    x.Literal: _literal,
    x.NonFinite: _nonfinite,
    x.Input: _input,
    x.InputArtifact: _input,
    x.WorkflowParameter: _parameter,
    x.TaskOutput: _output,
    x.TaskArtifact: _artifact,
    x.TaskStatus: _status,
    x.TaskItems: _items,
    x.Own: _own,
    x.Item: _item,
    x.Run: _run,
    x.Published: _published,
    x.LastRetry: _last_retry,
    x.OrElse: _or_else,
    x.First: _first,
    x.Compare: _compare,
    x.AllOf: _all,
    x.AnyOf: _any,
    x.Not: _not,
    x.Compute: _compute,
    x.Access: _access,
    x.Length: _length,
    x.Contains: _contains,
    x.Record: _record,
    x.Zip: _zip,
    x.Text: text,
    x.FromJson: _from_json,
}
