"""Two edges into one task: every pair of kinds that may stand together, in every pair of states.

Where both edges are of one kind, half of the grid says it all.

Each grid gives, by the state of the first edge's producer (rows) and of the second's (columns), the
state of the reader, and "!" where the run is Failed. A task with an `always` edge has besides only
`always` and `order` edges, so its other pairs don't exist.
"""

from __future__ import annotations

from tests.conformance.case import Case
from tests.conformance.podless import act, case, producer

GRIDS = {
    ("order", "order"): """
             S    K    F    B
        S    S    S    B!   B!
        K    .    S    B!   B!
        F    .    .    B!   B!
        B    .    .    .    B!
    """,
    ("order", "value"): """
             S    K    F    B
        S    S    K    B!   B!
        K    S    K    B!   B!
        F    B!   B!   B!   B!
        B    B!   B!   B!   B!
    """,
    ("order", "on_failure"): """
             S    K    F    B
        S    K    K    S    S
        K    K    K    S    S
        F    B!   B!   B!   B!
        B    B!   B!   B!   B!
    """,
    ("order", "always"): """
             S    K    F    B
        S    S    S    S!   S!
        K    S    S    S!   S!
        F    B!   B!   B!   B!
        B    B!   B!   B!   B!
    """,
    ("value", "value"): """
             S    K    F    B
        S    S    K    B!   B!
        K    .    K    B!   B!
        F    .    .    B!   B!
        B    .    .    .    B!
    """,
    ("value", "on_failure"): """
             S    K    F    B
        S    K    K    S    S
        K    K    K    K!   K!
        F    B!   B!   B!   B!
        B    B!   B!   B!   B!
    """,
    ("on_failure", "on_failure"): """
             S    K    F    B
        S    K    K    K!   K!
        K    .    K    K!   K!
        F    .    .    S    S
        B    .    .    .    S
    """,
    ("always", "always"): """
             S    K    F    B
        S    S    S    S!   S!
        K    .    S    S!   S!
        F    .    .    S!   S!
        B    .    .    .    S!
    """,
    ("first", "value"): """
             S    K    F    B
        S    S    K    B!   B!
        K    K    K    B!   B!
        F    B!   B!   B!   B!
        B    B!   B!   B!   B!
    """,
    ("first", "on_failure"): """
             S    K    F    B
        S    K    K    S    S
        K    K    K    K!   K!
        F    B!   B!   B!   B!
        B    B!   B!   B!   B!
    """,
    ("or_else", "on_failure"): """
             S    K    F    B
        S    K    K    S    S
        K    K    K    S    S
        F    B!   B!   B!   B!
        B    B!   B!   B!   B!
    """,
    ("or_else", "always"): """
             S    K    F    B
        S    S    S    S!   S!
        K    S    S    S!   S!
        F    B!   B!   B!   B!
        B    B!   B!   B!   B!
    """,
}

# `first` over two tasks is one edge with two producers.
FIRST = """
             S    K    F    B
        S    S    S    B!   B!
        K    S    K    B!   B!
        F    B!   B!   B!   B!
        B    B!   B!   B!   B!
"""
FIRST_SAYS = {"SS": "c(a)", "SK": "c(a)", "KS": "c(b)"}


def cells(grid: str) -> list[tuple[str, str, str]]:
    """The states of both producers and what is expected, for each cell."""
    columns, *rows = (line.split() for line in grid.strip().splitlines())
    return [
        (row[0], column, expected)
        for row in rows
        for column, expected in zip(columns, row[1:], strict=True)
        if expected != "."
    ]


def pair(kinds: tuple[str, str], states: str, expected: str) -> Case:
    first, second = kinds
    edges = {first: "a b"} if first == second else {first: "a", second: "b"}
    return both(f"pair-{first}-{second}-{states}", edges, states, expected)


def both(name: str, edges: dict[str, str], states: str, expected: str, says: str = "") -> Case:
    blockers = "".join(f" {name}x=F" for name, state in zip("ab", states, strict=True) if state == "B")
    return case(
        name.replace("_", "-").lower(),
        *producer("a", states[0]),
        *producer("b", states[1]),
        act("c", **edges),
        states=f"a={states[0]} b={states[1]} c={expected.removesuffix('!')}{blockers}",
        status="F" if expected.endswith("!") else "S",
        says=says,
    )


CASES = [
    pair(kinds, row + column, expected) for kinds, grid in GRIDS.items() for row, column, expected in cells(grid)
] + [
    both(f"first-{row}{column}", {"first": "a b"}, row + column, expected, f"c={FIRST_SAYS.get(row + column, '-')}")
    for row, column, expected in cells(FIRST)
]


def packed(kinds: tuple[str, str], grid: str) -> Case:
    """A whole grid as one workflow, a reader for each cell: for engines on which a workflow costs much."""
    tasks, states = [], []
    for side in "ab":
        for state in "SKFB":
            tasks += producer(f"{side}{state}", state)
            states.append(f"{side}{state}={state}" + (f" {side}Bx=F" if state == "B" else ""))
    for row, column, expected in cells(grid):
        first, second = f"a{row}", f"b{column}"
        edges = {kinds[0]: f"{first} {second}"} if kinds[0] == kinds[1] else {kinds[0]: first, kinds[1]: second}
        tasks.append(act(f"c{row}{column}", **edges))
        states.append(f"c{row}{column}={expected.removesuffix('!')}")
    return case(f"pairs-{'-'.join(kinds)}".replace("_", "-"), *tasks, states=" ".join(states), status="F")


PACKED = [packed(kinds, grid) for kinds, grid in GRIDS.items()] + [packed(("first", "first"), FIRST)]
