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
import fcntl
import json
import os
import signal
import socket
import traceback
from collections.abc import Callable

from couler_py.backends.local import collecting, messages, preparing, processes
from couler_py.backends.local.loop import Loop
from couler_py.backends.local.strays import Strays
from couler_py.backends.local.streams import Redactor
from couler_py.backends.local.watched import Attempt, collector, how, made, say_failed, used
from couler_py.backends.local.zygotes import Zygotes
from couler_py.store import content, faults

GRACE = 5.0  # seconds between asking a step to end and killing it
LINGER = 0.5  # seconds that a pipe is read after its step: who got away may hold it open for ever
AGAIN = 0.01  # seconds until what was killed is looked for once more
CHUNK = 1 << 16  # bytes read from a pipe in one turn, so that others have theirs


class Warden:
    """All attempts of a run that go on now."""

    def __init__(self, requests: socket.socket, reports: socket.socket):
        self.loop = Loop((signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1), self.heed)
        self.requests: socket.socket | None = requests
        self.reports = self.loop.outbox(reports)
        self.attempts: dict[str, Attempt] = {}
        self.by_pid: dict[int, Attempt] = {}
        self.collectors: dict[int, Attempt] = {}
        self.clearing: list[Attempt] = []
        self.zygotes = Zygotes(self)
        self.strays = Strays(self)
        self.me = os.getpid()
        self.born = processes.start_time(self.me)
        self.loop.read_from(requests.fileno(), self.take)

    def serve(self) -> None:
        """Look after attempts until the engine wants no more of them and all have ended."""
        while self.requests is not None or self.attempts:
            self.loop.turn()
        self.reports.send()
        self.zygotes.close()

    # ---- what comes in

    def take(self) -> None:
        """A message of the engine; its end is the engine's."""
        assert self.requests is not None
        message, handles = messages.receive(self.requests)
        if message is None:
            self.loop.forget(self.requests.fileno())
            self.requests.close()
            self.requests = None
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
            self.reap()
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
            if self.claim(attempt):
                faults.reach("attempt.claimed")
                self.start(attempt)
            else:
                self.report(attempt, None)
        except (OSError, content.ContentError, processes.StartError) as error:
            attempt.outcome = collecting.failure(error)
            self.settle(attempt)
        except Exception:
            self.lose(attempt)

    def claim(self, attempt: Attempt) -> bool:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        process = os.open(os.path.join(attempt.folder, "process"), flags, 0o600)
        attempt.handles.append(process)
        try:
            fcntl.flock(process, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return not os.path.exists(os.path.join(attempt.folder, "ended"))

    def start(self, attempt: Attempt) -> None:
        request = attempt.request
        outputs = self.streams(attempt)
        try:
            if "zygote" in request:
                self.zygotes.fork(attempt, attempt.handles.pop(0), outputs)
            elif processes.SPAWNS and preparing.is_quick(request):
                preparing.prepare(request)
                with processes.killed_first():
                    pid = processes.spawn(request, outputs)
                self.running(attempt, pid)
                faults.reach("attempt.spawned")
                born = processes.start_time(attempt.pid)
                os.write(attempt.handles[-1], f"{attempt.pid} {born} {self.me} {self.born}\n".encode())
                faults.reach("attempt.started")
            else:
                self.running(attempt, self.fork(attempt, outputs))
        finally:
            for handle in set(outputs):
                os.close(handle)
        if request.get("timeout") is not None:
            self.after(attempt, request["timeout"], lambda: self.end(attempt, "timeout"))

    def streams(self, attempt: Attempt) -> tuple[int, int]:
        """The descriptors of the step's stdout and stderr: the log itself, unless something must be looked at."""
        log = os.open(os.path.join(attempt.folder, "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        secrets = [text.encode("utf-8", "surrogateescape") for text in attempt.request["redact"] if text]
        stdout_file = attempt.request.get("stdout")
        if not secrets and not stdout_file:
            return log, log
        attempt.handles.insert(0, log)
        said = Redactor(log, made(stdout_file), secrets)
        return self.pipe(attempt, said), self.pipe(attempt, Redactor(log, None, secrets))

    def pipe(self, attempt: Attempt, redactor: Redactor) -> int:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        attempt.pipes[reader] = redactor
        self.loop.read_from(reader, lambda: self.copy(attempt, reader))
        return writer

    def fork(self, attempt: Attempt, outputs: tuple[int, int]) -> int:
        """Start a step by a copy of this process, which first makes its preparations, however long they take."""
        pid = self.copied()
        if pid:
            return pid
        try:
            processes.detach(attempt.folder, f"{self.me} {self.born}", self.me, outputs)
            preparing.prepare(attempt.request)
            processes.become(attempt.request)
        except (OSError, content.ContentError, processes.StartError) as error:
            collecting.condemn(attempt.folder, error)
        except BaseException:
            traceback.print_exc()
        os._exit(127)

    def copied(self) -> int:
        """Fork. The child hears no signals as a warden would: what it is sent from now on is for the step."""
        signal.pthread_sigmask(signal.SIG_BLOCK, processes.DEFAULTS)
        pid = os.fork()
        if not pid:
            signal.set_wakeup_fd(-1)
            for number in processes.DEFAULTS:
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, processes.DEFAULTS)
        return pid

    def running(self, attempt: Attempt, pid: int) -> None:
        """An attempt has its process."""
        attempt.pid, attempt.running = pid, True
        self.by_pid[pid] = attempt
        if attempt.reason:  # asked to end while it was forked
            self.ask(attempt)

    # ---- an attempt goes on

    def copy(self, attempt: Attempt, pipe: int) -> None:
        """Take some of what a step writes."""
        try:
            data = os.read(pipe, CHUNK)
        except BlockingIOError:
            return
        if not data:
            self.close(attempt, pipe)
            return
        try:
            attempt.pipes[pipe].write(data)
        except OSError as error:  # a step whose words can't be kept must not go on
            attempt.outcome = collecting.failure(error)
            self.signal(attempt, signal.SIGKILL)
            self.leave(attempt)

    def close(self, attempt: Attempt, pipe: int) -> None:
        self.loop.forget(pipe)
        os.close(pipe)
        try:
            attempt.pipes.pop(pipe).close()
        except OSError as error:
            attempt.outcome = collecting.failure(error)
        if attempt.ended and not attempt.pipes:
            self.settle(attempt)

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

    def after(self, attempt: Attempt, seconds: float, action: Callable[[], None]) -> None:
        """Do something later, if the attempt still goes on then."""
        attempt.timers.append(self.loop.after(seconds, action))

    def signal(self, attempt: Attempt, number: int) -> None:
        if attempt.running and not processes.signal_group(attempt.pid, number):
            with contextlib.suppress(ProcessLookupError):
                os.kill(attempt.pid, number)  # it has no session yet

    # ---- an attempt ends

    def reap(self) -> None:
        """Take leave of children that have ended."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            self.exited(pid, status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
        clearing, self.clearing = self.clearing, []
        for attempt in clearing:
            self.clear(attempt)

    def exited(self, pid: int, status: int, cpu: float, memory: int) -> None:
        """A process has ended: a step's, or one that collected what a step has left, a zygote, or a stray."""
        if pid in self.zygotes.pids:
            self.zygotes.ended(pid)
        elif pid in self.collectors:
            attempt = self.collectors.pop(pid)
            self.report(attempt, collecting.read_record(attempt.folder))
        elif pid in self.by_pid:
            attempt = self.by_pid.pop(pid)
            attempt.running = False
            if not attempt.outcome:
                attempt.outcome = how(attempt, os.waitstatus_to_exitcode(status))
            attempt.outcome |= used(cpu, memory)
            self.clear(attempt)

    def clear(self, attempt: Attempt) -> None:
        """End what a step has left running, in its group or elsewhere; then, take what it has written."""
        alive = processes.signal_group(attempt.pid, signal.SIGKILL)
        alive |= self.strays.kill(attempt)
        if alive:
            self.clearing.append(attempt)
            self.loop.after(AGAIN, self.reap)
            return
        attempt.ended = True
        if attempt.pipes:
            self.after(attempt, LINGER, lambda: self.leave(attempt))
        else:
            self.settle(attempt)

    def leave(self, attempt: Attempt) -> None:
        """Read no more from who holds the pipes of a step that has ended."""
        for pipe in list(attempt.pipes):
            self.close(attempt, pipe)

    def settle(self, attempt: Attempt) -> None:
        """Write how an attempt ended: here, or, where that takes long, by a process of its own."""
        faults.reach("attempt.exited")
        record = {"started": attempt.started, "digest": attempt.request["digest"], "exit": None, **attempt.outcome}
        attempt.request["move"] = not self.strays.may_have_left(attempt)  # who lives could still write to a file
        try:
            if collecting.is_quick(attempt.request):
                self.report(attempt, collecting.finish(attempt.request, record))
                return
            pid = self.copied()
            if pid:
                self.collectors[pid] = attempt
                return
        except Exception:
            self.lose(attempt)
            return
        collector(attempt, record)

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
