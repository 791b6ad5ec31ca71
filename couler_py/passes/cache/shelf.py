"""What a policy is asked, and what it may know when it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias

import msgspec

from couler_py.passes.cache.trace import Artifact

Expected: TypeAlias = Mapping[str, float]
"""One round to come: the probability with which each artifact is asked for."""


class Kept(msgspec.Struct):
    """An artifact that is kept, or offered. `entered` and `used` count requests; `uses` are how often it was asked for.

    `rank` is what the policy noted of it when it was used last.
    """

    artifact: Artifact
    entered: float
    used: float
    uses: int = 1
    rank: float = 0.0


class Shelf(msgspec.Struct):
    """What is held and how much of it there may be, in bytes; and what is known of all artifacts and of the future.

    `future` are the rounds to come, as far as they are known or expected, the next one first. `age` is a policy's own
    memory of what it has let go.
    """

    budget: int
    held: dict[str, Kept]
    artifacts: Mapping[str, Artifact]
    future: Sequence[Expected] = ()
    age: float = 0.0

    @property
    def size(self) -> int:
        """The bytes of what is held."""
        return sum(each.artifact.size for each in self.held.values())


class Policy(Protocol):
    """Chooses what to keep.

    At the end of a round it is told what was `used` of what is held, and is `offered` what was made, both in order; it
    changes `held`, which is within the budget afterwards.
    """

    name: str
    bounded: bool

    def used(self, shelf: Shelf, kept: Kept) -> None:
        """One that is held was asked for."""
        ...

    def offered(self, shelf: Shelf, made: Sequence[Kept]) -> None:
        """These were made and could be kept."""
        ...
