"""Points of a grid that none beats: all looked at where there are few, else NSGA-II; both give a `Front`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from couler_py.steps.dlrm.planning.pareto import Floats, crowding, ranks, undominated

ENUMERATED = 20_000
"""Up to so many points are all looked at: exact, and well below a second."""
POPULATION = 64
GENERATIONS = 60

Evaluate = Callable[[Floats], tuple[Floats, Floats]]
"""Two objectives (n, 2), to be minimised, and by how much bounds are broken (n,), at points (n, genes)."""


class Front(NamedTuple):
    """Points (n, genes) with their objectives (n, 2), by the first; no point where none keeps all bounds."""

    points: Floats
    objectives: Floats
    evaluations: int
    exact: bool


def front(
    values: Sequence[Sequence[int]],
    evaluate: Evaluate,
    *,
    known: Sequence[Sequence[int]] = (),
    seed: int = 0,
) -> Front:
    """The undominated points of a grid, `values` being what each gene may be. `known` are points to begin with.

    Where the grid has more than `ENUMERATED` points it is searched, and the same seed finds the same.
    """
    size = 1
    for each in values:
        size *= len(each)
    if size <= ENUMERATED:
        return enumerated(values, evaluate)
    return evolved(values, evaluate, known=known, seed=seed)


def enumerated(values: Sequence[Sequence[int]], evaluate: Evaluate) -> Front:
    """The undominated points of a grid, from looking at all."""
    points = np.array(list(itertools.product(*values)), np.float64)
    return _front(points, evaluate, exact=True)


def evolved(
    values: Sequence[Sequence[int]],
    evaluate: Evaluate,
    *,
    known: Sequence[Sequence[int]] = (),
    population: int = POPULATION,
    generations: int = GENERATIONS,
    seed: int = 0,
) -> Front:
    """Undominated points of a grid by NSGA-II: those of all generations, not of the last one alone.

    Genes are places in `values`. Children take each gene from either parent or from between them, and move it by a
    few places, sometimes anywhere. Known points that lie on the grid are in the first generation.
    """
    drawn = np.random.default_rng(seed)
    sizes = np.array([len(each) for each in values])
    grid = [np.array(each, np.float64) for each in values]

    def at(genes: NDArray[np.int64]) -> Floats:
        return np.stack([grid[n][genes[:, n]] for n in range(len(grid))], axis=1)

    genes = drawn.integers(0, sizes, (population, len(sizes)))
    for number, point in enumerate([each for each in known if _in(values, each)][:population]):
        genes[number] = [list(each).index(x) for each, x in zip(values, point, strict=True)]
    objectives, violations = evaluate(at(genes))
    seen = [genes]
    for _ in range(generations):
        parents = genes[_tournament(drawn, objectives, violations, 2 * population)].reshape(2, population, -1)
        children = _mutated(drawn, _crossed(drawn, parents), sizes)
        seen.append(children)
        genes = np.concatenate([genes, children])
        new = evaluate(at(children))
        objectives, violations = np.concatenate([objectives, new[0]]), np.concatenate([violations, new[1]])
        kept = _survivors(objectives, violations, population)
        genes, objectives, violations = genes[kept], objectives[kept], violations[kept]
    return _front(at(np.unique(np.concatenate(seen), axis=0)), evaluate, exact=False)


def _in(values: Sequence[Sequence[int]], point: Sequence[int]) -> bool:
    return all(x in each for each, x in zip(values, point, strict=True))


def _front(points: Floats, evaluate: Evaluate, *, exact: bool) -> Front:
    objectives, violations = evaluate(points)
    fine = violations <= 0
    kept = undominated(objectives[fine]) if fine.any() else np.empty(0, np.int64)
    return Front(points[fine][kept], objectives[fine][kept], len(points), exact)


def _tournament(drawn: np.random.Generator, objectives: Floats, violations: Floats, count: int) -> NDArray[np.int64]:
    front_of, distance = ranks(objectives, violations), _distances(objectives, violations)
    one, other = drawn.integers(0, len(objectives), (2, count))
    wins = (front_of[one] < front_of[other]) | ((front_of[one] == front_of[other]) & (distance[one] > distance[other]))
    return np.where(wins, one, other)


def _distances(objectives: Floats, violations: Floats) -> Floats:
    front_of, found = ranks(objectives, violations), np.zeros(len(objectives))
    for number in range(front_of.max() + 1):
        mine = front_of == number
        found[mine] = crowding(objectives[mine])
    return found


def _crossed(drawn: np.random.Generator, parents: NDArray[np.int64]) -> NDArray[np.int64]:
    one, other = parents
    part = drawn.random(one.shape)
    between = np.rint(one + (other - one) * part).astype(np.int64)
    whole = np.where(part < 0.5, one, other)
    return np.where(drawn.random((len(one), 1)) < 0.5, whole, between)


def _mutated(drawn: np.random.Generator, genes: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    near = np.clip(genes + drawn.integers(-2, 3, genes.shape), 0, sizes - 1)
    moved = np.where(drawn.random(genes.shape) < 0.3, near, genes)
    return np.where(drawn.random(genes.shape) < 0.05, drawn.integers(0, sizes, genes.shape), moved)


def _survivors(objectives: Floats, violations: Floats, count: int) -> NDArray[np.int64]:
    front_of, distance = ranks(objectives, violations), _distances(objectives, violations)
    return np.asarray(np.lexsort((-distance, front_of))[:count])
