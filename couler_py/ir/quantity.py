"""Kubernetes' quantities as numbers.

Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

from __future__ import annotations

import re
from fractions import Fraction

LONGEST = 40
"""Characters of the longest text that is read: no number of a machine is longer, and a file may hold any."""

_QUANTITY = re.compile(r"([+-]?(?:\d+(?:\.\d*)?|\.\d+))(?:[eE]([+-]?\d{1,3})|([KMGTPE]i|[numkMGTPE]?))", re.ASCII)
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
