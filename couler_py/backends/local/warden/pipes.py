"""What steps write, where it must be looked at on its way to the log. Standard library only."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from couler_py.backends.local.warden import collecting
from couler_py.backends.local.warden.streams import Redactor
from couler_py.backends.local.warden.watched import made

if TYPE_CHECKING:
    from couler_py.backends.local.warden.warden import Warden
    from couler_py.backends.local.warden.watched import Attempt

CHUNK = 1 << 16  # bytes read from a pipe in one turn, so that others have theirs


class Pipes:
    """The pipes that a warden reads from."""

    def __init__(self, warden: Warden):
        self._warden = warden

    def open(self, attempt: Attempt) -> tuple[int, int]:
        """The descriptors of the step's stdout and stderr: the log itself, unless something must be looked at."""
        log = os.open(os.path.join(attempt.folder, "log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        secrets = [text.encode("utf-8", "surrogateescape") for text in attempt.request["redact"] if text]
        stdout_file = attempt.request.get("stdout")
        if not secrets and not stdout_file:
            return log, log
        attempt.handles.insert(0, log)
        said = Redactor(log, made(stdout_file), secrets)
        return self._pipe(attempt, said), self._pipe(attempt, Redactor(log, None, secrets))

    def leave(self, attempt: Attempt) -> None:
        """Read no more from who holds the pipes of a step that has ended."""
        for pipe in list(attempt.pipes):
            self._close(attempt, pipe)

    def _pipe(self, attempt: Attempt, redactor: Redactor) -> int:
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        attempt.pipes[reader] = redactor
        self._warden.loop.read_from(reader, lambda: self._copy(attempt, reader))
        return writer

    def _copy(self, attempt: Attempt, pipe: int) -> None:
        """Take some of what a step writes."""
        try:
            data = os.read(pipe, CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._close(attempt, pipe)
            return
        try:
            attempt.pipes[pipe].write(data)
        except OSError as error:  # a step whose words can't be kept must not go on
            attempt.outcome = collecting.failure(error)
            self._warden.signal(attempt, signal.SIGKILL)
            self.leave(attempt)

    def _close(self, attempt: Attempt, pipe: int) -> None:
        self._warden.loop.forget(pipe)
        os.close(pipe)
        try:
            attempt.pipes.pop(pipe).close()
        except OSError as error:
            attempt.outcome = collecting.failure(error)
        if attempt.ended and not attempt.pipes:
            self._warden.ends.settle(attempt)
