"""Points of which none is better in everything: sorted into fronts, how crowded they are, what they cover.

Objectives are minimised, arrays (n, objectives). Deb et al., "A fast and elitist multiobjective genetic algorithm:
NSGA-II", IEEE Transactions on Evolutionary Computation 6(2), 2002.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def dominates(objectives: Floats, violations: Floats) -> NDArray[np.bool_]:
    """Which of n points (row) is better than which (column), (n, n).

    Of two that break no bound, who is nowhere worse and somewhere better; else who breaks less (Deb's rule).
    """
    nowhere_worse = (objectives[:, None] <= objectives[None]).all(axis=2)
    somewhere_better = (objectives[:, None] < objectives[None]).any(axis=2)
    fine = violations <= 0
    both = fine[:, None] & fine[None]
    return np.asarray((both & nowhere_worse & somewhere_better) | (~both & (violations[:, None] < violations[None])))


def ranks(objectives: Floats, violations: Floats) -> NDArray[np.int64]:
    """The front of each point (n,), 0 being the points that none dominates."""
    better = dominates(objectives, violations)
    count = better.sum(axis=0)
    found = np.full(len(objectives), -1)
    front, number = np.flatnonzero(count == 0), 0
    while len(front):
        found[front] = number
        count = count - better[front].sum(axis=0)
        front, number = np.flatnonzero((count == 0) & (found < 0)), number + 1
    return found


def crowding(objectives: Floats) -> Floats:
    """How far each point of a front is from its neighbours (n,); infinite at the ends."""
    found = np.zeros(len(objectives))
    for column in objectives.T:
        order = np.argsort(column, kind="stable")
        width = column[order[-1]] - column[order[0]]
        found[order[[0, -1]]] = np.inf
        if width > 0 and len(order) > 2:
            found[order[1:-1]] += (column[order[2:]] - column[order[:-2]]) / width
    return found


def undominated(objectives: Floats) -> NDArray[np.int64]:
    """The places of points with two objectives that none dominates, by the first; of equal points the first one."""
    order = np.lexsort((objectives[:, 1], objectives[:, 0]))
    second = objectives[order, 1]
    before = np.concatenate([[np.inf], np.minimum.accumulate(second)[:-1]])
    return np.asarray(order[second < before])


def hypervolume(objectives: Floats, reference: tuple[float, float]) -> float:
    """The area that points with two objectives dominate, up to a reference that is worse than all.

    >>> hypervolume(np.array([[0.0, 1.0], [1.0, 0.0]]), (2.0, 2.0))
    3.0
    """
    inside = objectives[(objectives < np.array(reference)).all(axis=1)]
    if not len(inside):
        return 0.0
    front = inside[undominated(inside)]
    right = np.concatenate([front[1:, 0], [reference[0]]])
    return float(((right - front[:, 0]) * (reference[1] - front[:, 1])).sum())
