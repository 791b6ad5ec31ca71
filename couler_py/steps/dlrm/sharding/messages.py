"""What workers ask of the master, and what it answers: JSON, each kind with its name."""

from __future__ import annotations

import msgspec


class _Said(msgspec.Struct, frozen=True, tag_field="kind", tag=str.lower, omit_defaults=True):
    pass


class Join(_Said, frozen=True):
    """I am here, anew: whatever a process of my name held before is lost."""


class Leave(_Said, frozen=True):
    """I go, and give back what I hold."""


class Beat(_Said, frozen=True):
    """I am still here."""


class Take(_Said, frozen=True):
    """Give me a shard."""


class Advance(_Said, frozen=True):
    """So many rows of a shard have been trained on, from its beginning; all of them: it is done."""

    lease: int
    cursor: int


class Fail(_Said, frozen=True):
    """I can't train on this shard."""

    lease: int
    reason: str


class Draw(_Said, frozen=True):
    """The rows of a step: so many for each rank, in their order."""

    step: int
    counts: tuple[int, ...]


class Skip(_Said, frozen=True):
    """The shard that the next step would begin in can't be read: set the rest of it aside."""

    step: int
    reason: str


class Save(_Said, frozen=True):
    """What is to be saved with the model."""


class Restore(_Said, frozen=True):
    """Go back to what was saved with a model (no text: to the beginning). Everybody has to join again."""

    saved: str


class Ask(_Said, frozen=True):
    """How far is it all?"""


class Lost(_Said, frozen=True):
    """The master's own: a worker was not heard of for too long."""


Command = Join | Leave | Beat | Take | Advance | Fail | Draw | Skip | Save | Restore | Ask | Lost


class Request(msgspec.Struct, frozen=True, array_like=True):
    """A command, who gives it, in which life (`generation`, which `Join` gave), and the how-manieth of that life."""

    worker: str
    generation: int
    sequence: int
    command: Command


class Fine(_Said, frozen=True):
    """It is so."""


class Joined(_Said, frozen=True):
    """A new life: what is said with an older generation is refused from now on."""

    generation: int
    lease: float
    """Seconds without a word until a worker is taken for lost."""


class Lease(_Said, frozen=True):
    """A shard, whose first `cursor` rows (in the order of training) others have trained on."""

    number: int
    epoch: int
    start: int
    stop: int
    cursor: int = 0

    @property
    def rows(self) -> int:
        """Rows of the whole shard."""
        return self.stop - self.start


class Nothing(_Said, frozen=True):
    """No shard is free; with `over`, none will be."""

    over: bool


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """A part of a shard: of its rows from `start` to `stop`, in the order of training, those from `first` to `last`."""

    epoch: int
    start: int
    stop: int
    first: int
    last: int


class Drawn(_Said, frozen=True):
    """The pieces of each rank for a step; fewer rows than asked for only at the end, and none after it."""

    step: int
    pieces: tuple[tuple[Piece, ...], ...]


class Saved(_Said, frozen=True):
    """The state, as text that `Restore` takes."""

    text: str


class SetAside(msgspec.Struct, frozen=True):
    """Rows that were not trained on: of a shard, in the order of training, those from `first` on, and why."""

    epoch: int
    start: int
    stop: int
    first: int
    reason: str


class Status(_Said, frozen=True):
    """How far it all is. Shards are counted over all epochs."""

    shards: int
    waiting: int
    """Not handed out yet."""
    returned: int
    """Given back, to be handed out again."""
    held: int
    done: int
    rows_done: int
    set_aside: tuple[SetAside, ...]
    workers: tuple[str, ...]
    failed: str = ""


class Refused(_Said, frozen=True):
    """It was not done. `stale`: another life of this worker has begun, or it was taken for lost."""

    why: str
    stale: bool = False


Reply = Fine | Joined | Lease | Nothing | Drawn | Saved | Status | Refused
