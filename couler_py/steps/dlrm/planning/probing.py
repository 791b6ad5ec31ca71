"""Which allocation to try next where a model can't be fitted yet: the one that tells most that isn't known."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from couler_py.steps.dlrm.planning.allocation import Allocation, Load, Measured, Space
from couler_py.steps.dlrm.planning.decisions import Decision, Rejected
from couler_py.steps.dlrm.planning.performance import LEAST_RANK, points, terms
from couler_py.steps.dlrm.planning.scaling import Needs
from couler_py.steps.dlrm.planning.search import ENUMERATED

SHOWN = 3


def probe(load: Load, space: Space, needs: Needs, measured: Sequence[Measured]) -> tuple[Allocation, Decision] | None:
    """The allocation whose terms lie furthest from all sums of measured ones; of equals, that with the most cores.

    Terms are taken relative to their largest in the space. None where nothing is left to tell apart, where nothing
    keeps the bounds, and for spaces of more than `ENUMERATED` allocations.
    """
    if space.size > ENUMERATED:
        return None
    at = np.array(list(itertools.product(*space.values)), np.float64)
    own, shared = needs.of(at)
    cores = at[:, 0] * at[:, 2] + at[:, 1] * at[:, 3]
    fine = np.maximum(own, shared) <= space.node_memory
    fine &= cores <= (np.inf if space.cores is None else space.cores)
    fine &= at[:, 0] * own + at[:, 1] * shared <= (np.inf if space.memory is None else space.memory)
    at, cores = at[fine], cores[fine]
    if not len(at):
        return None
    scaled = terms(load, at)
    scale = np.abs(scaled).max(axis=0)
    scale[scale == 0] = 1.0
    scaled = scaled / scale
    if measured:
        known = np.concatenate([terms(each.load, points([each.allocation])) for each in measured]) / scale
        _, singular, directions = np.linalg.svd(known, full_matrices=False)
        span = directions[singular > 1e-3 * singular[0]]
        scaled = scaled - scaled @ span.T @ span
    left = np.linalg.norm(scaled, axis=1)
    order = np.lexsort((-cores, -np.round(left, 9)))
    if left[order[0]] <= 1e-3:
        return None
    found = [Allocation(*(int(each) for each in at[n])) for n in order[: SHOWN + 1]]
    why = f"{len(measured)} measures are too few for a model, and this one tells most that isn't known"
    rejected = tuple(
        Rejected(str(other), "it tells less" if left[n] < left[order[0]] else "it tells as much, with fewer cores")
        for other, n in zip(found[1:], order[1:], strict=False)
    )
    inputs = {"measures": len(measured), "terms to tell apart": LEAST_RANK[load.kind], "looked at": len(at)}
    return found[0], Decision("probe", str(found[0]), why, dict(inputs), rejected, "low")
