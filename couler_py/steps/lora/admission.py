"""Which jobs are at work: the most urgent that fit, decided anew between steps.

Ye et al., "mLoRA" (arXiv 2312.02515), 3.4: static priorities, first come first served among equals, preemption between
steps only, never more memory than there is. Aging is ours: without it a stream of urgent jobs starves the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

Need = Callable[[int, int], float]
"""Bytes of a pass of so many rows of such a length."""


class Waiting(msgspec.Struct, frozen=True):
    """A job that is at work or wants to be."""

    name: str
    arrived: int
    """Its place in the order of arrival."""
    rows: int
    """Of one backward."""
    length: int
    """Of its longest row, padded."""
    state: int
    """Bytes of its adapter, gradients and optimizer while it is at work."""
    priority: int = 0
    waited: int = 0
    """Passes in which it was ready and others were at work."""


class Admission(msgspec.Struct, frozen=True):
    """Who is at work, the most urgent first, and who never can be, with the reason."""

    running: tuple[str, ...]
    refused: dict[str, str] = {}


def urgency(job: Waiting, aging: int) -> tuple[int, int]:
    """What jobs are sorted by: priority, one higher for each `aging` passes of waiting, then arrival."""
    return -(job.priority + job.waited // aging), job.arrived


def admit(jobs: Sequence[Waiting], budget: float | None, need: Need, *, most: int, aging: int) -> Admission:
    """Choose up to `most` jobs, by urgency, whose states and largest single backward fit into a budget of bytes.

    Jobs share passes only as far as these fit (`grouping.py`), so what counts is the largest one alone. A job that
    doesn't fit is passed over, and a smaller one behind it may run; it never waits for ever: its urgency rises, and the
    more urgent are chosen first. A job that wouldn't fit alone is refused.

    >>> jobs = [Waiting("a", 0, 4, 8, 10), Waiting("b", 1, 4, 8, 10, priority=1), Waiting("c", 2, 99, 8, 10)]
    >>> chosen = admit(jobs, 60, lambda rows, length: rows * length, most=2, aging=50)
    >>> chosen.running
    ('b', 'a')
    >>> chosen.refused["c"]
    'a backward of 99 rows of 8 tokens takes 792 bytes beside 10 of its own: there are 60'
    """
    running: list[str] = []
    refused = {}
    states, largest = 0.0, 0.0
    for job in sorted(jobs, key=lambda job: urgency(job, aging)):
        alone = need(job.rows, job.length)
        if budget is not None and job.state + alone > budget:
            refused[job.name] = (
                f"a backward of {job.rows} rows of {job.length} tokens takes {alone:.0f} bytes beside {job.state} "
                f"of its own: there are {max(0.0, budget):.0f}"
            )
            continue
        fits = budget is None or states + job.state + max(largest, alone) <= budget
        if fits and len(running) < most:
            running.append(job.name)
            states, largest = states + job.state, max(largest, alone)
    return Admission(tuple(running), refused)
