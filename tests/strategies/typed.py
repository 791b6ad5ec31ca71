"""Types and values of them."""

from __future__ import annotations

from typing import Any

from couler_py.ir.types import (
    ANY,
    BOOL,
    DATETIME,
    FLOAT,
    INT,
    NONE,
    STR,
    Choice,
    DictOf,
    Field,
    ListOf,
    Record,
    Scalar,
    Type,
    UnionOf,
)
from tests.strategies.dice import Dice, chance, pick
from tests.strategies.text import hostile

SCALARS = (STR, INT, BOOL, FLOAT, DATETIME, NONE)
CHOICES: tuple[tuple[str | int | bool | None, ...], ...] = (("a", "b"), (1, 2, 3), ("x", 1, True, None), (True,))


def make_type(dice: Dice, depth: int = 2, *, any_: bool = True) -> Type:
    """Any type, at most `depth` levels deep."""
    if depth == 0 or chance(dice, 60):
        return pick(dice, (*SCALARS, ANY) if any_ else SCALARS)
    match dice.number(0, 4):
        case 0:
            return ListOf(make_type(dice, depth - 1, any_=any_))
        case 1:
            return DictOf(make_type(dice, depth - 1, any_=any_))
        case 2:
            return Choice(pick(dice, CHOICES))
        case 3:
            options = [make_type(dice, depth - 1, any_=any_) for _ in range(dice.number(2, 3))]
            return UnionOf(tuple(options))
        case _:
            fields = ("a", "b", "c d")[: dice.number(1, 3)]
            return Record(
                "Thing", tuple(Field(f, make_type(dice, depth - 1, any_=any_), chance(dice, 70)) for f in fields)
            )


def make_value(dice: Dice, type_: Type, depth: int = 2) -> Any:
    """A value of a type in its wire form."""
    match type_:
        case Scalar(name=name):
            return _scalar(dice, name, depth)
        case ListOf(item=item):
            return [make_value(dice, item, depth - 1) for _ in range(dice.number(0, 3))]
        case DictOf(value=value):
            return {hostile(dice): make_value(dice, value, depth - 1) for _ in range(dice.number(0, 2))}
        case Choice(values=values):
            return pick(dice, values)
        case UnionOf(options=options):
            return make_value(dice, pick(dice, options), depth)
        case Record(fields=fields):
            given = [field for field in fields if field.required or chance(dice, 50)]
            return {field.name: make_value(dice, field.type, depth - 1) for field in given}


def _scalar(dice: Dice, name: str, depth: int) -> Any:
    match name:
        case "str":
            return hostile(dice)
        case "int":
            return pick(dice, (0, 1, -1, 7, 2**31, -(2**53), 2**53))
        case "bool":
            return bool(dice.number(0, 1))
        case "float":
            return pick(dice, ("NaN", "Infinity", "-Infinity")) if chance(dice, 10) else dice.double()
        case "datetime":
            return pick(dice, ("2024-02-29T12:00:00Z", "1999-12-31T23:59:59.999999+05:30"))
        case "none":
            return None
        case _:
            return make_value(dice, make_type(dice, max(depth, 0), any_=False), depth)
