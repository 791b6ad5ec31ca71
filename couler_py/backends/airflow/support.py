"""What Airflow can do with each feature of the IR, and how. The docs' engine matrix is made from this table."""

from __future__ import annotations

from couler_py.backends.base import Support
from couler_py.backends.features import FEATURES

LOWERED: dict[str, str] = {}
EMULATED: dict[str, str] = {}
NEVER: dict[str, str] = {}

TABLE: tuple[Support, ...] = tuple(
    Support(feature, "lowered", LOWERED[feature])
    if feature in LOWERED
    else Support(feature, "emulated", EMULATED[feature])
    if feature in EMULATED
    else Support(feature, "never", NEVER[feature])
    if feature in NEVER
    else Support(feature, "native")
    for feature in FEATURES
)
