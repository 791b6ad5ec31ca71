"""Expressions as people write them: operators on what steps returned.

What operators can't say is written as the IR says it (`ir.expr.Raw("argo", "...")`), which the same places take.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec

from couler_py.ir import expr as x
from couler_py.printer.layout import Chain, Doc, Group, Named, call, flat
from couler_py.printer.literal import literal, quoted
from couler_py.printer.names import is_identifier
from couler_py.printer.structs import construct

Kind: TypeAlias = Literal["value", "literal", "container", "raw"]
"""What it is while a workflow is recorded: something with operators, a Python value, a list or dict, or IR."""

# How strongly Python's operators bind.
LAMBDA, COMPARE, OR, AND, SUM, TERM, UNARY, ATOM = range(8)
_STRENGTH = {"+": SUM, "-": SUM, "*": TERM, "/": TERM, "//": TERM, "%": TERM}


class Code(msgspec.Struct, frozen=True):
    """An expression as source, and what it is."""

    doc: Doc
    kind: Kind = "value"
    strength: int = ATOM


class Result(msgspec.Struct):
    """What a call gave back, under the name of a variable: `form` says how its outputs are reached.

    "one": the variable is the output `outputs[0]`; "members": attributes; "dict": keys; "files": of a template on
    the engine. `joins` holds the tasks whose outputs it is the first of (both branches of a condition).
    """

    variable: str
    form: Literal["one", "members", "dict"]
    outputs: tuple[str, ...]
    used: bool = False


class Scope(msgspec.Struct):
    """What names of a graph are in source: inputs, tasks, pairs of branches, the item."""

    inputs: dict[str, Doc] = {}
    files: dict[str, Doc] = {}
    parameters: dict[str, Doc] = {}
    tasks: dict[str, Result] = {}
    pairs: dict[tuple[str, ...], Result] = {}
    items: Callable[[int | None], Doc | None] | None = None
    own: Result | None = None


def member(result: Result, name: str) -> Code | None:
    """One output of what a call gave back; None for one that it doesn't have."""
    if name not in result.outputs:
        return None
    result.used = True
    if result.form == "one":
        return Code(result.variable)
    if result.form == "dict" or not is_identifier(name) or name.startswith("_"):
        return Code(f"{result.variable}[{quoted(name)}]")
    return Code(f"{result.variable}.{name}")


def task_of(result: Result) -> str:
    """Something whose task is the one that the result is of."""
    result.used = True
    if result.form == "dict" and result.outputs:
        return f"{result.variable}[{quoted(result.outputs[0])}]"
    return result.variable


