"""The IR's expressions in Argo's expression language, where a table of cases proves them equal.

The proof is `tests/engines/argo/test_expressions.py`: every operator over every kind of value, run on the real
controller and compared with `ir.evaluate`. What isn't in the table raises `UnprovenError`, and the person is
offered a step that computes it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from couler_py.backends.argo.emit.literals import failing, scalar, string
from couler_py.backends.argo.emit.values import (
    Value,
    elements,
    to_json,
    to_text,
    to_value,
)
from couler_py.ir import wire
from couler_py.ir.evaluate import EXACT
from couler_py.ir.expr import (
    Access,
    AllOf,
    AnyOf,
    Compare,
    Compute,
    Contains,
    Expr,
    First,
    Length,
    NonFinite,
    Not,
    OrElse,
    Published,
    Raw,
    Record,
    TaskArtifact,
    TaskItems,
    TaskOutput,
    TaskStatus,
    Text,
    Zip,
    children,
    walk,
)
from couler_py.ir.expr import Literal as Constant
from couler_py.ir.types import ANY, BOOL, FLOAT, INT, NONE, STR, ListOf, Scalar, Type, type_of

from couler_py.ir.types import DictOf, Record as RecordType  # isort: skip

NUMBERS = (INT, FLOAT)
STATES = ("Succeeded", "Failed", "Skipped", "Blocked")
_SIMPLE_TEXT = re.compile(r"[A-Za-z0-9 _.,:/=+-]*")  # every writer of JSON writes these characters alike


class UnprovenError(ValueError):
    """An expression that Argo's language can't say, or not with the same meaning; the message says why."""


class Scope(Protocol):
    """Where an expression stands: what its references are."""

    def reference(self, node: Expr, guarded: bool) -> Value:
        """The value of a leaf; `guarded` where it may be absent and something around it catches that."""
        ...

    def present(self, task: str) -> str:
        """A condition that the task succeeded; empty where it surely did."""
        ...

    def published(self, name: str) -> str:
        """A condition that a value was published."""
        ...


def translate(expr: Expr, scope: Scope, guarded: bool = False) -> Value:
    """The expression as a `Value`. Raises `UnprovenError`."""
    operation = OPERATIONS.get(type(expr))
    return scope.reference(expr, guarded) if operation is None else operation(expr, scope, guarded)


def condition(expr: Expr, scope: Scope) -> str:
    """The expression as a boolean of Argo's language."""
    return _boolean(translate(expr, scope))


def literal(value: Any, type_: Type | None = None) -> Value:
    """A constant as an expression."""
    type_ = type_of(value) if type_ is None else type_
    if value is None or isinstance(value, bool | int | float | str):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise UnprovenError(f"{value} doesn't fit in 64 bits")
        return Value(scalar(value), "value", type_)
    return Value(string(wire.to_json(value)), "json", type_)


def _boolean(value: Value) -> str:
    if value.type not in (BOOL, ANY):
        raise UnprovenError("a condition needs true or false")
    if value.form in ("wire", "plain", "json") and value.type == BOOL:
        return f"{value.text} == 'true'" if value.form == "wire" else f"fromJSON({value.text}) == true"
    text = to_value(value)
    return text if value.type == BOOL else f"({text} ? true : false)"


def _made(text: str, type_: Type) -> Value:
    return Value(text, "value", type_)


def _constant(expr: Constant, scope: Scope, guarded: bool) -> Value:
    return literal(expr.value)


def _non_finite(expr: NonFinite, scope: Scope, guarded: bool) -> Value:
    return _made(f"asFloat('{expr.name}')", FLOAT)


def _or_else(expr: OrElse, scope: Scope, guarded: bool) -> Value:
    presence = available(expr.value, scope)
    if not presence:
        return translate(expr.value, scope, guarded)
    value, default = translate(expr.value, scope, True), translate(expr.default, scope, guarded)
    return caught([(presence, value)], default)


def _first(expr: First, scope: Scope, guarded: bool) -> Value:
    options = [(available(option, scope), translate(option, scope, True)) for option in expr.options]
    for index, (presence, value) in enumerate(options):
        if not presence:  # surely there: what follows is never read
            options, default = options[:index], value
            return caught(options, default) if options else default
    return caught(options, None)


