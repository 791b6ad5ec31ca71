"""Replicas that come and go while the others train: who takes part is agreed where a round ends, through a store.

Each replica is a launch of its own, whose ranks are its shards, and all meet at a store that outlives each of them
(`server`). Who arrives draws a ticket. The first ones begin together; whoever comes later waits for the end of a round,
and goes on from what all have just agreed on: anchor and outer momentum come from one that was there. Who leaves says
so at the beginning of a round, counts for nothing in it, and is gone when it ends.

A replica that is lost without a word isn't forgotten: the others wait for it in the next round, and fail.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
from torch import distributed

from couler_py.steps.edit.channel import Channel, Listen
from couler_py.steps.edit.units import local

if TYPE_CHECKING:
    import torch

    from couler_py.steps.edit.local_sgd import LocalSGD

ASKED, OVER = "asked", "over"
LOOK = 0.05
"""Seconds between two looks at the store."""
ANSWER = 15.0
"""Seconds in which somebody who asked has to answer when it is their turn; else they are held for gone."""


class MembershipError(RuntimeError):
    """A replica can't take part: the message says why."""


def server(port: int, patience: timedelta = timedelta(hours=1)) -> distributed.TCPStore:
    """The store that replicas meet at, in this process, while what is returned lives. Port 0 takes a free one."""
    return distributed.TCPStore("0.0.0.0", port, is_master=True, wait_for_workers=False, timeout=patience)  # noqa: S104


def store(host: str, port: int, patience: timedelta = timedelta(hours=1)) -> distributed.TCPStore:
    """The store that another process serves."""
    return distributed.TCPStore(host, port, is_master=False, wait_for_workers=False, timeout=patience)


class Circle(Channel):
    """A channel between replicas that are not one launch: its group is made anew when they become others."""

    def __init__(self, store: distributed.Store, patience: timedelta, listen: Listen | None = None):
        super().__init__("between", None, listen)
        self._store, self._patience = store, patience

    def meet(self, number: int, rank: int, size: int, shard: int, device: torch.device) -> None:
        """Form a group with those who hold the same shard of other replicas; all of them call it."""
        self.rank, self.size, self.alone = rank, size, size == 1
        self.group = None
        if self.alone:
            return
        place = distributed.PrefixStore(f"group-{number}/{shard}", self._store)
        if device.type == "cuda":
            options = distributed.ProcessGroupNCCL.Options()
            options._timeout = self._patience
            self.group = distributed.ProcessGroupNCCL(place, rank, size, options)
        else:
            self.group = distributed.ProcessGroupGloo(place, rank, size, self._patience)


class Change(msgspec.Struct, frozen=True):
    """Who takes part from now on, for who watches."""

    number: int
    """Changes are counted from 0, which is the beginning."""
    replica: int
    """Which of them this replica is."""
    replicas: int
    facts: tuple[int, ...]
    """What those who were there say of the training: the same for all."""


class Listed(msgspec.Struct, frozen=True):
    """Who takes part after a change, by ticket, in the order of replicas."""

    tickets: list[int]
    known: int
    """The last ticket that was drawn by then: who drew a later one has not been asked in yet."""


