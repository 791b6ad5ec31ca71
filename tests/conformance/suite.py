"""Every case of every subject; names are unique."""

from __future__ import annotations

from tests.conformance.case import Case
from tests.conformance.cases import (
    PODLESS,
    artifacts,
    branches,
    containers,
    hostile_strings,
    maps,
    retries,
    runs,
    values,
)

WRITTEN: list[Case] = [
    *retries.CASES,
    *values.CASES,
    *hostile_strings.CASES,
    *branches.CASES,
    *containers.CASES,
    *maps.CASES,
    *artifacts.CASES,
    *runs.CASES,
]
ALL: list[Case] = [*WRITTEN, *PODLESS]
assert len({case.name for case in ALL}) == len(ALL)
