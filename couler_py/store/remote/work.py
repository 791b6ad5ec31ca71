"""What a transfer works with: how patient it is, how it is ended early, and who helps it."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import msgspec

from couler_py.store.remote.problems import Halted, MissingError, RemoteError, read

T = TypeVar("T")


class Patience(msgspec.Struct, frozen=True):
    """How often something is tried, and the pauses between, in seconds: each twice the last, up to the longest.

    As AWS advises, a pause is of random length up to its bound, so that many clients don't come back together
    ("Exponential Backoff And Jitter", AWS Architecture Blog, 2015).
    """

    tries: int = 8
    first: float = 0.5
    longest: float = 20.0

    def pause(self, failures: int) -> float:
        return random.uniform(0.5, 1.0) * min(self.longest, self.first * 2.0 ** (failures - 1))  # noqa: S311 - no secret


PATIENT = Patience()
"""For transfers: about a minute in all."""
BRIEF = Patience(tries=3)
"""For the first look at a store, which a person waits for."""


class Work:
    """What the transfers of one process share. In `records` stands what an upload that was cut off goes on with."""

    def __init__(self, parts: ThreadPoolExecutor, records: Path, patience: Patience = PATIENT):
        self.parts = parts
        self.records = records
        self.patience = patience
        self.halt = threading.Event()

    def check(self) -> None:
        """Raises `Halted` once the transfers are to end."""
        if self.halt.is_set():
            raise Halted

    def patiently(self, what: Callable[[], T], url: str, patience: Patience | None = None) -> T:
        """The result of a call of a driver, tried again while what is wrong may pass.

        Raises `MissingError`, `RemoteError` with the address, and `Halted`.
        """
        patience = patience or self.patience
        failures = 0
        while True:
            self.check()
            try:
                return what()
            except (Halted, RemoteError):
                raise
            except Exception as error:  # drivers have errors of their own
                problem = read(error)
                failures += 1
                if problem.missing:
                    raise MissingError(f"{url} isn't in the store") from error
                if not problem.passes:
                    raise RemoteError(f"{url}: {problem.text}") from error
                if failures >= patience.tries:
                    raise RemoteError(f"{url}: {problem.text} (tried {failures} times)") from error
            self.halt.wait(patience.pause(failures))