class Members:
    """One replica's way into a training, and out of it; every rank of the replica makes one.

    `first` replicas begin together. `facts` are whole numbers that those who come need to know, such as how much of the
    data has been read; the first replica's count. `changed` hears of each change, where the round ends that brings it.
    """

    def __init__(
        self,
        store: distributed.Store,
        *,
        first: int,
        facts: Callable[[], Sequence[int]] = tuple,
        changed: Callable[[Change], None] = lambda _: None,
        patience: timedelta = timedelta(hours=1),
        listen: Listen | None = None,
    ):
        if first < 1:
            raise ValueError(f"{first} replicas begin together: at least one does")
        self.circle = Circle(store, patience, listen)
        self.facts, self.changed = facts, changed
        self.leaving = False
        self.gone = False
        """Whether this replica has left: its loop ends."""
        self.number = 0
        self._store, self._first, self._patience = store, first, patience
        self._ticket = 0
        self._tickets: list[int] = []
        self._known = 0
        self._asked = 0
        self._leavers: list[bool] = []

    def leave(self) -> None:
        """Leave where the next round ends. One rank of the replica is enough, and a signal's handler may call it."""
        self.leaving = True

    def arrive(self, training: LocalSGD) -> None:
        """Take part: at once with those who begin, else from the end of a round that the others hold.

        Raises `MembershipError` where the training is over, or nobody lets this replica in for as long as `patience`.
        """
        if training.settings.late:
            raise ValueError("replicas can't come or go while an average is on its way: late=True has no members")
        within, device = training.within, training.device
        drawn = self._store.add(ASKED, 1) if within.rank == 0 else 0
        self._ticket = within.from_first(drawn, "ticket", device)
        if self._ticket <= self._first:
            self._until(lambda: self._store.add(ASKED, 0) >= self._first)
            self._regroup(0, list(range(1, self._first + 1)), training)
            self._known = self._first
            self.changed(Change(0, self.circle.rank, self.circle.size, tuple(self.facts())))
            return
        self._until(lambda: self._store.check([f"offered-{self._ticket}"]))
        number = int(self._store.get(f"offered-{self._ticket}"))
        if within.rank == 0:
            self._store.set(f"here-{self._ticket}", b"")
        listed = self._listed(number)
        if self._ticket not in listed.tickets:
            raise MembershipError("the others have gone on: this replica was too slow to answer. It may ask again")
        self._enter(number, listed, training, came=True)

    def count(self, training: LocalSGD) -> bool:
        """Before a round: who leaves, and who has asked to come; gives whether this replica leaves."""
        within, device = training.within, training.device
        leaving = any(flag for (flag,) in within.numbers([float(self.leaving)], "leaving", device))
        asked = within.from_first(self._store.add(ASKED, 0) if within.rank == 0 else 0, "asked", device)
        told = self.circle.numbers([float(leaving), float(asked)], "members", device)
        self._leavers, self._asked = [bool(row[0]) for row in told], int(told[0][1])
        return leaving

    def settle(self, training: LocalSGD, *, over: bool) -> None:
        """After a round: let go who leaves, let in who has come. Nobody comes to a training that is over."""
        staying = [ticket for ticket, leaves in zip(self._tickets, self._leavers, strict=True) if not leaves]
        if over or not staying:
            self._store.set(OVER, b"")
            self.gone = self._ticket not in staying
            return
        asking = list(range(self._known + 1, self._asked + 1))
        if not asking and staying == self._tickets:
            return
        number = self.number + 1
        if self._ticket == staying[0] and training.within.rank == 0:
            for ticket in asking:
                self._store.set(f"offered-{ticket}", str(number))
            until = time.monotonic() + ANSWER
            while not all(self._here(ticket) for ticket in asking) and time.monotonic() < until:
                time.sleep(LOOK)
            came = [ticket for ticket in asking if self._here(ticket)]
            self._store.set(f"members-{number}", msgspec.json.encode(Listed([*staying, *came], self._asked)))
        if self._ticket not in staying:
            self.gone = True
            return
        self._enter(number, self._listed(number), training, came=False)

    def _here(self, ticket: int) -> bool:
        return bool(self._store.check([f"here-{ticket}"]))

    def _listed(self, number: int) -> Listed:
        self._until(lambda: self._store.check([f"members-{number}"]))
        return msgspec.json.decode(self._store.get(f"members-{number}"), type=Listed)

    def _until(self, holds: Callable[[], bool]) -> None:
        until = time.monotonic() + self._patience.total_seconds()
        while not holds():
            if self._store.check([OVER]):
                raise MembershipError("the training that this replica wanted to join is over")
            if time.monotonic() > until:
                raise MembershipError(f"nobody came to meet this replica for {self._patience}")
            time.sleep(LOOK)

    def _enter(self, number: int, listed: Listed, training: LocalSGD, *, came: bool) -> None:
        self._regroup(number, listed.tickets, training)
        self._known = listed.known
        facts = _welcome(training, self.circle, tuple(self.facts()), came=came)
        self.changed(Change(number, self.circle.rank, self.circle.size, facts))

    def _regroup(self, number: int, tickets: list[int], training: LocalSGD) -> None:
        self.number, self._tickets = number, tickets
        rank = tickets.index(self._ticket)
        self.circle.meet(number, rank, len(tickets), training.within.rank, training.device)


def _welcome(training: LocalSGD, circle: Circle, facts: tuple[int, ...], *, came: bool) -> tuple[int, ...]:
    """Have those who came know all that those who were there do; all call it, the first one speaks."""
    device = training.device
    said = (training.timing.step, training.rounds, training.agreed_steps, *facts)
    numbers = [circle.from_first(each, "fact", device) for each in said]
    if came:
        training.timing.restore(numbers[0], 0, 0.0)
        training.rounds, training.agreed_steps = numbers[1], numbers[2]
        training.anchor()
    if not training.anchored:
        raise MembershipError("replicas come and go where rounds end, and there are none in this training")
    tensors: list[Any] = [tensor for each in training.anchored for tensor in (*each.anchor, *each.momentum)]
    tensors += [local(buffer.detach()) for buffer in training.model.buffers()]
    for tensor in tensors:
        near = tensor.to(device)
        circle.as_first(near)
        if came and near is not tensor:
            tensor.copy_(near)
    if came:
        training.to_anchor()
    return tuple(numbers[3:])