def caught(options: list[tuple[str, Value]], default: Value | None) -> Value:
    """The first option whose condition holds, else the default: the one form that is right in every state.

    All become JSON text or, where they agree, keep their form. Without a default the value must be present.
    """
    values = [value for _, value in options] + ([] if default is None else [default])
    form, type_ = values[0].form, common([value.type for value in values])
    same = all(value.form == form and value.type == values[0].type for value in values)
    if same and form != "gathered":
        texts = [value.text for value in values]
    else:
        form = "json"
        texts = [to_json(value) for value in values]
    parts = [f"({presence} ? {text} : nil)" for (presence, _), text in zip(options, texts, strict=False)]
    if default is not None:
        parts.append(_operand(texts[-1]))
    marks = tuple(dict.fromkeys(mark for value in values for mark in value.marks))
    return Value("(" + " ?? ".join(parts) + ")", form, type_, marks=marks)


def common(types: list[Type]) -> Type:
    """The one type of several values, or `any`."""
    found = set(types)
    return types[0] if len(found) == 1 else FLOAT if found <= set(NUMBERS) else ANY


def available(expr: Expr, scope: Scope) -> str:
    """A condition that an expression has a value, its `or_else` and `first` included; empty where that is sure."""
    match expr:
        case TaskOutput(task=name) | TaskArtifact(task=name) | TaskItems(task=name):
            return scope.present(name)
        case Published(name=name):
            return scope.published(name)
        case OrElse(value=value, default=default):
            return _either([value, default], scope)
        case First(options=options):
            return _either(options, scope)
        case _:
            found = dict.fromkeys(filter(None, (available(part, scope) for part in children(expr))))
            return " && ".join(f"({each})" if " || " in each else each for each in found)


def _either(options: Iterable[Expr], scope: Scope) -> str:
    found = [available(option, scope) for option in options]
    return "" if "" in found else " || ".join(dict.fromkeys(f"({each})" if " && " in each else each for each in found))


def _compare(expr: Compare, scope: Scope, guarded: bool) -> Value:
    if isinstance(expr.left, TaskStatus) and isinstance(expr.right, Constant) and expr.op in ("==", "!="):
        return _made(_status_is(expr, scope), BOOL)
    left, right = translate(expr.left, scope, guarded), translate(expr.right, scope, guarded)
    kinds = {_kind(left.type), _kind(right.type)}
    if expr.op in ("==", "!="):
        if kinds <= {"bool"}:
            sides = [_boolean(left), _boolean(right)]
            return _made(f"({sides[0]}) {expr.op} ({sides[1]})", BOOL)
        if len(kinds) == 2 and "any" not in kinds:
            return _made("true" if expr.op == "!=" else "false", BOOL) if _total(expr) else _refuse_kinds(kinds)
        if encoded := _encodings(left, expr.right) or _encodings(right, expr.left):
            return _made(_one_of(*encoded, expr.op), BOOL)
        return _made(f"{_operand(to_value(left))} {expr.op} {_operand(to_value(right))}", BOOL)
    if kinds == {"number"} or kinds == {"string"}:
        return _made(f"{_operand(to_value(left))} {expr.op} {_operand(to_value(right))}", BOOL)
    raise UnprovenError(f"Argo orders values of unknown kinds differently ({' and '.join(sorted(kinds))} by {expr.op})")


def _encodings(value: Value, other: Expr) -> tuple[str, list[str]] | None:
    """A string and all texts that stand for a constant it is compared with; None where that isn't so simple."""
    if value.type != STR or value.form not in ("wire", "plain") or not isinstance(other, Constant):
        return None
    text = other.value
    if not isinstance(text, str) or not _SIMPLE_TEXT.fullmatch(text):
        return None
    found = [text]
    if value.form == "wire" and wire.JSON_MARK in value.marks:
        found.append(f'{wire.JSON_MARK}"{text}"')
    if value.form == "wire" and wire.BASE64_MARK in value.marks:
        found.append(wire.BASE64_MARK + base64.b64encode(text.encode()).decode())
    return value.text, found


def _one_of(text: str, texts: list[str], op: str) -> str:
    if len(texts) == 1:
        return f"{_operand(text)} {op} {string(texts[0])}"
    return f"{_operand(text)} {'in' if op == '==' else 'not in'} [{', '.join(map(string, texts))}]"


def _refuse_kinds(kinds: set[str]) -> Value:
    raise UnprovenError(f"a {' is compared with a '.join(sorted(kinds))}")


def _total(expr: Expr) -> bool:
    return not any(isinstance(node, Compute | Access | Zip) for node in walk(expr))


def _status_is(expr: Compare, scope: Scope) -> str:
    assert isinstance(expr.left, TaskStatus)
    assert isinstance(expr.right, Constant)
    raw = scope.reference(expr.left, False).tag
    phases = {"Failed": ("Failed", "Error"), "Blocked": ("Omitted",)}.get(expr.right.value, (expr.right.value,))
    if len(phases) == 1:
        return f"{raw} {expr.op} {scalar(phases[0])}"
    return f"{raw} {'in' if expr.op == '==' else 'not in'} [{', '.join(map(string, phases))}]"


