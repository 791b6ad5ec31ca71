"""The types of expressions: what a tree gives, and whether that may be given to a parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from couler_py.ir import expr as x
from couler_py.ir.evaluate import EXACT
from couler_py.ir.model import Source
from couler_py.ir.types import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    STR,
    Choice,
    DictOf,
    Field,
    ListOf,
    Record,
    Scalar,
    Type,
    UnionOf,
    accepts,
    describe,
    join,
    mismatch,
    type_of_literal,
    type_of_scalar,
)
from couler_py.passes.check.literals import DEPTH, check_literal
from couler_py.passes.check.references import REFERENCES
from couler_py.passes.check.scope import Scope
from couler_py.passes.check.values import ARTIFACT, Artifact

STATES = ("Succeeded", "Failed", "Skipped", "Blocked")


class Unfit(NamedTuple):
    """Why a value can't be given: the reason, and the line of what makes it."""

    code: str
    reason: str
    maker: tuple[str, Source | None]


def unfit(expr: x.Expr, target: Type, scope: Scope, depth: int = 0) -> Unfit | None:
    """Why an expression can't be given where `target` is asked for, or None. Wrong references are reported."""
    match expr:
        case x.Literal(value=value):
            if not check_literal(value, scope.what, scope.findings, scope.place):
                return None
            reason = mismatch(target, value)
            return None if reason is None else Unfit("CLR212", reason, ("", None))
        case x.OrElse(value=value, default=default) if depth < DEPTH:
            return unfit(value, target, scope, depth + 1) or unfit(default, target, scope, depth + 1)
        case x.Record() if depth < DEPTH:
            parts = _parts(expr, target)
            if parts is not None:
                return next((no for part, asked in parts if (no := unfit(part, asked, scope, depth + 1))), None)
    found = infer(expr, scope, depth)
    if isinstance(found, Artifact):
        return Unfit("CLR215", "it is a file, not a value", _maker(expr, scope))
    if accepts(target, found):
        return None
    return Unfit("CLR213", f"{describe(found)} is not {describe(target)}", _maker(expr, scope))


def _parts(expr: x.Record, target: Type) -> list[tuple[x.Expr, Type]] | None:
    """The members of an object or list with the type that each must have, or None where the target doesn't say."""
    match target:
        case ListOf(item=item) if expr.form == "list":
            return [(value, item) for value in expr.values]
        case DictOf(value=asked) if expr.form == "object" and len(expr.keys) == len(expr.values):
            return [(value, asked) for value in expr.values]
        case Record(fields=fields) if expr.form == "object" and len(expr.keys) == len(expr.values):
            known = {field.name: field.type for field in fields}
            needed = {field.name for field in fields if field.required}
            if needed <= set(expr.keys) <= set(known):
                return [(value, known[key]) for key, value in zip(expr.keys, expr.values, strict=True)]
        case UnionOf(options=options):
            fitting = [parts for option in options if (parts := _parts(expr, option)) is not None]
            return fitting[0] if len(fitting) == 1 else None
    return None


def _maker(expr: x.Expr, scope: Scope) -> tuple[str, Source | None]:
    for node in x.walk(expr):
        match node:
            case x.TaskOutput(task=name) | x.TaskArtifact(task=name) | x.TaskItems(task=name):
                called = scope.tasks.get(name) if scope.tasks is not None else None
                return (f"the step {name}", called.task.source if called is not None else None)
    return ("", None)


def infer(expr: x.Expr, scope: Scope, depth: int = 0) -> Type | Artifact:
    """The type of an expression. Wrong references and operations are reported, and give `Any`."""
    reference = REFERENCES.get(type(expr))
    if reference is not None:
        return reference(expr, scope)
    if depth >= DEPTH:
        if not scope.too_deep:
            scope.too_deep = True
            scope.findings.error("CLR276", f"{scope.what} is nested more than {DEPTH} levels deep", scope.place)
        return ANY
    return _RULES[type(expr)](expr, scope, depth + 1)


def value_type(expr: x.Expr, scope: Scope, depth: int = 0) -> Type:
    """The type of an expression that must be a value: a file there is reported."""
    found = infer(expr, scope, depth)
    if isinstance(found, Artifact):
        scope.findings.error(
            "CLR215", f"{scope.what} reads a file as if it were a value", scope.place, help="pass the file to a step"
        )
        return ANY
    return found


def check_condition(expr: x.Expr, scope: Scope) -> None:
    """Report a condition that can't be true or false."""
    found = value_type(expr, scope)
    if not accepts(BOOL, found):
        scope.findings.error(
            "CLR270",
            f"{scope.what} is {describe(found)}, not true or false",
            scope.place,
            help="compare it with something; there is no truthiness",
        )


