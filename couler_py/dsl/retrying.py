"""`couler.last_attempt`: what a retry's condition can ask about the attempt before."""

from __future__ import annotations

from typing import Any

from couler_py.dsl.placeholder import Placeholder
from couler_py.ir import expr as ir
from couler_py.ir.types import FLOAT, INT, STR


class LastAttempt:
    """The attempt before, for `couler.retry(..., when=...)`.

    >>> couler.retry(3, when=couler.last_attempt.exit_code == 137)  # doctest: +SKIP
    """

    @property
    def exit_code(self) -> Any:
        """The exit code of the attempt's main process."""
        return Placeholder(ir.LastRetry("exit_code"), INT, "last_attempt.exit_code")

    @property
    def status(self) -> Any:
        """How it ended: "Failed" or "Error"."""
        return Placeholder(ir.LastRetry("status"), STR, "last_attempt.status")

    @property
    def message(self) -> Any:
        """What the engine said about its end."""
        return Placeholder(ir.LastRetry("message"), STR, "last_attempt.message")

    @property
    def duration(self) -> Any:
        """How long it took, in seconds."""
        return Placeholder(ir.LastRetry("duration"), FLOAT, "last_attempt.duration")

    def __repr__(self) -> str:
        return "<couler.last_attempt: exit_code, status, message, duration>"


last_attempt = LastAttempt()
