"""Quantities as numbers, to compare them."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

# Kubernetes quantities: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
_QUANTITY = re.compile(r"([+-]?[0-9.]+)(?:([eE][-+]?[0-9]+)|([numkMGTPE]|[KMGTPE]i))?")
_UNITS = {"n": Decimal("1e-9"), "u": Decimal("1e-6"), "m": Decimal("1e-3"), "k": Decimal(1000)}
_UNITS |= {unit: Decimal(1000) ** power for power, unit in enumerate("MGTPE", 2)}
_UNITS |= {f"{unit}i": Decimal(1024) ** power for power, unit in enumerate("KMGTPE", 1)}


def amount(text: object) -> Decimal | None:
    """A quantity as a number; None for what is none, as a text with values in it.

    >>> amount("500m"), amount("1Ki"), amount("{{x}}")
    (Decimal('0.500'), Decimal('1024'), None)
    """
    found = _QUANTITY.fullmatch(str(text).strip())
    if found is None:
        return None
    number, exponent, unit = found.groups()
    try:
        return Decimal(number + (exponent or "")) * _UNITS.get(unit, Decimal(1))
    except InvalidOperation:
        return None


def shown(value: Decimal) -> str:
    """A number as people write it."""
    return f"{value.normalize():f}"
