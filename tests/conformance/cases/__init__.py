"""All cases, by subject."""

from __future__ import annotations

from tests.conformance.case import Case
from tests.conformance.cases import edges, pairs_of_edges

PODLESS: list[Case] = [*edges.CASES, *pairs_of_edges.CASES]
