"""The parts of a graph: several ways of cutting it are tried, simulated and compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from couler_py.passes.split.baselines import acyclic, level_slices, of_the_paper, per_component
from couler_py.passes.split.coarsening import clusters
from couler_py.passes.split.cutting import cut
from couler_py.passes.split.orders import (
    between,
    by_cluster,
    by_component,
    by_level,
    depth_first,
    topological,
    towards_results,
)
from couler_py.passes.split.problem import Problem
from couler_py.passes.split.refining import Moves, handed_over, refined
from couler_py.passes.split.simulating import makespan


class Candidate(msgspec.Struct, frozen=True):
    """A way to cut a graph: how it was found, the part of each task, the simulated seconds, the bytes handed over."""

    way: str
    parts: tuple[int, ...]
    seconds: float
    carried: int

    @property
    def count(self) -> int:
        """How many parts there are."""
        return max(self.parts, default=-1) + 1


class Choice(msgspec.Struct, frozen=True):
    """The candidate that was chosen, all that were tried, and the simulated seconds of the whole graph."""

    chosen: Candidate
    tried: tuple[Candidate, ...]
    whole: float

    @property
    def loss(self) -> float:
        """The share of the run time that splitting costs."""
        return self.chosen.seconds / self.whole - 1 if self.whole else 0.0


BASELINES: dict[str, Callable[[Problem], list[int]]] = {
    "level slices": level_slices,
    "per component": per_component,
    "the paper's": of_the_paper,
}


ROOMY, ALMOST = 100, 0.02
"""Where each part has so many tasks for each worker slot, a loss of this share is none."""
WORTH_SECONDS, WORTH_BYTES = 0.01, 0.25
"""What parts may cost more, as shares, that an edit of the workflow changes less."""
MANY = 20_000
"""From so many tasks on, fewer ways are tried."""


def choose(problem: Problem, slots: int, start: float = 0.0, most: int | None = None) -> Choice:
    """The parts that hand over least, of those by which a run takes no longer than by any of the baselines.

    The baselines are among the candidates wherever they can run, so the choice is never slower than one of them; but
    where each part has 100 tasks for each worker slot, it may take 2 % longer than the whole. `most` is how many parts
    there may be. Raises `ValueError` for a task that no part can hold, and where there are more parts in any way.
    """
    whole = makespan(problem, slots)
    tried = []
    for way, parts in _ways(problem):
        if within(problem, parts) and acyclic(problem, parts):
            seconds = makespan(problem, slots, parts, start)
            tried.append(Candidate(way, tuple(parts), seconds, handed_over(problem, parts)))
    tried = [each for each in tried if most is None or each.count <= most]
    if not tried:
        raise ValueError(f"there are more than {most} parts, however it is cut")
    known = [each.seconds for each in tried if each.way in BASELINES]
    bound = min(known or [each.seconds for each in tried]) * (1 + 1e-9)
    roomy = whole * (1 + ALMOST)
    fast = [each for each in tried if each.seconds <= bound or (each.seconds <= roomy and _is_roomy(each, slots))]
    return Choice(_steady(fast), tuple(tried), whole)


def _steady(fast: Sequence[Candidate]) -> Candidate:
    """Of the candidates that are fast enough, the one that hands over least, or a steadier one that is almost as good.

    What is cut by what is near moves few tasks when the graph is edited; what is filled up, all that come after.
    """
    best = min(fast, key=lambda each: (each.carried, each.seconds, each.count))
    near = [
        each
        for each in fast
        if each.seconds <= best.seconds * (1 + WORTH_SECONDS) and each.carried <= best.carried * (1 + WORTH_BYTES)
    ]
    return min(near, key=lambda each: (_unsteadiness(each.way), each.carried, each.seconds, each.count))


def _unsteadiness(way: str) -> int:
    name, _, how = way.partition(", ")
    return (0 if how == "as cut" else 1) if name in ORDERS else 2


def _is_roomy(candidate: Candidate, slots: int) -> bool:
    sizes = [0] * candidate.count
    for part in candidate.parts:
        sizes[part] += 1
    return min(sizes) >= ROOMY * slots


def _ways(problem: Problem) -> Iterator[tuple[str, list[int]]]:
    """The candidates: each order as it is cut, and with tasks moved where that hands over less."""
    many = len(problem) > MANY
    for way, baseline in BASELINES.items():
        parts = baseline(problem)
        yield way, parts
        if not many and acyclic(problem, parts):
            yield f"{way}, moved", numbered(refined(problem, in_order(problem, parts)))
    for way, order in ORDERS.items():
        if not (many and way in ("results", "components")):
            parts = cut(problem, order(problem))
            yield f"{way}, as cut", parts
            yield way, numbered(refined(problem, parts))


def _components(problem: Problem) -> list[int]:
    return by_component(problem)[0]


def _communities(problem: Problem) -> list[int]:
    return by_cluster(problem, clusters(problem, max(2, _capacity(problem) // 4)))


ORDERS: dict[str, Callable[[Problem], list[int]]] = {
    "levels": by_level,
    "chains": depth_first,
    "results": towards_results,
    "components": _components,
    "communities": _communities,
}


def _capacity(problem: Problem) -> int:
    """About how many tasks a part can have."""
    found = len(problem)
    for measure in problem.bounded:
        room = (problem.limits[measure] or 0) - problem.fixed[measure]
        total = sum(problem.sizes[measure])
        if total:
            found = min(found, room * len(problem) // total)
    return max(1, found)


def within(problem: Problem, parts: Sequence[int]) -> bool:
    """Whether every part is within the limits."""
    moves = Moves(problem, parts)
    return all(map(moves.fits, range(moves.count)))


def in_order(problem: Problem, parts: Sequence[int]) -> list[int]:
    """The same parts, numbered so that each comes after those that it waits for."""
    order = topological(between(problem, parts))
    place = {part: number for number, part in enumerate(order)}
    return [place[part] for part in parts]


def numbered(parts: Sequence[int]) -> list[int]:
    """The same parts, numbered without gaps and still in an order in which they can run."""
    used = {old: new for new, old in enumerate(sorted(set(parts)))}
    return [used[each] for each in parts]
