"""Who gets what of a machine: the rules by which runs share processors, memory and GPUs. No files, no clock.

A free slot goes to the waiting run that holds the smallest share, where a run's share is its largest part of
any one resource (dominant resource fairness: Ghodsi et al., NSDI 2011). Among equals the one goes first that
has used less so far, and then the one that has waited longer; a run that joins starts with what the others
have used least.

A request that doesn't fit lets smaller ones go before it, but not for ever: after `PATIENCE` seconds, what it
needs is kept free for it; and one that was passed over `PASSES` times goes first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import msgspec

PATIENCE = 30.0  # seconds that a request lets others go before it that fit where it doesn't
PASSES = 100  # grants to others after which a request goes first, whatever its run holds
_ROUNDING = 1e-9  # shares are sums of fractions: a billionth of a processor is none


class Share(msgspec.Struct, frozen=True, array_like=True):
    """What one step asks for, or what a machine has. `memory` is in bytes."""

    cpu: float
    memory: float
    gpus: int


NOTHING = Share(0.0, 0.0, 0)


class Hold(msgspec.Struct, frozen=True, array_like=True):
    """What one step has: its GPUs by id. One that `stays` is a daemon's, which ends when its run says so."""

    cpu: float
    memory: float
    gpus: tuple[str, ...] = ()
    stays: bool = False


class Want(msgspec.Struct, array_like=True):
    """What the next step of a run waits for: since when, and how many others went before it meanwhile.

    `slot` is the number that its hold will have.
    """

    slot: int
    share: Share
    since: float
    passed: int = 0


class Seat(msgspec.Struct, array_like=True):
    """One run at the table: what it may use at most, what it holds, by slot, and what it waits for.

    `used` is the integral of its share over time, in seconds of the whole machine, up to the moment `at`.
    """

    total: Share
    gpus: tuple[str, ...]
    at: float
    used: float = 0.0
    holds: dict[int, Hold] = {}
    want: Want | None = None


Seats: TypeAlias = dict[str, Seat]
_Sum: TypeAlias = tuple[float, float, int]


