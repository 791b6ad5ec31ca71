"""All cases, by subject."""

from __future__ import annotations

from tests.conformance.case import Case
from tests.conformance.cases import edges, fan_outs, loops, nested, outcome, pairs_of_edges, skip_chains

GRAPHS: list[Case] = [
    *edges.CASES,
    *skip_chains.CASES,
    *outcome.CASES,
    *nested.CASES,
    *fan_outs.CASES,
    *loops.CASES,
]
PODLESS: list[Case] = [*pairs_of_edges.CASES, *GRAPHS]
PACKED: list[Case] = [*pairs_of_edges.PACKED, *GRAPHS]
"""The same with all pairs of edges of two kinds in one workflow."""