def _wrong(scope: Scope, message: str) -> Type:
    scope.findings.error("CLR271", f"{scope.what}: {message}", scope.place)
    return ANY


def kinds(type_: Type) -> frozenset[str]:
    """The kinds of JSON value that a type can have, as the evaluator names them."""
    match type_:
        case Scalar(name=name):
            return _SCALAR_KINDS[name]
        case ListOf():
            return frozenset({"list"})
        case DictOf() | Record():
            return frozenset({"object"})
        case Choice(values=values):
            return frozenset().union(*(_SCALAR_KINDS[type_of_scalar(value).name] for value in values))
        case UnionOf(options=options):
            return frozenset().union(*map(kinds, options))


_SCALAR_KINDS = {
    "str": frozenset({"string"}),
    "datetime": frozenset({"string"}),
    "int": frozenset({"number"}),
    "float": frozenset({"number"}),
    "bool": frozenset({"boolean"}),
    "none": frozenset({"null"}),
    "any": frozenset({"string", "number", "boolean", "null", "list", "object"}),
}


def _literal(expr: x.Literal, scope: Scope, depth: int) -> Type:
    if not check_literal(expr.value, scope.what, scope.findings, scope.place):
        return ANY
    return type_of_literal(expr.value)


def _or_else(expr: x.OrElse, scope: Scope, depth: int) -> Type | Artifact:
    found = infer(expr.value, scope, depth)
    if isinstance(found, Artifact):
        if expr.default != x.Literal(None) and not isinstance(infer(expr.default, scope, depth), Artifact):
            return _wrong(scope, "a file that is absent can only be None or another file")
        return found
    return join((found, value_type(expr.default, scope, depth)))


def _first(expr: x.First, scope: Scope, depth: int) -> Type | Artifact:
    for option in expr.options:
        if not isinstance(option, x.TaskOutput | x.TaskArtifact | x.TaskItems | x.First):
            scope.findings.error(
                "CLR241",
                f"{scope.what}: first(...) takes outputs of steps, not {type(option).__name__}",
                scope.place,
                help="write first(a, b).or_else(value) for a value that always stands by",
            )
    found = [infer(option, scope, depth) for option in expr.options]
    if not found:
        return _wrong(scope, "first() of nothing has no value")
    files = [isinstance(one, Artifact) for one in found]
    if all(files):
        return ARTIFACT
    if any(files):
        return _wrong(scope, "first(...) mixes files and values")
    return join(one for one in found if not isinstance(one, Artifact))


def _compare(expr: x.Compare, scope: Scope, depth: int) -> Type:
    left, right = value_type(expr.left, scope, depth), value_type(expr.right, scope, depth)
    for side in (expr.left, expr.right):
        _check_exact(side, scope)
    both = kinds(left) & kinds(right)
    sides = f"{describe(left)} {expr.op} {describe(right)}"
    if expr.op not in ("==", "!="):
        if not both & {"number", "string"}:
            return _wrong(scope, f"{sides} has no order: only two numbers or two strings do")
    elif not both:
        always = "false" if expr.op == "==" else "true"
        scope.findings.warning("CLR273", f"{scope.what}: {sides} is always {always}", scope.place)
    else:
        for status, word in ((expr.left, expr.right), (expr.right, expr.left)):
            if isinstance(status, x.TaskStatus) and isinstance(word, x.Literal) and word.value not in STATES:
                message = f"{scope.what}: no step ends {word.value!r}; the states are {', '.join(STATES)}"
                scope.findings.warning("CLR273", message, scope.place)
    return BOOL


def _check_exact(expr: x.Expr, scope: Scope) -> None:
    if isinstance(expr, x.Literal) and type(expr.value) is int and not -EXACT <= expr.value <= EXACT:
        scope.findings.error(
            "CLR272",
            f"{scope.what}: {expr.value} is beyond ±2^53, where engines compare integers differently",
            scope.place,
            help="compare it as a string, or inside a step",
        )


def _operands(operands: Iterable[x.Expr], word: str, scope: Scope, depth: int) -> Type:
    for operand in operands:
        found = value_type(operand, scope, depth)
        if "boolean" not in kinds(found):
            _wrong(scope, f"{word} needs true or false, not {describe(found)}")
    return BOOL