class Table:
    """The seats at one moment, in seconds of a clock that all runs share."""

    def __init__(self, seats: Seats, now: float):
        self.seats = seats
        self.now = now
        self._has = _machine(seats.values())
        self._held = {name: _sum(seat.holds.values()) for name, seat in seats.items()}

    def join(self, name: str, total: Share, gpus: tuple[str, ...], holds: dict[int, Hold]) -> Seat:
        """A new seat, with what its run holds already, as if it had used as much as the one that has used least."""
        for each in self.seats:
            self._settle(each)
        least = min((each.used for each in self.seats.values()), default=0.0)
        seat = self.seats[name] = Seat(total, gpus, self.now, least, holds)
        self._count(name)
        self._has = _machine(self.seats.values())
        return seat

    def leave(self, name: str) -> None:
        """A seat is over."""
        del self.seats[name], self._held[name]
        self._has = _machine(self.seats.values())

    def give_back(self, name: str, slot: int) -> None:
        """A step has ended."""
        self._settle(name)
        self.seats[name].holds.pop(slot, None)
        self._count(name)

    def stay(self, name: str, slot: int, kept: Share) -> None:
        """A step has become a daemon, which keeps this much of what it has until it ends."""
        self._settle(name)
        holds = self.seats[name].holds
        hold = holds[slot]
        holds[slot] = Hold(min(hold.cpu, kept.cpu), min(hold.memory, kept.memory), hold.gpus[: kept.gpus], stays=True)
        self._count(name)

    def grant(self) -> list[str]:
        """Hand out what is free; gives the seats that have got what they waited for."""
        granted: list[str] = []
        while True:
            found = self._next()
            if found is None:
                return granted
            name, hold = found
            seat = self.seats[name]
            assert seat.want is not None
            self._settle(name)
            seat.holds[seat.want.slot] = hold
            seat.want = None
            self._count(name)
            for other in self.seats.values():
                if other.want is not None:
                    other.want.passed += 1
            granted.append(name)

    def usage(self) -> dict[str, float]:
        """What each run has used up to now, in seconds of the whole machine."""
        for name in self.seats:
            self._settle(name)
        return {name: seat.used for name, seat in self.seats.items()}

    def _next(self) -> tuple[str, Hold] | None:
        """The seat that is to get something next, and what."""
        waiting = self._waiting()
        if not waiting:
            return None
        holds = [hold for seat in self.seats.values() for hold in seat.holds.values()]
        taken = {gpu for hold in holds if hold.gpus for gpu in hold.gpus}
        stays = _sum(hold for hold in holds if hold.stays)
        cpu, memory, kept_gpus = self._has.cpu, self._has.memory, 0
        for held in self._held.values():
            cpu, memory = cpu - held[0], memory - held[1]
        for name in waiting:
            seat = self.seats[name]
            assert seat.want is not None
            asked = self._cut(seat, seat.want.share, stays)
            gpus = [gpu for gpu in seat.gpus if gpu not in taken]
            own = self._held[name]
            # What daemons or a large request keep can be more than there is: who asks for none of it doesn't mind.
            if (
                (not asked.cpu or asked.cpu <= min(cpu, seat.total.cpu - own[0]) + _ROUNDING)
                and (not asked.memory or asked.memory <= min(memory, seat.total.memory - own[1]))
                and (not asked.gpus or asked.gpus <= len(gpus) - kept_gpus)
            ):
                return name, Hold(asked.cpu, asked.memory, tuple(gpus[: asked.gpus]))
            if self.now - seat.want.since >= PATIENCE or seat.want.passed >= PASSES:
                cpu, memory, kept_gpus = cpu - asked.cpu, memory - asked.memory, kept_gpus + asked.gpus
        return None

    def _waiting(self) -> list[str]:
        """The seats that wait, in the order in which what is free is offered to them."""
        waiting = [name for name, seat in self.seats.items() if seat.want is not None]
        if len(waiting) < 2:
            return waiting
        for name in waiting:
            self._settle(name)

        def rank(name: str) -> tuple[bool, float, float, float]:
            seat = self.seats[name]
            assert seat.want is not None
            return seat.want.passed < PASSES, round(self._part(name), 9), seat.used, seat.want.since

        return sorted(waiting, key=rank)

    def _settle(self, name: str) -> None:
        """Add to what a run has used what it held since the last time."""
        seat = self.seats[name]
        seat.used += max(0.0, self.now - seat.at) * self._part(name)
        seat.at = self.now

    def _count(self, name: str) -> None:
        self._held[name] = _sum(self.seats[name].holds.values())

    def _part(self, name: str) -> float:
        """The largest part that a run holds of any resource of the machine."""
        cpu, memory, gpus = self._held[name]
        has = self._has
        return max(
            cpu / has.cpu if cpu else 0.0,
            memory / has.memory if memory else 0.0,
            gpus / has.gpus if gpus else 0.0,
        )

    def _cut(self, seat: Seat, share: Share, stays: _Sum) -> Share:
        """What a step can ever get: no more than its run may use, less what daemons keep.

        So steps and the daemons that they talk to never wait for each other, of one run or of several.
        """
        own = _sum(hold for hold in seat.holds.values() if hold.stays) if stays[0] or stays[1] else stays
        cpu = min(share.cpu, seat.total.cpu - own[0], self._has.cpu - stays[0])
        memory = min(share.memory, seat.total.memory - own[1], self._has.memory - stays[1])
        return Share(max(0.0, cpu), max(0.0, memory), share.gpus)


def _machine(seats: Iterable[Seat]) -> Share:
    """What there is: the most that any of the runs may use."""
    cpu = memory = 0.0
    gpus: set[str] = set()
    for seat in seats:
        cpu, memory = max(cpu, seat.total.cpu), max(memory, seat.total.memory)
        gpus.update(seat.gpus)
    return Share(cpu, memory, len(gpus))


def _sum(holds: Iterable[Hold]) -> _Sum:
    cpu = memory = 0.0
    gpus = 0
    for hold in holds:
        cpu, memory, gpus = cpu + hold.cpu, memory + hold.memory, gpus + len(hold.gpus)
    return cpu, memory, gpus
