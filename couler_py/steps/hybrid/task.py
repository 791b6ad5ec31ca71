"""What a training that plans for its hardware is asked to do, as JSON."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from couler_py.steps.hybrid.plan import MemoryModel
from couler_py.steps.models.config import DecoderConfig


class Emulated(msgspec.Struct, frozen=True):
    """Computation that takes as long as on other hardware: seconds of a layer, and ranks that become slow or healthy.

    Ranks wait in place of computing, so that cores are never the limit: to try a plan, not to train.
    """

    forward: float = 0.004
    backward: float = 0.008
    slow: tuple[tuple[int, Mapping[int, float]], ...] = ()
    """From which step on which ranks take how many times as long; the last that has begun counts."""

    lost: tuple[tuple[int, int, int], ...] = ()
    """Ranks whose process ends, after which step, and after which step another is there: others wait for it then."""

    def at(self, step: int) -> dict[int, float]:
        """How many times as long ranks take in a step."""
        return next((dict(slow) for begin, slow in reversed(self.slow) if begin <= step), {})


class Task(msgspec.Struct, frozen=True):
    """A training of the built-in decoder. Raises `ValueError` for what makes no sense."""

    model: DecoderConfig
    pipelines: int
    tensor: int = 1
    micros: int = 8
    samples: int = 1
    """Rows of a micro-batch."""
    sequence: int = 64
    steps: int = 100
    rate: float = 1e-3
    planning: bool = True
    """Whether plans change; without, all ranks get equal shares for good."""
    memory: MemoryModel | None = None
    node: int = 8
    """Ranks of a machine."""
    seed: int = 0
    held_out: int = 32
    """Rows at the end of the corpus that are left for `evaluate`."""
    save_every: int | None = None
    emulated: Emulated | None = None
    elastic: bool = False
    """Whether it goes on without a rank that is lost; moments are then kept by all that hold their layer."""

    def __post_init__(self) -> None:
        for name in ("pipelines", "tensor", "micros", "samples", "sequence", "steps", "node"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: there is at least 1")
        if self.tensor & (self.tensor - 1):
            raise ValueError(f"tensor is {self.tensor}: groups have a power of two ranks")
        if self.micros < self.pipelines:
            raise ValueError(f"{self.micros} micro-batches for {self.pipelines} pipelines: each does one at least")
        if self.save_every is not None and self.save_every < 1:
            raise ValueError(f"save_every is {self.save_every}: a number of steps, or None")
        for rank, at, back in self.emulated.lost if self.emulated is not None else ():
            if not self.elastic:
                raise ValueError(f"rank {rank} is to be lost after step {at}: say elastic=True, so that others go on")
            if not at < back:
                raise ValueError(f"rank {rank} is lost after step {at}: it can't be back after step {back}")
