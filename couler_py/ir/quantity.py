"""Kubernetes' quantities as numbers, and bytes as a person reads them.

Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

from __future__ import annotations

import re
from fractions import Fraction

LONGEST = 40
"""Characters of the longest text that is read: no number of a machine is longer, and a file may hold any."""

_QUANTITY = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:[eE]([+-]?\d{1,3})|([KMGTPE]i|[numkMGTPE]?))", re.ASCII)
_UNITS = ("B", "KiB", "MiB", "GiB")
_SCALES = {
    **{sign: Fraction(1024) ** power for power, sign in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)},
    **{sign: Fraction(1000) ** power for power, sign in enumerate(("k", "M", "G", "T", "P", "E"), 1)},
    "": Fraction(1),
    "m": Fraction(1, 1000),
    "u": Fraction(1, 10**6),
    "n": Fraction(1, 10**9),
}


def quantity(text: str) -> Fraction | None:
    """A quantity as Kubernetes reads it; None for what isn't one, as a text with values in it.

    >>> quantity("1500m"), quantity("1Ki"), quantity("{{x}}")
    (Fraction(3, 2), Fraction(1024, 1), None)
    """
    match = _QUANTITY.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        return None
    scale = Fraction(10) ** int(match[2]) if match[2] else _SCALES[match[3] or ""]
    return Fraction(match[1].rstrip(".")) * scale


def amount(count: float) -> str:
    """Bytes as a person reads them.

    >>> amount(900), amount(98304), amount(3 * 1024**3)
    ('900 B', '96 KiB', '3 GiB')
    """
    if count < 1024:
        return f"{count:.0f} B"
    power = 1
    while power < 3 and count >= 1024 ** (power + 1):
        power += 1
    scaled = count / 1024**power
    return f"{scaled:.3g} {_UNITS[power]}" if scaled < 100 else f"{scaled:,.0f} {_UNITS[power]}"
