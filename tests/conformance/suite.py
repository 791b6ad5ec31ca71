"""Every case of every subject; names are unique."""

from __future__ import annotations

from tests.conformance.case import Case
from tests.conformance.cases import PODLESS, hostile_strings, values

WRITTEN: list[Case] = [
    *values.CASES,
    *hostile_strings.CASES,
]
ALL: list[Case] = [*PODLESS, *WRITTEN]
assert len({case.name for case in ALL}) == len(ALL)
