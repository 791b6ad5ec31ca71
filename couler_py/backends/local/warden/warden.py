"""The process between the engine and the steps of a run: starts them, watches them, keeps what they leave. Stdlib only.

The engine starts one warden (`python bare.py warden …`), a single thread that looks after all attempts. It outlives
the engine: a step that runs when the engine is killed is finished as always, and the next engine reads its record.
What they share of an attempt is a folder:

process   locked (flock) by the warden while it looks after the attempt; the ids and start times of step and warden
log       what the step wrote
verdict   what the step, or who starts it, says of its end; may be missing
ended     made by an engine that took the attempt over: whoever comes late must not start it
stop      made, as `kill` is, by an engine that wants it to end, which then sends SIGUSR1 to the warden
record    how the attempt ended, with its outputs
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
from collections.abc import Callable

from couler_py.backends.local.warden import collecting, messages, processes, starting
from couler_py.backends.local.warden.ends import Ends
from couler_py.backends.local.warden.loop import Loop
from couler_py.backends.local.warden.pipes import Pipes
from couler_py.backends.local.warden.watched import Attempt, how, say_failed
from couler_py.backends.local.warden.zygotes import Zygotes
from couler_py.store import content, faults

GRACE = 5.0  # seconds between asking a step to end and killing it


class Warden:
    """All attempts of a run that go on now."""

    def __init__(self, requests: socket.socket, reports: socket.socket):
        self.loop = Loop((signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1), self.heed)
        self.requests: socket.socket | None = requests
        self.reports = self.loop.outbox(reports)
        self.attempts: dict[str, Attempt] = {}
        self.by_pid: dict[int, Attempt] = {}
        self.zygotes = Zygotes(self)
        self.pipes = Pipes(self)
        self.ends = Ends(self)
        self.me = os.getpid()
        self.born = processes.start_time(self.me)
        self.loop.read_from(requests.fileno(), self.take)

    def serve(self) -> None:
        """Look after attempts until the engine wants no more of them and all have ended."""
        while self.requests is not None or self.attempts:
            self.loop.turn()
        self.reports.send()
        self.zygotes.close()
        self.ends.strays.end()

    # ---- what comes in

    def take(self) -> None:
        """A message of the engine; its end is the engine's."""
        assert self.requests is not None
        message, handles = messages.receive(self.requests)
        if message is None:
            self.loop.forget(self.requests.fileno())
            self.requests.close()
            self.requests = None
        elif "ping" in message:
            self.reports.put(b'{"id": "", "record": null}\n')
        elif "key" in message:
            self.zygotes.describe(message)
        elif "end" in message:
            if message["end"] in self.attempts:
                self.end(self.attempts[message["end"]], "stopped", kill=message["kill"])
        else:
            self.begin(Attempt(message, handles))

    def heed(self, signals: bytes) -> None:
        """A child has ended, an engine wants attempts to end, or this machine is shut down."""
        if signal.SIGCHLD in signals:
            self.ends.reap()
        if signal.SIGUSR1 in signals:
            for attempt in list(self.attempts.values()):
                kill = os.path.exists(os.path.join(attempt.folder, "kill"))
                if kill or os.path.exists(os.path.join(attempt.folder, "stop")):
                    self.end(attempt, "stopped", kill=kill)
        if signal.SIGTERM in signals:
            for attempt in list(self.attempts.values()):
                self.end(attempt, "stopped")

    # ---- an attempt begins

    def begin(self, attempt: Attempt) -> None:
        """Start the step, unless an engine that believes its warden dead has taken it over."""
        self.attempts[attempt.id] = attempt
        try:
            if starting.claim(attempt):
                faults.reach("attempt.claimed")
                starting.start(self, attempt)
            else:
                self.report(attempt, None)
        except (OSError, content.ContentError, processes.StartError) as error:
            attempt.outcome = collecting.failure(error)
            self.ends.settle(attempt)
        except Exception:
            self.lose(attempt)

    def running(self, attempt: Attempt, pid: int) -> None:
        """An attempt has its process."""
        attempt.pid, attempt.running = pid, True
        self.by_pid[pid] = attempt
        if attempt.reason:  # asked to end while it was forked
            self.ask(attempt)

    # ---- an attempt goes on

    def end(self, attempt: Attempt, reason: str, *, kill: bool = False) -> None:
        """Ask everything in a step's group to end, and make sure of it later; with `kill`, at once."""
        if attempt.ended or attempt.id not in self.attempts:
            return
        attempt.killed |= kill
        if not attempt.reason:
            attempt.reason = reason
            self.ask(attempt)
        elif kill:
            self.signal(attempt, signal.SIGKILL)

    def ask(self, attempt: Attempt) -> None:
        if attempt.running:
            self.signal(attempt, signal.SIGKILL if attempt.killed else signal.SIGTERM)
            grace = attempt.request.get("grace", GRACE)
            self.after(attempt, grace, lambda: self.signal(attempt, signal.SIGKILL))
        if "zygote" in attempt.request:  # it may be stuck, before it has forked the step or before it tells of its end
            self.after(attempt, attempt.request.get("grace", GRACE) + GRACE, lambda: self.zygotes.give_up(attempt))

    def unbegun(self, attempt: Attempt) -> None:
        """Record the end of an attempt that was to end before it had its process."""
        attempt.outcome, attempt.ended = how(attempt, -signal.SIGKILL), True
        self.ends.settle(attempt)

    def after(self, attempt: Attempt, seconds: float, action: Callable[[], None]) -> None:
        """Do something later, if the attempt still goes on then."""
        attempt.timers.append(self.loop.after(seconds, action))

    def signal(self, attempt: Attempt, number: int) -> None:
        if attempt.running and not processes.signal_group(attempt.pid, number):
            with contextlib.suppress(ProcessLookupError):
                os.kill(attempt.pid, number)  # it has no session yet

    # ---- an attempt ends

    def lose(self, attempt: Attempt) -> None:
        """Give up an attempt: what happened is beyond the step, and stands in its log."""
        say_failed(attempt)
        self.by_pid.pop(attempt.pid, None)
        if attempt.running:
            processes.signal_group(attempt.pid, signal.SIGKILL)
        self.report(attempt, None)

    def report(self, attempt: Attempt, record: bytes | None) -> None:
        """Tell the engine that an attempt has ended; without a record, nobody knows how."""
        del self.attempts[attempt.id]
        for timer in attempt.timers:
            self.loop.call_off(timer)
        for handle in attempt.handles:
            os.close(handle)
        self.reports.put(b'{"id": %b, "record": %b}\n' % (json.dumps(attempt.id).encode(), record or b"null"))


def main(arguments: list[str]) -> None:
    """Serve an engine through two sockets, given as descriptors."""
    requests, reports = (socket.socket(fileno=int(handle)) for handle in arguments)
    for channel in (requests, reports):
        channel.set_inheritable(False)  # no step may hold them
    processes.adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Warden(requests, reports).serve()