def _compute(expr: x.Compute, scope: Scope, depth: int) -> Type:
    left, right = value_type(expr.left, scope, depth), value_type(expr.right, scope, depth)
    both = kinds(left) & kinds(right)
    allowed = {"number", "string", "list"} if expr.op == "+" else {"number"}
    if not both & allowed:
        needs = "two numbers, strings or lists" if expr.op == "+" else "two numbers"
        return _wrong(scope, f"{describe(left)} {expr.op} {describe(right)} needs {needs}")
    if both != {"number"}:
        if both == {"string"} and expr.op == "+":
            return STR
        if isinstance(left, ListOf) and isinstance(right, ListOf):
            return ListOf(join((left.item, right.item)))
        return FLOAT if expr.op == "/" else ANY
    if expr.op == "/":
        return FLOAT
    if ANY in (left, right):
        return ANY
    return INT if accepts(INT, left) and accepts(INT, right) else FLOAT


def _access(expr: x.Access, scope: Scope, depth: int) -> Type:
    value, key = value_type(expr.value, scope, depth), value_type(expr.key, scope, depth)
    match value:
        case ListOf(item=item):
            return item if accepts(INT, key) else _wrong(scope, f"an element of {describe(value)} is named by an int")
        case DictOf(value=inner):
            return inner if accepts(STR, key) else _wrong(scope, f"a member of {describe(value)} is named by a string")
        case Record(fields=fields, name=name):
            if not accepts(STR, key):
                return _wrong(scope, f"a member of {describe(value)} is named by a string")
            if isinstance(expr.key, x.Literal):
                found = next((field.type for field in fields if field.name == expr.key.value), None)
                known = ", ".join(field.name for field in fields)
                return found or _wrong(scope, f"{name} has no field {expr.key.value!r}; it has {known or 'none'}")
            return ANY
    if not kinds(value) & {"list", "object"}:
        return _wrong(scope, f"{describe(value)} has no members")
    return ANY


def _length(expr: x.Length, scope: Scope, depth: int) -> Type:
    value = value_type(expr.value, scope, depth)
    if not kinds(value) & {"string", "list", "object"}:
        return _wrong(scope, f"{describe(value)} has no length")
    return INT


def _contains(expr: x.Contains, scope: Scope, depth: int) -> Type:
    container, member = value_type(expr.container, scope, depth), value_type(expr.member, scope, depth)
    _check_exact(expr.member, scope)
    if "list" not in kinds(container):
        if not kinds(container) & {"object", "string"}:
            return _wrong(scope, f"{describe(container)} can't hold anything")
        if "string" not in kinds(member):
            return _wrong(scope, f"{describe(container)} can't hold {describe(member)}")
    return BOOL


def _record(expr: x.Record, scope: Scope, depth: int) -> Type:
    found = [value_type(value, scope, depth) for value in expr.values]
    if expr.form == "list":
        return ListOf(join(found))
    if len(expr.keys) != len(found) or len(set(expr.keys)) < len(found):
        return _wrong(scope, "an object needs one value for each key, and each key once")
    return Record("object", tuple(Field(key, type_) for key, type_ in zip(expr.keys, found, strict=True)))


def _zip(expr: x.Zip, scope: Scope, depth: int) -> Type:
    items: list[Type] = []
    for value in expr.lists:
        found = value_type(value, scope, depth)
        if "list" not in kinds(found):
            return _wrong(scope, f"zip needs lists, not {describe(found)}")
        items.append(found.item if isinstance(found, ListOf) else ANY)
    # Each place of an inner list has the type of its own list: together they have one only where these agree.
    inner = join(items)
    return ListOf(ListOf(ANY if isinstance(inner, UnionOf) else inner))


def check_text(text: x.Text, scope: Scope, depth: int = 0) -> None:
    """Report what is wrong with the expressions in a text."""
    for part in text.parts:
        if isinstance(part, str):
            check_literal(part, scope.what, scope.findings, scope.place)
        elif not (scope.paths and isinstance(infer(part, scope, depth), Artifact)):
            value_type(part, scope, depth)


def _text(expr: x.Text, scope: Scope, depth: int) -> Type:
    check_text(expr, scope, depth)
    return STR


_RULES: dict[type, Callable[[Any, Scope, int], Type | Artifact]] = {
    x.Literal: _literal,
    x.NonFinite: lambda expr, scope, depth: FLOAT,
    x.Raw: lambda expr, scope, depth: ANY,
    x.OrElse: _or_else,
    x.First: _first,
    x.Compare: _compare,
    x.AllOf: lambda expr, scope, depth: _operands(expr.operands, "and", scope, depth),
    x.AnyOf: lambda expr, scope, depth: _operands(expr.operands, "or", scope, depth),
    x.Not: lambda expr, scope, depth: _operands((expr.operand,), "not", scope, depth),
    x.Compute: _compute,
    x.Access: _access,
    x.Length: _length,
    x.Contains: _contains,
    x.Record: _record,
    x.Zip: _zip,
    x.Text: _text,
    x.FromJson: lambda expr, scope, depth: ANY,
    x.Condition: lambda expr, scope, depth: BOOL,
}
