"""Ranks that outlive each other: started here, and started again where one is lost, while the others go on.

`python -m couler_py.steps.hybrid.supervisor PROCESSES ARGUMENT …`. Ranks are forks of this process, which has imported
all that they need, so that one that takes a lost one's place is there at once. Nothing here computes with torch, and
CUDA is never touched: it can't be forked.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess

RESTARTS = 5
"""How many processes that ended are replaced, of all ranks together; after that the others go on without."""
LOOK = 0.05
"""Seconds between two looks at the processes."""


def supervise(processes: int, *arguments: str) -> None:
    """Train in so many processes of this machine, which go on when some of them are lost.

    Arguments are those of `python -m couler_py.steps.hybrid`, but for where and as whom a rank meets the others.
    Raises `RuntimeError` where no rank is left: what they said stands above in the log.
    """
    environment = {"OMP_NUM_THREADS": "1"} | os.environ  # as torchrun: ranks share the cores
    command = [sys.executable, "-m", "couler_py.steps.hybrid.supervisor", str(processes), *arguments]
    ended = subprocess.run(command, check=False, env=environment).returncode
    if ended:
        raise RuntimeError(f"the training ended with {ended}: what its ranks said stands above")


def main() -> int:
    """Start the ranks, and stay until they have come to the end."""
    parser = argparse.ArgumentParser(prog="python -m couler_py.steps.hybrid.supervisor", description=main.__doc__)
    parser.add_argument("processes", type=int)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="those of python -m couler_py.steps.hybrid")
    given = parser.parse_args()
    supervisor = Supervisor(given.processes, given.arguments)
    try:
        while not supervisor.look():
            time.sleep(LOOK)
    except RuntimeError as error:
        _say(str(error))
        return 1
    finally:
        supervisor.end()
    return 0


class Supervisor:
    """Starts ranks, and calls generations of them (`runtime/rendezvous.py`) as some are lost and others come."""

    def __init__(self, count: int, arguments: Sequence[str], restarts: int = RESTARTS):
        from couler_py.steps.edit.members import server

        # what ranks need, before they are forked
        from couler_py.steps.hybrid import reporting  # noqa: F401
        from couler_py.steps.hybrid.runtime import surviving  # noqa: F401
        from couler_py.steps.models import folders  # noqa: F401

        self._arguments, self._count, self._left = list(arguments), count, restarts
        self._store = server(0)
        self._number = 0
        self._members = set(range(count))
        """Seats of the newest generation whose processes live."""
        self._starts = dict.fromkeys(range(count), 0)
        self._formed: set[int] = set()
        """Seats of those that train: of the newest generation whose group has formed."""
        self._over = False
        """Whether somebody has come to the end."""
        self._call(0)
        self._running = {seat: self._started(seat) for seat in range(count)}

    def look(self) -> bool:
        """See who ended and who is ready; gives whether the training is over. Raises `RuntimeError` where it failed."""
        for seat, process in list(self._running.items()):
            if process.exitcode is not None:
                del self._running[seat]
                self._ended(seat, process.exitcode)
        if self._over:
            return not self._formed
        if self._is_settled:
            self._formed = set(self._members)
            self._let_in()
        return False

    def end(self) -> None:
        """End the processes that are left, such as those that came too late."""
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            process.join()

    def _ended(self, seat: int, code: int) -> None:
        if code == 0 and not self._over:
            self._over = True
            if self._is_settled:
                self._formed = set(self._members)
        was_member, was_training = seat in self._members, seat in self._formed
        self._members.discard(seat)
        self._formed.discard(seat)
        if code == 0 or (self._over and not was_training):
            return
        _say(f"rank {seat} is lost: its process ended with {code}")
        if not self._members or self._over:
            raise RuntimeError("no rank is left to go on")
        if was_member:
            self._call(self._number + 1)
        if self._left:
            self._left -= 1
            self._starts[seat] += 1
            self._running[seat] = self._started(seat)

    def _let_in(self) -> None:
        from couler_py.steps.hybrid.runtime.rendezvous import is_here

        waiting = (seat for seat in self._running if seat not in self._members)
        ready = [seat for seat in waiting if is_here(self._store, seat, self._starts[seat])]
        if ready:
            self._members.update(ready)
            self._call(self._number + 1)

    @property
    def _is_settled(self) -> bool:
        """Whether the newest generation has formed: one before that might part those who look at two of them."""
        from couler_py.steps.hybrid.runtime.rendezvous import is_settled

        return is_settled(self._store, self._number, self._size)

    def _call(self, number: int) -> None:
        from couler_py.steps.hybrid.runtime.rendezvous import call

        self._number, self._size = number, len(self._members)
        call(self._store, number, sorted(self._members))

    def _started(self, seat: int) -> BaseProcess:
        from couler_py.steps.hybrid.__main__ import main

        where = ["--meet", f"127.0.0.1:{self._store.port}", "--seats", str(self._count)]
        who = ["--seat", str(seat), "--start", str(self._starts[seat])]
        process = multiprocessing.get_context("fork").Process(target=main, args=([*self._arguments, *where, *who],))
        process.start()
        return process


def _say(what: str) -> None:
    print(what, flush=True)  # noqa: T201 - the step's log


if __name__ == "__main__":
    sys.exit(main())
