"""What replicas agree on at the beginning of a round: one row of numbers from each, and everything follows from it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from couler_py.steps.edit.settings import Settings
from couler_py.steps.edit.weighing import weights


class Told(msgspec.Struct, frozen=True):
    """What one replica says."""

    steps: int
    """Its local steps since the last round."""
    finished: bool
    """Whether it has no more data and only takes part so that others can go on."""
    norms: tuple[float, ...]
    """The norm of its pseudo-gradient, for each unit."""
    rejected: tuple[bool, ...]

    def row(self) -> list[float]:
        """As numbers."""
        return [float(self.steps), float(self.finished), *self.norms, *map(float, self.rejected)]


def read(row: Sequence[float]) -> Told:
    """What a row of numbers says."""
    units = (len(row) - 2) // 2
    norms, rejected = tuple(row[2 : 2 + units]), tuple(map(bool, row[2 + units :]))
    return Told(int(row[0]), bool(row[1]), norms, rejected)


class Plan(msgspec.Struct, frozen=True):
    """A round, the same on every rank."""

    told: tuple[Told, ...]
    weights: tuple[tuple[float, ...] | None, ...]
    """For each unit the weights of replicas; None: nobody counts, and the unit goes back to its anchor."""
    put_off: bool
    """Whether the replicas together have made too few steps, so that nothing happens yet."""

    @property
    def steps(self) -> int:
        """The local steps of all replicas since the last round."""
        return sum(one.steps for one in self.told)

    @property
    def over(self) -> bool:
        """Whether all replicas have finished."""
        return all(one.finished for one in self.told)


def plan(told: Sequence[Told], settings: Settings) -> Plan:
    """Who counts how much. Rounds are never put off once a replica has finished: it waits for their end."""
    steps = [one.steps for one in told]
    given = tuple(
        weights([one.norms[n] for one in told], [one.rejected[n] for one in told], steps, settings.penalty)
        for n in range(len(told[0].norms))
    )
    off = sum(steps) < settings.least_steps and not any(one.finished for one in told)
    return Plan(tuple(told), given, off)
