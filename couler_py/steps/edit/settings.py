"""What is chosen before training: when replicas agree, and how. No torch here."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

Compression = Literal["none", "bf16", "fp16", "int8"]
"""In which numbers pseudo-gradients travel between replicas."""


def _positive(**numbers: float | None) -> None:
    for name, number in numbers.items():
        if number is not None and not (number > 0 and math.isfinite(number)):
            raise ValueError(f"{name} is {number}: it is above 0")


class Outer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The outer optimizer: SGD on the anchor, whose gradient is how far the replicas have come since the last round.

    The first round moves by lr·(1 + momentum) of it with Nesterov, many equal ones by lr / (1 - momentum) each: more
    than 1 is usual. Rate 1 without momentum makes a round the plain average of the replicas.
    """

    lr: float = 0.7
    momentum: float = 0.8
    nesterov: bool = True
    momentum_clip: float | None = None
    """The largest norm of a module's momentum, as in CO2 (Sun et al., arXiv 2401.16265); None leaves it alone."""

    def __post_init__(self) -> None:
        if self.lr <= 0:
            raise ValueError(f"an outer rate of {self.lr}: it is above 0")
        if not 0 <= self.momentum < 1:
            raise ValueError(f"an outer momentum of {self.momentum}: it is at least 0 and below 1")
        if self.nesterov and not self.momentum:
            raise ValueError("Nesterov's step needs momentum: set momentum, or nesterov=False")
        _positive(momentum_clip=self.momentum_clip)


PLAIN = Outer(lr=1.0, momentum=0.0, nesterov=False)
"""The average of the replicas, and no more."""


class Penalty(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """EDiT's pseudo-gradient penalty: who is left out of a round, who counts how much, how far a round may go.

    All of it is per module, that is for each part of the model that is sharded by itself.
    """

    threshold: float = 3.0
    """A replica is left out where its norm lies so many deviations above its own earlier norms; small is never odd."""
    smoothing: float = 0.02
    """How much the newest norm counts in the running mean and variance."""
    rounds_before: int = 120
    """After how many rounds norms are judged; norms that are no numbers are left out from the first."""
    start: Literal["first", "zero"] = "first"
    """What the running mean begins with. From zero it takes 120 rounds at 0.02 to come near."""
    restart_after: int = 3
    """After so many rejections in a row a replica's running mean begins anew: its norms have changed for good."""
    temperature: float | None = 1.0
    """Weights are a softmax of -norm / temperature over the replicas; None weighs all alike."""
    relative: bool = False
    """Whether norms are divided by their mean over the replicas first, so that weights don't depend on their scale."""
    clip: float | None = 10.0
    """The largest norm of a module's averaged pseudo-gradient; None leaves it alone."""
    step_ratio: float = 0.0
    """How much of a weight is the replica's share of the local steps of this round, from 0 to 1."""

    def __post_init__(self) -> None:
        if not 0 < self.smoothing < 1:
            raise ValueError(f"a smoothing of {self.smoothing}: it lies between 0 and 1")
        if not 0 <= self.step_ratio <= 1:
            raise ValueError(f"a step_ratio of {self.step_ratio}: it is 0 to 1")
        if self.rounds_before < 1 or self.restart_after < 1:
            raise ValueError("rounds_before and restart_after are at least 1")
        _positive(threshold=self.threshold, temperature=self.temperature, clip=self.clip)


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When replicas agree, and how. With neither `sync_every` nor `sync_seconds`, gradients are averaged in every step.

    >>> Settings(sync_every=32, warmup=100, penalty=Penalty()).synchronous(99)
    True
    """

    sync_every: int | None = None
    """Optimizer steps between two rounds."""
    sync_seconds: float | None = None
    """Seconds from the end of a round until a replica wants the next (A-EDiT): it comes when all of them do."""
    warmup: int = 0
    """Steps at the beginning whose gradients are averaged, as in ordinary data parallelism."""
    outer: Outer = PLAIN
    penalty: Penalty | None = None
    compression: Compression = "none"
    offload: bool = False
    """Whether anchor and outer momentum lie in the host's memory between rounds."""
    late: bool = False
    """Whether a round's average is used one round later, so that nobody waits for it (CO2)."""
    most_steps: int | None = None
    """With `sync_seconds`: a replica that has made so many steps wants a round whatever the clock says."""
    least_steps: int = 1
    """With `sync_seconds`: the replicas' steps together below which a round is put off."""

    def __post_init__(self) -> None:
        if self.sync_every is not None and self.sync_seconds is not None:
            raise ValueError("rounds come after steps or after seconds: set sync_every or sync_seconds, not both")
        if self.sync_seconds is None and (self.most_steps is not None or self.least_steps != 1):
            raise ValueError("most_steps and least_steps bound rounds that the clock calls: set sync_seconds")
        if self.warmup < 0:
            raise ValueError(f"a warmup of {self.warmup} steps: it is at least 0")
        _positive(sync_every=self.sync_every, sync_seconds=self.sync_seconds, most_steps=self.most_steps)
        _positive(least_steps=self.least_steps)

    @property
    def local(self) -> bool:
        """Whether replicas ever go their own ways."""
        return self.sync_every is not None or self.sync_seconds is not None

    def synchronous(self, step: int) -> bool:
        """Whether gradients are averaged over replicas in a step, counted from 0."""
        return not self.local or step < self.warmup


def preset(
    name: str, *, sync_every: int = 128, sync_seconds: float = 600.0, warmup: int = 0, **changes: object
) -> Settings:
    """Settings by the name of a method; `changes` are fields of `Settings` that replace the preset's.

    `ddp` · `post_local_sgd` (Lin et al., arXiv 1808.07217) · `diloco` (Douillard et al., arXiv 2311.08105) · `co2`
    (arXiv 2401.16265, without its penalty of the staleness gap) · `edit` · `a_edit`. Raises `ValueError` for other
    names.

    >>> preset("diloco", sync_every=64).outer
    Outer(lr=0.7, momentum=0.9, nesterov=True, momentum_clip=None)
    """
    rounds: dict[str, object] = {"sync_every": sync_every, "warmup": warmup}
    chosen: dict[str, dict[str, object]] = {
        "ddp": {},
        "post_local_sgd": rounds,
        "diloco": rounds | {"outer": Outer(momentum=0.9)},
        "co2": rounds | {"outer": Outer(momentum_clip=1.0), "late": True},
        "edit": rounds | {"outer": Outer(), "penalty": Penalty()},
        "a_edit": {"sync_seconds": sync_seconds, "warmup": warmup, "outer": Outer(), "penalty": Penalty()},
    }
    if name not in chosen:
        raise ValueError(f"no preset is called {name!r}: there are {', '.join(chosen)}")
    return msgspec.convert(chosen[name] | changes, Settings)


PRESETS = ("ddp", "post_local_sgd", "diloco", "co2", "edit", "a_edit")
