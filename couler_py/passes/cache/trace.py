"""What was made and asked for, in the order in which it happened: what policies are replayed on.

A round is a span of time in which nothing that is there is lost: a run, on engines whose runs keep what their tasks
make, or a single task, where nothing outlives its pod but what is cached (the paper's setting). What a round asks for
and isn't held is made, and for that what it is made from, as far back as needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate

import msgspec


class Artifact(msgspec.Struct, frozen=True):
    """The outputs of one step for one content and one set of inputs.

    `size` is in bytes, `seconds` is how long the step takes, `inputs` are the keys of what it is made from. `step` is
    where in a workflow it is made: what was made there before an edit has another key and the same step.
    """

    key: str
    size: int
    seconds: float
    inputs: tuple[str, ...] = ()
    step: str = ""


class Trace(msgspec.Struct, frozen=True):
    """Artifacts, and what each round asks for, in the order in which it asks.

    `foreseen` says whether the rounds to come are known when they come closer, as those of a graph or a sweep are, or
    can only be expected from those before, as what a person will edit next.
    """

    name: str
    artifacts: tuple[Artifact, ...]
    rounds: tuple[tuple[str, ...], ...]
    foreseen: bool = True

    def by_key(self) -> dict[str, Artifact]:
        """The artifacts by their keys."""
        return {each.key: each for each in self.artifacts}

    def peak(self) -> int:
        """The most bytes that lie between two rounds and are needed later: with so much room, nothing is made twice.

        >>> a, b = Artifact("a", 3, 1.0), Artifact("b", 4, 1.0)
        >>> Trace("", (a, b), (("a",), ("a",), ("b",), ("b",))).peak()
        4
        """
        known = self.by_key()
        first: dict[str, int] = {}
        last: dict[str, int] = {}
        for number, needed in enumerate(surely_needed(self)):
            for key in needed:
                first.setdefault(key, number)
                last[key] = number
        change = [0] * (len(self.rounds) + 1)
        for key, number in first.items():
            change[number] += known[key].size
            change[last[key]] -= known[key].size
        return max(accumulate(change), default=0)


def _fresh(asked: Iterable[str], known: Mapping[str, Artifact], seen: set[str]) -> tuple[set[str], set[str]]:
    """What a round makes for the first time, and all that it surely needs: that, what it asks for, and their inputs."""
    fresh: set[str] = set()
    needed: set[str] = set()
    for key in closure(asked, known, seen):
        needed.add(key)
        if key not in seen:
            fresh.add(key)
    return fresh, needed


def surely_needed(trace: Trace) -> tuple[frozenset[str], ...]:
    """What each round needs whatever is held: what it asks for, and the inputs of what was never made before."""
    known = trace.by_key()
    seen: set[str] = set()
    found = []
    for asked in trace.rounds:
        fresh, needed = _fresh(asked, known, seen)
        found.append(frozenset(needed))
        seen |= fresh
    return tuple(found)


def closure(asked: Iterable[str], known: Mapping[str, Artifact], held: Iterable[str]) -> Iterator[str]:
    """What is asked for, and what has to be made for it, each once and after its inputs; what is held ends the search.

    >>> known = {"a": Artifact("a", 1, 1.0), "b": Artifact("b", 1, 1.0, ("a",))}
    >>> list(closure(["b"], known, ())), list(closure(["b"], known, {"b"}))
    (['a', 'b'], ['b'])
    """
    held = held if isinstance(held, set | frozenset | dict) else set(held)
    done: set[str] = set()
    stack = [(key, False) for key in reversed(tuple(asked))]
    while stack:
        key, inputs_done = stack.pop()
        if key in done:
            continue
        if inputs_done or key in held:
            done.add(key)
            yield key
            continue
        stack.append((key, True))
        stack.extend((each, False) for each in reversed(known[key].inputs) if each not in done)


def order(artifacts: Mapping[str, Artifact]) -> list[str]:
    """All keys, each after its inputs."""
    return list(closure(artifacts, artifacts, ()))
