"""How requests change what the master knows: no clock, no chance, so that the same requests give the same state.

A shard is waiting, held by one worker, given back, done, or set aside: one of them at any time, and none is ever lost.
The master's journal is a list of requests, which brings all of this back.
"""

from __future__ import annotations

import msgspec

from couler_py.steps.dlrm.sharding.messages import (
    Advance,
    Ask,
    Beat,
    Command,
    Draw,
    Drawn,
    Fail,
    Fine,
    Join,
    Joined,
    Lease,
    Leave,
    Lost,
    Nothing,
    Piece,
    Refused,
    Reply,
    Request,
    Restore,
    Save,
    Saved,
    SetAside,
    Skip,
    Status,
    Take,
)
from couler_py.steps.dlrm.sharding.settings import Settings
from couler_py.steps.dlrm.sharding.state import Held, Part, State

STALE = "{worker} of generation {generation} is taken for lost: nothing that it says counts; join again"


class Machine:
    """The state, and what requests do to it."""

    def __init__(self, settings: Settings, state: State | None = None):
        self.settings = settings
        self.state = state if state is not None else State()

    def apply(self, request: Request) -> tuple[Reply, bool]:
        """Do what is asked; the answer, and whether anything was changed. What is refused changes nothing."""
        state, worker, command = self.state, request.worker, request.command
        if not isinstance(command, Join | Ask):
            if state.generations.get(worker) != request.generation:
                return Refused(STALE.format(worker=worker, generation=request.generation), stale=True), False
            known = state.answered.get(worker)
            if known is not None and known[0] == request.sequence and not isinstance(command, Beat | Lost):
                return known[1], False
        reply = self._done(worker, command)
        changed = not isinstance(reply, Refused | Nothing | Status | Saved) and not isinstance(command, Beat)
        if changed and worker in state.generations and not isinstance(command, Join):
            state.answered[worker] = (request.sequence, reply)
        return reply, changed

    def _done(self, worker: str, command: Command) -> Reply:
        needed = "exactly_once" if isinstance(command, Draw | Skip) else "at_least_once"
        if isinstance(command, Draw | Skip | Take | Advance | Fail):
            if self.settings.mode != needed:
                return Refused(f"{type(command).__name__} is for {needed}, and this training is {self.settings.mode}")
            if self.state.failed:
                return Refused(f"the training has failed: {self.state.failed}")
        match command:
            case Join():
                return self._join(worker)
            case Leave():
                self._released(worker, "", attempt=False)
            case Lost():
                self._released(worker, f"{worker} was lost", attempt=True)
            case Take():
                return self._take(worker)
            case Advance(lease, cursor):
                return self._advance(worker, lease, cursor)
            case Fail(lease, reason):
                return self._fail(worker, lease, reason)
            case Draw(step, counts):
                return self._draw(step, counts)
            case Skip(step, reason):
                return self._skip(step, reason)
            case Save():
                kept = msgspec.structs.replace(self.state, generations={}, answered={})
                return Saved(msgspec.json.encode((self.settings.order, kept)).decode())
            case Restore(saved):
                return self._restore(saved)
            case Ask():
                return self.status()
        return Fine()

    def _join(self, worker: str) -> Reply:
        self._released(worker, f"{worker} began anew", attempt=True)
        self.state.last_generation += 1
        self.state.generations[worker] = self.state.last_generation
        return Joined(self.state.last_generation, self.settings.lease)

    def _released(self, worker: str, why: str, attempt: bool) -> None:
        self.state.generations.pop(worker, None)
        self.state.answered.pop(worker, None)
        for lease in [number for number, held in self.state.held.items() if held.worker == worker]:
            self._give_back(lease, why, attempt)

    def _take(self, worker: str) -> Reply:
        state, settings = self.state, self.settings
        if state.returned:
            part = state.returned.pop(0)
        elif state.place < settings.places:
            part = Part(state.place)
            state.place += 1
        else:
            return Nothing(over=not state.held)
        state.last_lease += 1
        state.held[state.last_lease] = Held(worker, part)
        epoch, start, stop = settings.shard(part.place)
        return Lease(state.last_lease, epoch, start, stop, part.cursor)

    def _held(self, worker: str, lease: int) -> Held | Refused:
        held = self.state.held.get(lease)
        if held is None or held.worker != worker:
            return Refused(f"{worker} does not hold lease {lease}")
        return held

    def _advance(self, worker: str, lease: int, cursor: int) -> Reply:
        held = self._held(worker, lease)
        if isinstance(held, Refused):
            return held
        part = held.part
        _, start, stop = self.settings.shard(part.place)
        if not part.cursor <= cursor <= stop - start:
            return Refused(f"lease {lease} is at row {part.cursor} of {stop - start}: it can't be at {cursor}")
        if cursor > part.cursor:
            part.attempts = 0
        self.state.rows_done += cursor - part.cursor
        part.cursor = cursor
        if cursor == stop - start:
            del self.state.held[lease]
            self.state.done += 1
        return Fine()

    def _fail(self, worker: str, lease: int, reason: str) -> Reply:
        held = self._held(worker, lease)
        if isinstance(held, Refused):
            return held
        self._give_back(lease, reason, attempt=True)
        return Fine()

    def _give_back(self, lease: int, why: str, attempt: bool) -> None:
        part = self.state.held.pop(lease).part
        part.attempts += attempt
        if part.attempts > self.settings.retries:
            self._set_aside(part.place, part.cursor, why)
        else:
            self.state.returned.append(part)

    def _set_aside(self, place: int, cursor: int, why: str) -> None:
        epoch, start, stop = self.settings.shard(place)
        self.state.set_aside.append(SetAside(epoch, start, stop, cursor, why))
        if len(self.state.set_aside) > self.settings.quarantine:
            self.state.failed = (
                f"rows {start} to {stop} of epoch {epoch} could not be trained on ({why}), and no more than "
                f"{self.settings.quarantine} shards may be set aside"
            )

    def _draw(self, step: int, counts: tuple[int, ...]) -> Reply:
        state, settings = self.state, self.settings
        if step != state.step + 1:
            return Refused(
                f"step {step} can't be drawn: {state.step} steps were, restore what was saved with the model"
            )
        if min(counts, default=0) < 0:
            return Refused(f"a step of {counts} rows")
        ranks = []
        for count in counts:
            pieces = []
            while count and state.place < settings.places:
                epoch, start, stop = settings.shard(state.place)
                last = min(state.cursor + count, stop - start)
                pieces.append(Piece(epoch, start, stop, state.cursor, last))
                count -= last - state.cursor
                state.rows_done += last - state.cursor
                state.cursor = last
                if last == stop - start:
                    state.place, state.cursor = state.place + 1, 0
                    state.done += 1
            ranks.append(tuple(pieces))
        state.step = step
        return Drawn(step, tuple(ranks))

    def _skip(self, step: int, reason: str) -> Reply:
        state = self.state
        if step != state.step + 1:
            return Refused(f"step {step} can't skip: {state.step} steps were drawn")
        if state.place >= self.settings.places:
            return Refused("there is nothing left to skip")
        self._set_aside(state.place, state.cursor, reason)
        state.place, state.cursor = state.place + 1, 0
        return Fine()

    def _restore(self, saved: str) -> Reply:
        try:
            order, found = (
                msgspec.json.decode(saved, type=tuple[tuple[int, int, int, bool, str], State])
                if saved
                else (self.settings.order, State())
            )
        except msgspec.DecodeError as error:
            return Refused(f"this is no state of a training: {error}")
        if order != self.settings.order:
            names = ("rows", "rows of a shard", "seed", "shuffled", "mode")
            told = [
                f"{name} {a}, not {b}" for name, a, b in zip(names, order, self.settings.order, strict=True) if a != b
            ]
            return Refused(f"this is the state of another training: {'; '.join(told)}")
        found.last_generation = max(found.last_generation, self.state.last_generation)
        found.last_lease = max(found.last_lease, self.state.last_lease)
        found.returned = [*(held.part for _, held in sorted(found.held.items())), *found.returned]
        found.held, found.generations, found.answered = {}, {}, {}
        self.state = found
        return Fine()

    def status(self) -> Status:
        """How far it all is."""
        state, total = self.state, self.settings.places
        return Status(
            total,
            total - state.place,
            len(state.returned),
            len(state.held),
            state.done,
            state.rows_done,
            tuple(state.set_aside),
            tuple(sorted(state.generations)),
            state.failed,
        )
