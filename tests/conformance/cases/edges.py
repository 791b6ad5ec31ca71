"""Every cell of the edge table: one producer in each state, one edge of each kind, one reader."""

from __future__ import annotations

from tests.conformance.case import Case
from tests.conformance.podless import act, case, producer

# By the producer's state: the state of the reader, and "!" where the run is Failed.
TABLE = {
    #             S     K     F     B
    "order":      "S    S     B!    B!",
    "value":      "S    K     B!    B!",
    "on_failure": "K    K     S     S",
    "always":     "S    S     S!    S!",
    "or_else":    "S    S     B!    B!",
    "first":      "S    K     B!    B!",
}  # fmt: skip

# What the reader says where it runs. It reads values only through these kinds of edges.
SAYS = {
    "value": {"S": "c(p)"},
    "or_else": {"S": "c(p)", "K": "c(-)"},
    "first": {"S": "c(p)"},
}


def cell(kind: str, state: str, expected: str) -> Case:
    reader = expected.removesuffix("!")
    blocker = " px=F" if state == "B" else ""
    said = SAYS.get(kind, {}).get(state, "c") if reader == "S" else "-"
    return case(
        f"edge-{kind.replace('_', '-')}-{state}".lower(),
        *producer("p", state),
        act("c", **{kind: "p"}),
        states=f"p={state} c={reader}{blocker}",
        status="F" if expected.endswith("!") else "S",
        says=f"c={said}",
    )


CASES = [
    cell(kind, state, expected)
    for kind, row in TABLE.items()
    for state, expected in zip("SKFB", row.split(), strict=True)
]
