"""What the master knows: where every shard is, and who lives."""

from __future__ import annotations

import msgspec

from couler_py.steps.dlrm.sharding.messages import Reply, SetAside


class Part(msgspec.Struct, array_like=True):
    """A shard that was handed out: its place in the order, how far it is, and how often it came back as far as that."""

    place: int
    cursor: int = 0
    attempts: int = 0


class Held(msgspec.Struct, array_like=True):
    """A part and who has it."""

    worker: str
    part: Part


class State(msgspec.Struct):
    """Everything that is known, but settings."""

    place: int = 0
    """The next shard that nobody has had, in the order over all epochs."""
    cursor: int = 0
    """With "exactly_once": the rows of that shard that were drawn."""
    step: int = 0
    """With "exactly_once": the steps that were drawn."""
    returned: list[Part] = []
    held: dict[int, Held] = {}
    done: int = 0
    rows_done: int = 0
    set_aside: list[SetAside] = []
    failed: str = ""
    generations: dict[str, int] = {}
    """The life that each worker is in."""
    last_generation: int = 0
    last_lease: int = 0
    answered: dict[str, tuple[int, Reply]] = {}
    """The last request of each worker and its answer, for one who asks again because it never heard it."""
