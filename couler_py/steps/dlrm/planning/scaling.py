"""A better allocation for a running job: the undominated ones by a fitted model, and which of them is worth it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from couler_py.steps.dlrm.planning import search
from couler_py.steps.dlrm.planning.allocation import GIB, Allocation, Goal, Load, Prices, Space
from couler_py.steps.dlrm.planning.decisions import Decision, Rejected, Value
from couler_py.steps.dlrm.planning.pareto import Floats
from couler_py.steps.dlrm.planning.performance import Fit, points

SHOWN = 5
"""So many alternatives are told with a decision."""


class Needs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bytes that nodes need: a worker's or rank's own, and what all servers (or all ranks) share."""

    node: float = 0.0
    shared: float = 0.0

    def of(self, at: Floats) -> tuple[Floats, Floats]:
        """Bytes of a worker and of a server (n,) at points (n, 4)."""
        workers, servers = at[:, 0], at[:, 1]
        alone = servers == 0
        own = self.node + np.where(alone, self.shared / workers, 0.0)
        return own, np.where(alone, 0.0, self.shared / np.maximum(servers, 1))


class Scaled(msgspec.Struct, frozen=True):
    """The allocation that was chosen, what it is expected to do, and the decision."""

    allocation: Allocation
    rows_per_second: float
    cost: float
    """An hour."""
    decision: Decision
    front: tuple[tuple[Allocation, float, float], ...] = ()
    """Undominated allocations with their cost an hour and their rows a second, the cheapest first."""


def evaluator(fit: Fit, load: Load, space: Space, needs: Needs, prices: Prices) -> search.Evaluate:
    """Cost an hour and minus rows a second at points, and by how much they break quota, memory or what is known."""

    def evaluate(at: Floats) -> tuple[Floats, Floats]:
        workers, servers, cores, server_cores = at.T
        own, shared = needs.of(at)
        all_cores = workers * cores + servers * server_cores
        all_memory = workers * own + servers * shared
        cost = prices.core * all_cores + prices.gib * all_memory / GIB
        over = np.maximum(0.0, np.maximum(own, shared) / space.node_memory - 1)
        if space.cores is not None:
            over += np.maximum(0.0, all_cores / space.cores - 1)
        if space.memory is not None:
            over += np.maximum(0.0, all_memory / space.memory - 1)
        over += ~fit.identified(load, at)
        return np.stack([cost, -fit.throughput(load, at)], axis=1), over

    return evaluate


def scale(
    fit: Fit,
    load: Load,
    space: Space,
    *,
    current: Allocation,
    needs: Needs = Needs(),
    goal: Goal = Goal(),
    moving: Callable[[Allocation], float] = lambda _new: 0.0,
    left: float = float("inf"),
    seed: int = 0,
) -> Scaled:
    """The undominated allocation that is best by the goal, or the current one where that is no worse.

    `moving` says how many seconds of training a change costs, of the `left` ones: a candidate's speed counts less by
    that part. Where the fit can't be relied on, or nothing keeps the bounds, the current allocation stays.
    """
    evaluate = evaluator(fit, load, space, needs, goal.prices)
    found = search.front(space.values, evaluate, known=[current.point], seed=seed)
    inputs: dict[str, Value] = {
        "measures": fit.measures,
        "error of the fit": fit.error,
        "coefficients": ", ".join(f"{each:.3g}" for each in fit.coefficients),
        "quota of cores": space.cores,
        "looked at": found.evaluations,
        "all looked at": found.exact,
        "undominated": len(found.points),
        "goal": "speed" if goal.worth is None else f"a million rows are worth {goal.worth:g}",
    }
    now = float(fit.throughput(load, points([current]))[0])
    stays = _stays(fit, found, current)
    if stays:
        decision = Decision("scaling", str(current), stays, inputs, confidence="low")
        return Scaled(current, now, goal.prices.hour(current), decision)
    front = [
        (_with_memory(point, needs), float(cost), -float(minus))
        for point, (cost, minus) in zip(found.points, found.objectives, strict=True)
    ]
    kept = {current.point: 1.0}
    parts = [kept.get(each.point, max(0.0, 1 - moving(each) / left)) for each, _, _ in front]
    gains = [_gain(goal, cost, speed * part) for (_, cost, speed), part in zip(front, parts, strict=True)]
    cost, now_gain = goal.prices.hour(current), _gain(goal, goal.prices.hour(current), now)
    best = max(range(len(front)), key=lambda n: (gains[n], -front[n][1]))
    chosen = front[best]
    fits = float(evaluate(points([current]))[1][0]) <= 0
    if fits and now_gain > gains[best]:
        chosen = current, cost, now
    allocation, cost, speed = chosen
    why = f"{speed:,.0f} rows a second are expected, {speed / max(now, 1e-12):.2f} times the current {now:,.0f}"
    others = [(each, gain, part) for each, gain, part in zip(front, gains, parts, strict=True)]
    decision = Decision("scaling", str(allocation), why, inputs, _rejected(others, chosen), fit.confidence)
    return Scaled(allocation, speed, cost, decision, tuple(front))


def _stays(fit: Fit, found: search.Front, current: Allocation) -> str:
    if fit.confidence == "low":
        return (
            f"the model can't be relied on: {fit.measures} measures tell {fit.rank} of {len(fit.coefficients)} terms "
            f"apart and are missed by {fit.error:.0%}"
        )
    return "" if len(found.points) else "none keeps the quota, fits the nodes and is like one that was measured"


def _gain(goal: Goal, cost: float, speed: float) -> float:
    """What an hour is worth, less what it costs; where only speed counts, rows a second."""
    return speed if goal.worth is None else speed * 3600 / 1e6 * goal.worth - cost


def _with_memory(point: Floats, needs: Needs) -> Allocation:
    own, shared = (float(each[0]) for each in needs.of(point[None]))
    workers, servers, cores, server_cores = (int(each) for each in point)
    return Allocation(workers, servers, cores, server_cores, own, shared)


def _rejected(
    others: Sequence[tuple[tuple[Allocation, float, float], float, float]], chosen: tuple[Allocation, float, float]
) -> tuple[Rejected, ...]:
    """The next best ones: what they would do, and what speaks against them."""
    allocation, cost, speed = chosen
    told = []
    for (other, price, fast), gain, part in sorted(others, key=lambda each: -each[1]):
        if other.point == allocation.point:
            continue
        if fast < speed:
            why = f"{1 - fast / speed:.1%} slower"
        elif part < 1:
            why = f"moving there costs {1 - part:.1%} of what is left"
        else:
            why = f"{price - cost:.3g} an hour more, for more than the rows are worth"
        told.append(Rejected(str(other), why, {"rows a second": fast, "cost an hour": price, "gain": gain}))
    return tuple(told[:SHOWN])
