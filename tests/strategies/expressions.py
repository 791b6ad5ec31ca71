"""Expressions of a wanted type, over what is known where they stand."""

from __future__ import annotations

import msgspec

from couler_py.ir import expr as x
from couler_py.ir.types import ANY, BOOL, FLOAT, INT, NONE, STR, DictOf, ListOf, Scalar, Type, accepts
from tests.strategies.dice import Dice, chance, pick
from tests.strategies.text import hostile
from tests.strategies.typed import make_value


class Known(msgspec.Struct, frozen=True):
    """References and their types. Those in `careful` are outputs of tasks, and read only by `or_else`."""

    plain: tuple[tuple[x.Expr, Type], ...] = ()
    careful: tuple[tuple[x.Expr, Type], ...] = ()


def expression(dice: Dice, type_: Type, known: Known, depth: int = 2) -> x.Expr:
    """An expression that can be given where `type_` is asked for."""
    found = _reference(dice, type_, known) if chance(dice, 65) else None
    if found is not None:
        return found
    if depth and chance(dice, 40):
        built = _built(dice, type_, known, depth - 1)
        if built is not None:
            return built
    return _literal(dice, type_)


def _literal(dice: Dice, type_: Type) -> x.Expr:
    value = make_value(dice, type_)
    # Only as a NonFinite can such a number be compared and computed with; its wire form is a string.
    return x.NonFinite(value) if type_ == FLOAT and isinstance(value, str) else x.Literal(value)


def condition(dice: Dice, known: Known, depth: int = 2) -> x.Expr:
    """Something that is true or false."""
    return _boolean(dice, known, depth) if chance(dice, 90) else x.Literal(bool(dice.number(0, 1)))


def _reference(dice: Dice, type_: Type, known: Known) -> x.Expr | None:
    plain = [expr for expr, given in known.plain if accepts(type_, given)]
    careful = [expr for expr, given in known.careful if accepts(type_, given)]
    if careful and (not plain or chance(dice, 40)):
        return x.OrElse(pick(dice, careful), _literal(dice, type_))
    if not plain:
        return None
    found = pick(dice, plain)
    outputs = [expr for expr in plain if isinstance(expr, x.TaskOutput)]
    if len(outputs) > 1 and chance(dice, 15):
        found = x.First(tuple(dict.fromkeys((outputs[0], pick(dice, outputs)))))
    if chance(dice, 15):
        return x.OrElse(found, _literal(dice, type_))
    return found


def _built(dice: Dice, type_: Type, known: Known, depth: int) -> x.Expr | None:
    if type_ in (STR, INT, BOOL) and chance(dice, 10):
        return x.Access(expression(dice, ListOf(type_), known, 0), x.Literal(dice.number(-2, 2)))
    match type_:
        case Scalar(name="bool"):
            return _boolean(dice, known, depth)
        case Scalar(name="str"):
            parts = [
                hostile(dice) if chance(dice, 50) else _anything(dice, known, depth) for _ in range(dice.number(1, 3))
            ]
            return x.Text(tuple(parts))
        case Scalar(name="int"):
            if chance(dice, 30):
                return x.Length(expression(dice, pick(dice, (STR, ListOf(ANY))), known, depth))
            return x.Compute(
                pick(dice, ("+", "-", "*", "//", "%")),
                expression(dice, INT, known, depth),
                expression(dice, INT, known, depth),
            )
        case Scalar(name="float"):
            return x.Compute("/", expression(dice, FLOAT, known, depth), expression(dice, INT, known, depth))
        case ListOf(item=item):
            if item in (STR, INT, BOOL) and chance(dice, 30):
                return x.Compute("+", expression(dice, type_, known, 0), expression(dice, type_, known, depth))
            return x.Record((), tuple(expression(dice, item, known, depth) for _ in range(dice.number(0, 3))), "list")
        case DictOf(value=value):
            keys = tuple(dict.fromkeys(hostile(dice) for _ in range(dice.number(0, 2))))
            return x.Record(keys, tuple(expression(dice, value, known, depth) for _ in keys))
        case Scalar(name="any"):
            return _anything(dice, known, depth)
    return None


def _anything(dice: Dice, known: Known, depth: int) -> x.Expr:
    return expression(dice, pick(dice, (STR, INT, BOOL, FLOAT, NONE, ListOf(STR), DictOf(INT))), known, depth)


def _boolean(dice: Dice, known: Known, depth: int) -> x.Expr:
    if depth == 0:
        return expression(dice, BOOL, known, 0)
    inner = depth - 1
    match dice.number(0, 6):
        case 0 | 1:
            type_ = pick(dice, (STR, INT, FLOAT, BOOL))
            return x.Compare(
                pick(dice, ("==", "!=")), expression(dice, type_, known, inner), expression(dice, type_, known, 0)
            )
        case 2:
            type_ = pick(dice, (INT, STR, FLOAT))
            op = pick(dice, ("<", "<=", ">", ">="))
            return x.Compare(op, expression(dice, type_, known, inner), expression(dice, type_, known, 0))
        case 3:
            return x.Not(_boolean(dice, known, inner))
        case 4:
            return x.AllOf((_boolean(dice, known, inner), _boolean(dice, known, inner)))
        case 5:
            return x.AnyOf((_boolean(dice, known, inner), _boolean(dice, known, inner)))
        case _:
            return x.Contains(expression(dice, ListOf(STR), known, 0), expression(dice, STR, known, 0))