class Expressions:
    """The expressions of one graph."""

    def __init__(self, scope: Scope):
        self.scope = scope

    def of(self, expr: x.Expr) -> Code:
        """An expression, as what a call, a condition or a list takes."""
        return self._sugar(expr) or Code(construct(expr), "raw")

    def doc(self, expr: x.Expr) -> Doc:
        """The source of an expression."""
        return self.of(expr).doc

    def value(self, expr: x.Expr) -> Code | None:
        """An expression as something with operators; None where there is no such form."""
        found = self._sugar(expr)
        return found if found is not None and found.kind == "value" else None

    def _sugar(self, expr: x.Expr) -> Code | None:
        match expr:
            case x.Literal(value=value):
                return Code(literal(value), "literal")
            case x.OrElse() | x.First() | x.Access():
                return self._choice(expr)
            case x.Compare() | x.Compute() | x.AllOf() | x.AnyOf() | x.Not():
                return self._operation(expr)
            case x.Length(value=value):
                return Code(call("couler.length", self._operand(value).doc))
            case x.Contains(container=container, member=inner):
                return Code(call("couler.contains", self._operand(container).doc, self._operand(inner).doc))
            case x.Record():
                return self._container(expr)
            case x.Text():
                return self._text(expr)
            case _:
                return self._reference(expr)

    def _reference(self, expr: x.Expr) -> Code | None:
        scope = self.scope
        match expr:
            case x.Input(name=name) if name in scope.inputs:
                return Code(scope.inputs[name])
            case x.InputArtifact(name=name) if name in scope.files:
                return Code(scope.files[name])
            case x.WorkflowParameter(name=name) if name in scope.parameters:
                return Code(scope.parameters[name])
            case x.TaskOutput(task=task, name=name) | x.TaskArtifact(task=task, name=name) if task in scope.tasks:
                return member(scope.tasks[task], name)
            case x.TaskStatus(task=task) if task in scope.tasks:
                return Code(f"couler.status({task_of(scope.tasks[task])})")
            case x.TaskItems(task=task) if task in scope.tasks:
                return Code(f"couler.inputs({task_of(scope.tasks[task])})")
            case x.Own(name=name) if scope.own is not None:
                return member(scope.own, name)
            case x.Item() if scope.items is not None:
                found = scope.items(None)
                return None if found is None else Code(found)
            case x.Run(field=field) if field != "attempt":
                return Code(f"couler.run_info.{field}")
            case x.Published(name=name):
                return Code(call("couler.published", quoted(name)))
            case x.LastRetry(field=last):
                return Code(f"couler.last_attempt.{last}")
            case _:
                return None

    def _choice(self, expr: x.OrElse | x.First | x.Access) -> Code | None:
        if isinstance(expr, x.OrElse):
            if not any(isinstance(node, x.TaskOutput | x.TaskArtifact) for node in x.walk(expr.value)):
                return None  # the DSL would keep it apart, as a value of a graph that may be absent
            value = self.value(expr.value)
            default = self.of(expr.default)
            return None if value is None else Code(call(f"{self._head(value)}.or_else", default.doc))
        if isinstance(expr, x.First):
            return self._first(expr)
        if isinstance(expr.value, x.Item) and isinstance(expr.key, x.Literal) and self.scope.items is not None:
            index = expr.key.value
            if type(index) is int and (apart := self.scope.items(index)) is not None:
                return Code(apart)
        inner = self.value(expr.value)
        return None if inner is None else Code(f"{self._head(inner)}[{flat(self._operand(expr.key).doc)}]")

    def _first(self, expr: x.First) -> Code | None:
        pair = self._pair(expr)
        if pair is not None:
            return pair
        values = [self.value(option) for option in expr.options]
        if len(values) < 2 or None in values:
            return None
        return Code(call("couler.first", *(value.doc for value in values if value is not None)))

    def _pair(self, expr: x.First) -> Code | None:
        tasks, names = [], set()
        for option in expr.options:
            if not isinstance(option, x.TaskOutput | x.TaskArtifact):
                return None
            tasks.append(option.task)
            names.add(option.name)
        joined = self.scope.pairs.get(tuple(tasks))
        return member(joined, names.pop()) if joined is not None and len(names) == 1 else None

    def _operation(self, expr: x.Compare | x.Compute | x.AllOf | x.AnyOf | x.Not) -> Code | None:
        match expr:
            case x.Not(operand=operand):
                inner = self.value(operand)
                if inner is None:
                    return Code(call("couler.not_", self.of(operand).doc))
                return Code(f"~{flat(self._within(inner, UNARY))}", strength=UNARY)
            case x.AllOf(operands=operands):
                return self._several("&", AND, "couler.all_of", operands)
            case x.AnyOf(operands=operands):
                return self._several("|", OR, "couler.any_of", operands)
            case x.Compare(op=op, left=left, right=right):
                first = self.value(left)
                if first is None:
                    return None
                # Comparisons chain in Python, so that neither side may be one.
                sides = self._within(first, OR), self._within(self._operand(right), OR)
                return Code(Chain(sides[0], ((op, sides[1]),)), strength=COMPARE)
            case x.Compute(op=sign, left=left, right=right):
                one, other = self._operand(left), self._operand(right)
                mixed = other.kind == "value" and not isinstance(getattr(left, "value", None), str)
                if one.kind != "value" and not (one.kind in ("literal", "container") and mixed):
                    return None
                strength = _STRENGTH[sign]
                sides = self._within(one, strength), self._within(other, strength + 1)
                return Code(Chain(sides[0], ((sign, sides[1]),)), strength=strength)

    def _several(self, sign: str, strength: int, verb: str, operands: tuple[x.Expr, ...]) -> Code:
        codes = [self.of(operand) for operand in operands]
        if len(codes) == 2 and "value" in (codes[0].kind, codes[1].kind) and "raw" not in (c.kind for c in codes):
            # `a & b & c` nests to the left; on the right side of its like it needs brackets.
            sides = self._within(codes[0], strength), self._within(codes[1], strength + 1)
            return Code(Chain(sides[0], ((sign, sides[1]),)), strength=strength)
        return Code(call(verb, *(code.doc for code in codes)))

    def _operand(self, expr: x.Expr) -> Code:
        """An expression beside an operator, where floats that JSON can't say stay numbers."""
        if isinstance(expr, x.NonFinite):
            name = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}[expr.name]
            return Code(f"float({quoted(name)})", "literal")
        if isinstance(expr, x.Literal) and isinstance(expr.value, float) and not math.isfinite(expr.value):
            return Code(construct(expr), "raw")
        return self.of(expr)

    def _container(self, expr: x.Record) -> Code | None:
        if not any(not isinstance(leaf, x.Literal | x.Record) for leaf in x.walk(expr)):
            return None  # a list or object that is known now is a literal
        if expr.form == "list":
            return Code(Group("[", tuple(map(self.doc, expr.values)), "]"), "container")
        if len(set(expr.keys)) < len(expr.keys) or len(expr.keys) != len(expr.values):
            return None
        whole = self._whole(expr)
        if whole is not None:
            return whole
        pairs = zip(expr.keys, expr.values, strict=True)
        members = tuple(Named((quoted(key), ": "), self.doc(value)) for key, value in pairs)
        return Code(Group("{", members, "}"), "container")

    def _whole(self, expr: x.Record) -> Code | None:
        """All outputs of one task together: what the call gave back."""
        tasks = {value.task for value in expr.values if isinstance(value, x.TaskOutput)}
        if len(tasks) != 1:
            return None
        (task,) = tasks
        result = self.scope.tasks.get(task)
        if result is None or result.form == "one" or result.outputs != expr.keys:
            return None
        if expr.values != tuple(x.TaskOutput(task, key) for key in expr.keys):
            return None
        result.used = True
        return Code(result.variable, "container")

    def _text(self, expr: x.Text) -> Code | None:
        template, values = "", []
        before: Any = None
        for part in expr.parts:
            if isinstance(part, str):
                if isinstance(before, str) or not part:
                    return None
                template += part.replace("{", "{{").replace("}", "}}")
            else:
                value = self.value(part)
                if value is None:
                    return None
                template += "{}"
                values.append(value.doc)
            before = part
        return Code(call("couler.format", quoted(template), *values)) if values else None

    def _within(self, code: Code, strength: int) -> Doc:
        return code.doc if code.strength >= strength else f"({flat(code.doc)})"

    def _head(self, code: Code) -> str:
        return flat(self._within(code, ATOM))
