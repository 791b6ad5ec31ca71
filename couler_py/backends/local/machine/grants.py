"""A run's seat at the ledger of this machine: its steps wait for their share here, and hold it until they end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator

import msgspec

from couler_py.backends.local.scope import TaskFailure
from couler_py.store.ledger import Ledger, LedgerError, ledger_folder
from couler_py.store.locks import release
from couler_py.store.shares import NOTHING, Seat, Share, Table, Want

POLL = 1.0  # seconds between two looks of a run that waits: it is told of all but the end of a killed engine's steps


class Grant(msgspec.Struct, frozen=True):
    """What a step may use while it holds its share: the ids of its GPUs, and the descriptors that say that it does."""

    slot: int
    gpus: tuple[str, ...] = ()
    locks: tuple[int, ...] = ()


class Turn:
    """A step that waits for its share."""

    def __init__(self, share: Share, told: Callable[[tuple[str, ...]], None]):
        self.share = share
        self.told = told  # which runs hold something of the machine meanwhile, each time that changes
        self.others: tuple[str, ...] = ()
        self.slot = -1  # the number of its hold, once it is asked for
        self.granted: asyncio.Future[Grant] = asyncio.get_running_loop().create_future()


class Machine:
    """A run's seat at the ledger of this machine: hands out shares, within the run first come, first served.

    A share larger than the machine is cut to it. All of it belongs to one event loop.
    """

    def __init__(self, total: Share, gpus: list[str], run: str = "run"):
        self.total = total
        self._name = f"{run}-{os.getpid()}-{secrets.token_hex(6)}"
        self._seat = Seat(total, tuple(gpus), 0.0)  # as it stood in the ledger when this last looked
        self._ledger: Ledger | None = None
        self._locks: list[int] = []  # the descriptor that holds the seat, and those of its slots
        self._free: list[int] = []  # slots that no step has
        self._queue: deque[Turn] = deque()
        self._asked: Turn | None = None  # whose want stands in the ledger
        self._pipe: tuple[int, int] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._swept = -POLL

    @contextlib.asynccontextmanager
    async def use(self, share: Share, told: Callable[[tuple[str, ...]], None] = lambda _: None) -> AsyncIterator[Grant]:
        """Wait for a share and hold it. Who supervises the step holds the locks of the grant too, until its end.

        Whose turn is next is `told` which other runs hold something of the machine.

        Raises `TaskFailure` for GPUs that daemons of the run keep, `LedgerError`.
        """
        if share == NOTHING:
            yield Grant(-1)
            return
        turn = Turn(share, told)
        self._queue.append(turn)
        if len(self._queue) == 1:
            self._exchange()
        try:
            grant = await turn.granted
        except asyncio.CancelledError:
            if turn.granted.cancelled():
                self._exchange()
            else:
                self._give_back(turn.granted.result())
            raise
        try:
            yield grant
        finally:
            self._give_back(grant)

    def stay(self, grant: Grant, kept: Share) -> None:
        """The step that has a grant is a daemon from now on, which keeps only this much until it ends."""
        if grant.slot >= 0:
            self._exchange(lambda table: table.stay(self._name, grant.slot, kept))

    def close(self) -> None:
        """Leave the ledger. What steps hold that still run without this engine is theirs until they end."""
        if self._ledger is None:
            self._tidy()
            return
        with self._book() as table:
            self._seat.want = None
            if not self._seat.holds:
                table.leave(self._name)
            self._ledger.sweep(table, self._name)
            granted = table.grant()
        self._stop_listening()
        self._tell(granted)
        if not self._seat.holds:
            self._ledger.remove(self._name)
        self._ledger.close()
        release(self._locks)
        self._ledger, self._locks, self._free, self._asked = None, [], [], None

    def _tidy(self) -> None:
        """Hand out what killed engines left: a run that had nothing to start ends here too."""
        with contextlib.closing(Ledger(ledger_folder())) as ledger:
            with ledger.opened() as table:
                ledger.sweep(table, self._name)
                granted = table.grant()
            for name in granted:
                ledger.wake(name)

    def _give_back(self, grant: Grant) -> None:
        if self._ledger is not None:  # else the run is over, and its seat with it
            self._free.append(grant.slot)
            self._exchange(lambda table: table.give_back(self._name, grant.slot))

    # ---- with the ledger

    def _exchange(self, change: Callable[[Table], None] | None = None) -> None:
        """Change this run's seat, and hand out what is free, to this run and to others."""
        granted: list[str] = []
        with self._book() as table:
            if change is not None:
                change(table)
            mine = self._received(table)
            while self._ask(table.now):
                found = table.grant() or self._sweep(table)
                granted += found
                if self._name not in found:
                    break
                mine += self._received(table)
            else:
                granted += table.grant()
            others = tuple(
                sorted({run_of(name) for name, seat in table.seats.items() if seat.holds} - {run_of(self._name)})
            )
        for turn in mine:
            turn.granted.set_result(Grant(turn.slot, self._seat.holds[turn.slot].gpus, (self._locks[turn.slot + 1],)))
        self._tell(granted)
        if self._asked is not None:
            if self._asked.others != others:
                self._asked.others = others
                self._asked.told(others)
            self._listen()

    @contextlib.contextmanager
    def _book(self) -> Iterator[Table]:
        if self._ledger is None:
            self._ledger = Ledger(ledger_folder())
        with self._ledger.opened() as table:
            found = table.seats.get(self._name)
            if found is None:  # at the beginning, or after somebody has cleaned the folder up
                self._ledger.sweep(table, self._name)
                release(self._locks[:1])
                self._locks[:1] = [self._ledger.take_seat(self._name)]
                before = self._seat
                found = table.join(self._name, before.total, before.gpus, before.holds)
                found.want = before.want
            self._seat = found
            yield table

    def _ask(self, now: float) -> bool:
        """Write down what the first of the queue wants; whether there is one."""
        if self._asked is not None and self._asked.granted.cancelled():
            self._free.append(self._asked.slot)
            self._asked = self._seat.want = None
        while self._asked is None and self._queue:
            turn = self._queue[0]
            kept = sum(len(hold.gpus) for hold in self._seat.holds.values() if hold.stays)
            if turn.granted.cancelled():
                self._queue.popleft()
            elif turn.share.gpus > self.total.gpus - kept:
                self._queue.popleft().granted.set_exception(
                    TaskFailure(f"it asks for {turn.share.gpus} GPUs, and of {self.total.gpus} daemons keep {kept}")
                )
            else:
                turn.slot = self._slot()
                self._asked, self._seat.want = turn, Want(turn.slot, turn.share, now)
        return self._asked is not None

    def _slot(self) -> int:
        if self._free:
            return self._free.pop()
        assert self._ledger is not None
        slot = len(self._locks) - 1
        self._locks.append(self._ledger.take_slot(self._name, slot))
        return slot

    def _received(self, table: Table) -> list[Turn]:
        """The step that has got what it waited for; one that has given up waiting gives it back."""
        turn = self._asked
        if turn is None or self._seat.want is not None:
            return []
        self._asked = None
        self._queue.popleft()
        if turn.granted.cancelled():
            table.give_back(self._name, turn.slot)
            self._free.append(turn.slot)
            return []
        return [turn]

    def _sweep(self, table: Table) -> list[str]:
        if len(table.seats) == 1 or table.now - self._swept < POLL:
            return []
        assert self._ledger is not None
        self._swept = table.now
        self._ledger.sweep(table, self._name)
        return table.grant()

    # ---- with others

    def _tell(self, granted: list[str]) -> None:
        assert self._ledger is not None
        for name in granted:
            if name != self._name:
                self._ledger.wake(name)

    def _listen(self) -> None:
        """Hear of what others hand to this run; and look from time to time for what nobody tells: who was killed."""
        assert self._ledger is not None
        loop = asyncio.get_running_loop()
        if self._pipe is None:
            self._pipe = self._ledger.listen(self._name)
            loop.add_reader(self._pipe[0], self._told)
        if self._timer is None:
            self._timer = loop.call_later(POLL, self._beat)

    def _stop_listening(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._pipe is not None:
            asyncio.get_running_loop().remove_reader(self._pipe[0])
            release([*self._pipe])
            self._pipe = None

    def _told(self) -> None:
        assert self._pipe is not None
        os.read(self._pipe[0], 4096)
        self._look()

    def _beat(self) -> None:
        self._timer = None
        self._look()

    def _look(self) -> None:
        turn = self._asked
        if turn is None or turn.granted.cancelled():
            return  # who gave up looks itself
        try:
            self._exchange()
        except LedgerError as error:
            turn.granted.set_exception(error)


def run_of(seat: str) -> str:
    """The run whose seat has a name."""
    return seat.rsplit("-", 2)[0]
