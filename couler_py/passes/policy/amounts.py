"""Quantities as numbers, to compare them."""

from __future__ import annotations

from decimal import Decimal

from couler_py.ir.quantity import quantity


def amount(text: object) -> Decimal | None:
    """A quantity as a number; None for what is none, as a text with values in it.

    >>> amount("500m"), amount("1Ki"), amount("{{x}}")
    (Decimal('0.5'), Decimal('1024'), None)
    """
    found = quantity(str(text).strip())
    return None if found is None else Decimal(found.numerator) / found.denominator


def shown(value: Decimal) -> str:
    """A number as people write it."""
    return f"{value.normalize():f}"
