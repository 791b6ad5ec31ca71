"""Capacity of a cluster shared out among jobs: each gets one of its undominated plans, or keeps what it has.

DLRover-RM's weighted greedy: of all plans that fit, the one with the most weighted gain for what it takes is accepted
first. Accepting a plan of a job doesn't end it: what its next better plan adds competes as a plan of its own, or the
first small gain would block a large one. Then single jobs change their plan where the sum gets better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from couler_py.steps.dlrm.planning.decisions import Decision, Rejected, Value

REFERENCE = 3600.0
"""Seconds: a job that has so much left has half the weight of one that is about to end."""


class Plan(msgspec.Struct, frozen=True):
    """What a job may be given, and rows a second that it would gain."""

    name: str
    cores: int
    memory: float
    gain: float


class Contender(msgspec.Struct, frozen=True):
    """A job: what it has, the plans that it may change to, how urgent it is. `left` are seconds to its end."""

    job: str
    current: Plan
    plans: tuple[Plan, ...]
    priority: float = 1.0
    left: float = REFERENCE

    @property
    def weight(self) -> float:
        """What a gain of it counts: more, the sooner it ends."""
        return self.priority * REFERENCE / (REFERENCE + self.left)


class Capacity(msgspec.Struct, frozen=True):
    """Cores and bytes of memory of all jobs together."""

    cores: int
    memory: float = float("inf")


def value(jobs: Sequence[Contender], chosen: Mapping[str, Plan]) -> float:
    """The weighted gain of a choice."""
    return sum(job.weight * chosen[job.job].gain for job in jobs)


def fits(chosen: Mapping[str, Plan], capacity: Capacity) -> bool:
    """Whether a choice keeps within the capacity."""
    plans = chosen.values()
    return sum(each.cores for each in plans) <= capacity.cores and sum(each.memory for each in plans) <= capacity.memory


def share(jobs: Sequence[Contender], capacity: Capacity) -> tuple[dict[str, Plan], tuple[Decision, ...]]:
    """A plan for each job, and the decisions. Raises `ValueError` where what the jobs have doesn't fit already.

    Plans that give something back and lose nothing are taken first, whatever they free is there for others.
    """
    chosen = {job.job: job.current for job in jobs}
    if not fits(chosen, capacity):
        raise ValueError("what the jobs have is more than the cluster has")
    for job in jobs:
        free = [each for each in job.plans if each.gain >= job.current.gain and _less(each, job.current)]
        if free:
            chosen[job.job] = min(free, key=lambda each: (each.cores, each.memory))
    _greedy(jobs, chosen, capacity)
    while _improved(jobs, chosen, capacity):
        pass
    return {job.job: chosen[job.job] for job in jobs}, tuple(_decision(job, chosen, capacity) for job in jobs)


def _less(one: Plan, other: Plan) -> bool:
    return one.cores <= other.cores and one.memory <= other.memory and one != other


def _greedy(jobs: Sequence[Contender], chosen: dict[str, Plan], capacity: Capacity) -> None:
    """Take what adds most for what it takes, while something fits."""
    while True:
        best, density = None, 0.0
        for job in jobs:
            now = chosen[job.job]
            for plan in job.plans:
                if plan.gain > now.gain and fits({**chosen, job.job: plan}, capacity):
                    taken = max(0, plan.cores - now.cores) / capacity.cores
                    taken += max(0.0, plan.memory - now.memory) / capacity.memory
                    found = job.weight * (plan.gain - now.gain) / max(taken, 1e-9)
                    if found > density:
                        best, density = (job.job, plan), found
        if best is None:
            return
        chosen[best[0]] = best[1]


def _improved(jobs: Sequence[Contender], chosen: dict[str, Plan], capacity: Capacity) -> bool:
    """Whether giving one job another plan, and the rest anew by greed from what they had, made the sum better."""
    now = value(jobs, chosen)
    for job in jobs:
        for plan in (job.current, *job.plans):
            others = [each for each in jobs if each is not job]
            tried = {each.job: each.current for each in others} | {job.job: plan}
            if not fits(tried, capacity):
                continue
            _greedy(others, tried, capacity)
            if value(jobs, tried) > now * (1 + 1e-9) + 1e-12:
                chosen.clear()
                chosen.update(tried)
                return True
    return False


def _decision(job: Contender, chosen: Mapping[str, Plan], capacity: Capacity) -> Decision:
    mine = chosen[job.job]
    rejected = []
    for plan in job.plans:
        if plan is mine:
            continue
        if plan.gain <= mine.gain:
            why = f"it gains {mine.gain - plan.gain:,.0f} rows a second less"
        elif not fits({**chosen, job.job: plan}, capacity):
            why = "it doesn't fit beside what others gain more by"
        else:
            why = "others gain more by what it takes"
        rejected.append(Rejected(plan.name, why, {"gain": plan.gain, "cores": float(plan.cores)}))
    inputs: dict[str, Value] = {
        "job": job.job,
        "weight": job.weight,
        "cores of the cluster": capacity.cores,
    }
    why = f"it gains {mine.gain:,.0f} rows a second" if mine is not job.current else "it keeps what it has"
    return Decision("cluster", mine.name, why, inputs, tuple(rejected))
