"""All cases, by subject."""

from __future__ import annotations

from tests.conformance.case import Case
from tests.conformance.cases import edges, fan_outs, loops, nested, outcome, pairs_of_edges, skip_chains

PODLESS: list[Case] = [
    *edges.CASES,
    *pairs_of_edges.CASES,
    *skip_chains.CASES,
    *outcome.CASES,
    *nested.CASES,
    *fan_outs.CASES,
    *loops.CASES,
]