def _kind(type_: Type) -> str:
    if type_ in NUMBERS:
        return "number"
    if type_ == BOOL:
        return "bool"
    if type_ == STR or type_ == Scalar("datetime"):
        return "string"
    if type_ == NONE:
        return "none"
    if isinstance(type_, ListOf):
        return "list"
    if isinstance(type_, DictOf | RecordType):
        return "object"
    values = getattr(type_, "values", None)
    if values is not None:
        kinds = {_kind(type_of(value)) for value in values}
        return kinds.pop() if len(kinds) == 1 else "any"
    return "any"


def _all(expr: AllOf, scope: Scope, guarded: bool) -> Value:
    parts = [_joined(_boolean(translate(operand, scope, guarded)), " || ") for operand in expr.operands]
    return _made(" && ".join(parts) if parts else "true", BOOL)


def _any(expr: AnyOf, scope: Scope, guarded: bool) -> Value:
    parts = [_joined(_boolean(translate(operand, scope, guarded)), " && ") for operand in expr.operands]
    return _made(" || ".join(parts) if parts else "false", BOOL)


def _joined(text: str, other: str) -> str:
    return f"({text})" if other in text or " ? " in text or " ?? " in text else text


def _not(expr: Not, scope: Scope, guarded: bool) -> Value:
    return _made(f"!({_boolean(translate(expr.operand, scope, guarded))})", BOOL)


def _operand(text: str) -> str:
    return f"({text})" if " " in text and not (text.startswith("(") and _closes_last(text)) else text


def _closes_last(text: str) -> bool:
    """Whether the parenthesis that a text begins with is closed by its last character (literals hold no brackets)."""
    depth, quoted = 0, False
    for index, char in enumerate(text):
        if char == "'":
            quoted = not quoted
        elif not quoted:
            depth += (char == "(") - (char == ")")
            if depth == 0:
                return index == len(text) - 1
    return False


def _compute(expr: Compute, scope: Scope, guarded: bool) -> Value:
    left, right = translate(expr.left, scope, guarded), translate(expr.right, scope, guarded)
    kinds = {_kind(left.type), _kind(right.type)}
    a, b = _operand(to_value(left)), _operand(to_value(right))
    if expr.op == "+" and kinds == {"string"}:
        return _made(f"{a} + {b}", STR)
    if kinds != {"number"}:
        raise UnprovenError(f"{expr.op} of {' and '.join(sorted(kinds))} is not proven on Argo")
    whole = left.type == right.type == INT
    if expr.op == "/":
        return _made(f"({b} != 0 ? {a} / {b} : {failing('division by zero')})", FLOAT)
    if expr.op in ("//", "%"):
        if not whole:
            raise UnprovenError(f"{expr.op} of floats rounds differently on Argo")
        text = f"(({a} % {b}) + {b}) % {b}"
        if expr.op == "//":  # by way of doubles
            large = failing("the number is beyond plus or minus 2^53")
            text = f"(abs({a}) <= {EXACT} ? int(floor({a} / {b})) : {large})"
        return _made(f"({b} != 0 ? {text} : {failing('division by zero')})", INT)
    if not whole:
        return _made(f"{a} {expr.op} {b}", FLOAT)
    # 64-bit integers wrap around in Argo's language and are an error here.
    check = f"abs(float({a}) {expr.op} float({b})) < 9223372036854775000.0"
    return _made(f"({check} ? {a} {expr.op} {b} : {failing('the result is outside 64 bits')})", INT)


def _access(expr: Access, scope: Scope, guarded: bool) -> Value:
    value, key = translate(expr.value, scope, guarded), translate(expr.key, scope, guarded)
    kind = _kind(value.type)
    container, index = _operand(to_value(value)), to_value(key)
    if kind == "list" and key.type == INT:
        assert isinstance(value.type, ListOf)
        return _element(f"{container}[{index}]", value.type.item)
    if kind in ("object", "any") and key.type == STR:
        missing = failing("there is no member of that name")
        return _element(f"({index} in {container} ? {container}[{index}] : {missing})", _member_type(value.type, expr))
    raise UnprovenError(f"access by {_kind(key.type)} to a value of kind {kind} is not proven on Argo")


def _element(text: str, type_: Type) -> Value:
    # Numbers inside JSON are doubles in Argo's language, whatever their type.
    if type_ == INT:
        return _made(f"int({text})", INT)
    if type_ == FLOAT:
        return _made(f"asFloat(string({text}))", FLOAT)
    return _made(text, type_)


