"""How long to wait before a call is tried again: longer each time, never all clients at once, and not for ever."""

from __future__ import annotations

import random
import time
from collections.abc import Callable


class Pacing:
    """Waits between attempts.

    The wait before attempt n is drawn from 0 to `first` x 2^(n-1) seconds, at most `longest`; where the server says how
    long it wants to be left alone, it is that, at most `patience`. `attempts` counts the first one too. Sleeping and
    drawing are given, so that tests wait for nothing.
    """

    def __init__(
        self,
        *,
        attempts: int = 6,
        first: float = 0.25,
        longest: float = 8.0,
        patience: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
        draw: Callable[[float, float], float] = random.uniform,
    ):
        self.attempts = attempts
        self.patience = patience
        self._first = first
        self._longest = longest
        self._sleep = sleep
        self._draw = draw

    def pause(self, attempt: int, asked: float | None = None) -> None:
        """Wait after the attempt of this number (from 1); `asked` is what the server wants, in seconds."""
        if asked is not None:
            self._sleep(min(asked, self.patience))
        else:
            self._sleep(self._draw(0.0, min(self._longest, self._first * 2 ** (attempt - 1))))

    def rest(self, seconds: float) -> None:
        """Wait between two looks at what changes by itself."""
        self._sleep(seconds)
