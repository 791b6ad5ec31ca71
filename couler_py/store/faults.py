"""Faults on purpose: this process is killed, or finds the disk full, when it comes to a named point. Stdlib only.

`COULER_FAULT` names the point, the how-manieth time and the fault, `record.written`, `record.written:3` or
`record.written:3:full`, and `COULER_FAULT_MARK` a file that is made when it happens: it happens once, in whichever
process comes first. Without the variable, a point costs a call of a function and nothing else.

The points stand where something becomes true of a run for whoever comes later: directly before it, and after. The
tests go through all of them, with `POINTS` as their list.
"""

from __future__ import annotations

import errno
import os
import signal

POINTS = {
    "run.begun": "a new run is in the store, and no engine works on it yet",
    "store.commit": "changes of a run are about to be committed",
    "store.committed": "changes of a run are committed",
    "store.migrating": "a step of the schema is made, and not committed",
    "attempt.folder": "the folder of an attempt is there, and nobody was asked to start it",
    "attempt.claimed": "the warden has an attempt, and has not started its step",
    "attempt.forked": "a step's process is forked, and who forked it has told nobody",
    "attempt.spawned": "a step runs, and its process is not written down",
    "attempt.started": "a step runs, and its process is written down",
    "attempt.exited": "a step has ended, and nothing that it left is kept",
    "attempt.reported": "the engine has heard how an attempt ended, and has written nothing",
    "content.written": "a file is about to be kept under its digest",
    "content.kept": "a file is kept under its digest, and nothing refers to it",
    "record.written": "the record of an attempt is written under another name",
    "record.kept": "the record of an attempt is in its place, and the engine has not heard",
    "ledger.written": "the ledger of the machine is written, and doesn't count yet",
    "ledger.kept": "the ledger of the machine counts",
    "environment.built": "packages are installed, and nothing says that all of them are",
    "upload.begun": "some of a file is in the store of artifacts elsewhere",
    "upload.kept": "a file is in the store of artifacts elsewhere, and nothing says so here",
    "run.forgotten": "a run is no longer in the store, and its folder is still there",
    "run.ended": "all tasks of a run have ended, and the run has not",
}


CHECKPOINTS = {
    "checkpoint.copying": "some of a state is copied to memory",
    "checkpoint.copied": "a state is in memory, and nobody was asked to write it",
    "checkpoint.writing": "some of a rank's file is written",
    "checkpoint.written": "a rank's file is written, and nobody knows",
    "checkpoint.reported": "a rank has said what it has written, and the checkpoint is not whole",
    "checkpoint.whole": "a checkpoint is whole, and not yet the newest",
    "checkpoint.newest": "a checkpoint is the newest, and older ones are still there",
}
"""Points of training that saves checkpoints."""


SHARDING = {
    "sharding.applied": "what a worker asked for is done in memory, and not written down",
    "sharding.writing": "some of what was asked for is in the journal",
    "sharding.written": "what was asked for is in the journal, and nobody has an answer",
    "sharding.answered": "a worker has its answer",
    "sharding.compacting": "a state is about to take the place of the journal",
    "sharding.compacted": "a state is in place, and the journal that led to it too",
}
"""Points of the master that hands out shards of data."""


class _Fault:
    """The fault that is wanted, and how often its point is still passed by before."""

    def __init__(self, wanted: str):
        self.point, _, rest = wanted.partition(":")
        times, _, self.kind = rest.partition(":")
        points = POINTS | CHECKPOINTS | SHARDING
        if self.point not in points or self.kind not in ("", "kill", "full") or not (times or "1").isdigit():
            raise ValueError(
                f"COULER_FAULT is {wanted!r}, which is no fault: it is POINT, POINT:TIMES or POINT:TIMES:full, and the "
                f"points are {', '.join(points)}"
            )
        self.left = int(times or 1)

    def happen(self) -> None:
        """Kill this process, or raise what a full disk raises, unless it has happened elsewhere."""
        mark = os.environ.get("COULER_FAULT_MARK")
        if mark:
            try:
                os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
        if self.kind == "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.kill(os.getpid(), signal.SIGKILL)


_fault = _Fault(os.environ["COULER_FAULT"]) if os.environ.get("COULER_FAULT") else None


def reach(point: str) -> None:
    """Say that this process is at a point."""
    if _fault is not None and _fault.point == point:
        _fault.left -= 1
        if _fault.left == 0:
            _fault.happen()


def variables() -> dict[str, str]:
    """What a process of ours has to be started with so that it takes part."""
    return {name: os.environ[name] for name in ("COULER_FAULT", "COULER_FAULT_MARK") if name in os.environ}