def _member_type(type_: Type, expr: Access) -> Type:
    if isinstance(type_, DictOf):
        return type_.value
    if isinstance(type_, RecordType) and isinstance(expr.key, Constant):
        for field in type_.fields:
            if field.name == expr.key.value:
                return field.type
    return ANY


def _length(expr: Length, scope: Scope, guarded: bool) -> Value:
    value = translate(expr.value, scope, guarded)
    if _kind(value.type) not in ("string", "list", "object"):
        raise UnprovenError("the length of a value of unknown kind is not proven on Argo")
    if value.form == "gathered":
        return _made(f"len({elements(value, dropping=True)})", INT)
    if _kind(value.type) == "string":  # the language of Argo 3.5 counts the bytes of a string
        return _made(f"len(split({to_value(value)}, ''))", INT)
    return _made(f"len({to_value(value)})", INT)


def _contains(expr: Contains, scope: Scope, guarded: bool) -> Value:
    container, member = translate(expr.container, scope, guarded), translate(expr.member, scope, guarded)
    kind = _kind(container.type)
    whole, part = _operand(to_value(container)), _operand(to_value(member))
    if kind == "string" and _kind(member.type) == "string":
        return _made(f"{whole} contains {part}", BOOL)
    scalar_member = _kind(member.type) in ("string", "number", "bool")
    if (kind == "object" and _kind(member.type) == "string") or (kind == "list" and scalar_member):
        return _made(f"{part} in {whole}", BOOL)
    raise UnprovenError(f"whether a {kind} holds a {_kind(member.type)} is not proven on Argo")


def _record(expr: Record, scope: Scope, guarded: bool) -> Value:
    values = [translate(value, scope, guarded) for value in expr.values]
    texts = [_operand(to_json(value)) for value in values]
    if expr.form == "list":
        text = " + ',' + ".join(texts)
        return Value(f"'[' + {text} + ']'" if texts else "'[]'", "json", ListOf(common([v.type for v in values])))
    parts = []
    for key, text in zip(expr.keys, texts, strict=True):
        parts.append(f"{string(wire.to_json(key) + ':')} + {text}")
    inside = " + ',' + ".join(parts)
    type_ = DictOf(common([value.type for value in values])) if values else DictOf(ANY)
    # The braces stand apart from what may follow or precede them in a tag.
    return Value(f"'\\u007b' + {inside} + '\\u007d'" if parts else "'\\u007b\\u007d'", "json", type_)


def _zip(expr: Zip, scope: Scope, guarded: bool) -> Value:
    lists = [translate(each, scope, guarded) for each in expr.lists]
    texts = [elements(each, dropping=True) for each in lists]
    inner = " + ',' + ".join(["#"] + [f"{text}[#index]" for text in texts[1:]])
    equal = " && ".join(f"len({texts[0]}) == len({text})" for text in texts[1:]) or "true"
    zipped = f"map({texts[0]}, '[' + {inner} + ']')"
    message = failing("zip needs lists of equal length")
    text = f"({equal} ? '[' + join({zipped}, ',') + ']' : {message})"
    types = [each.type.item if isinstance(each.type, ListOf) else ANY for each in lists]
    return Value(text, "json", ListOf(ListOf(common(types))))


def _text(expr: Text, scope: Scope, guarded: bool) -> Value:
    parts = []
    for part in expr.parts:
        if isinstance(part, str):
            parts.append(string(part))
            continue
        value = translate(part, scope, guarded)
        if value.form == "value" and value.type not in (STR, INT, BOOL) and not isinstance(part, Constant):
            raise UnprovenError("Argo writes computed numbers differently into text")
        parts.append(_operand(_constant_text(part) if isinstance(part, Constant) else to_text(value)))
    return _made(" + ".join(parts) if parts else "''", STR)


def _constant_text(expr: Constant) -> str:
    return string(wire.as_text(expr.value))


def _raw(expr: Raw, scope: Scope, guarded: bool) -> Value:
    if expr.engine != "argo":
        raise UnprovenError(f"it is written in the language of {expr.engine}")
    return _made(f"({expr.text})", ANY)


OPERATIONS: dict[type, Callable[[Any, Scope, bool], Value]] = {
    Constant: _constant,
    NonFinite: _non_finite,
    OrElse: _or_else,
    First: _first,
    Compare: _compare,
    AllOf: _all,
    AnyOf: _any,
    Not: _not,
    Compute: _compute,
    Access: _access,
    Length: _length,
    Contains: _contains,
    Record: _record,
    Zip: _zip,
    Text: _text,
    Raw: _raw,
}
