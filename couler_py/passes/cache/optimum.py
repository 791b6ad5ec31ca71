"""The least that any policy can make again, by one who knows the whole future: the yardstick.

A mixed-integer program in the manner of Checkmate (Jain et al., "Checkmate: Breaking the memory wall with optimal
tensor rematerialization", MLSys 2020), solved by HiGHS. One variable says whether an artifact is held between two
rounds that could need it, one whether a round makes it.
"""

from __future__ import annotations

import math

import msgspec

from couler_py.passes.cache.trace import Artifact, Trace, surely_needed
from couler_py.passes.solver import Program, UnsolvableError


class Optimum(msgspec.Struct, frozen=True):
    """Seconds of what has to be made again: the best that was found, and a bound below which nobody can get."""

    again: float
    bound: float

    @property
    def exact(self) -> bool:
        """Whether nothing is left between the two."""
        return self.again - self.bound <= 1e-6 * max(1.0, self.again)


def optimum(trace: Trace, budget: int, *, seconds: float = 60.0) -> Optimum:
    """The clairvoyant optimum of a trace under a budget in bytes; within the time, else as far as it came.

    Needs scipy, which the extra `train` brings.
    """
    first = sum(each.seconds for each in _made(trace))
    program = _program(trace, budget)
    found, bound = _solved(program, seconds)
    return Optimum(max(0.0, found - first), max(0.0, bound - first))


def _made(trace: Trace) -> list[Artifact]:
    known = trace.by_key()
    needed: set[str] = set().union(*surely_needed(trace)) if trace.rounds else set()
    return [known[key] for key in needed]


def touches(trace: Trace) -> dict[str, list[int]]:
    """By key, the rounds in which an artifact may be needed: surely, or to make again what is made from it."""
    known = trace.by_key()
    found: dict[str, set[int]] = {}
    for number, needed in enumerate(surely_needed(trace)):
        seen = set(needed)
        stack = list(needed)
        while stack:
            key = stack.pop()
            found.setdefault(key, set()).add(number)
            more = [each for each in known[key].inputs if each not in seen]
            seen.update(more)
            stack.extend(more)
    return {key: sorted(numbers) for key, numbers in found.items()}


def _program(trace: Trace, budget: int) -> Program:
    known = trace.by_key()
    needed = surely_needed(trace)
    program = Program()
    made: dict[tuple[str, int], int] = {}
    held_after: dict[tuple[str, int], int] = {}  # between a touch and the next one
    loads: list[dict[int, float]] = [{} for _ in trace.rounds]
    moments = touches(trace)
    for key, numbers in moments.items():
        for place, number in enumerate(numbers):
            made[key, number] = program.variable(
                cost=known[key].seconds, low=1.0 if place == 0 else 0.0, high=1.0, integer=True
            )
            if place + 1 < len(numbers) and known[key].size <= budget:
                held = held_after[key, number] = program.variable(high=1.0, integer=True)
                for boundary in range(number, numbers[place + 1]):
                    loads[boundary][held] = known[key].size
    for key, numbers in moments.items():
        for before, number in zip([None, *numbers], numbers, strict=False):
            there = {made[key, number]: 1.0}
            if before is not None and (key, before) in held_after:
                there[held_after[key, before]] = 1.0
            if key in needed[number]:
                program.at_least(there, 1.0)
            if (key, number) in held_after:
                program.at_least(there | {held_after[key, number]: -1.0}, 0.0)
            for producer in known[key].inputs:  # what is made needs its inputs
                before_of = [each for each in moments[producer] if each < number]
                row = {made[producer, number]: 1.0, made[key, number]: -1.0}
                if before_of and (producer, before_of[-1]) in held_after:
                    row[held_after[producer, before_of[-1]]] = 1.0
                program.at_least(row, 0.0)
    for load in loads:
        if sum(load.values()) > budget:
            program.at_most({each: size / budget for each, size in load.items()}, 1.0)
    return program


def _solved(program: Program, seconds: float) -> tuple[float, float]:
    """The value of the best solution that was found, and the bound; where none was found, to make everything is one."""
    try:
        found = program.solve(gap=1e-6, seconds=seconds)
    except UnsolvableError as error:
        return math.fsum(program.costs), max(0.0, error.bound)
    return found.objective, found.bound
