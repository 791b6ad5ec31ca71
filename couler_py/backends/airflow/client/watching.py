"""Following a run to its end by asking again and again: Airflow's API tells nothing by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from couler_py.backends.base import FINISHED, RunStatus
from couler_py.backends.rest.failures import BrokenError, BusyError, NoAnswerError
from couler_py.backends.rest.pacing import Pacing

SHORTEST, LONGEST = 1.0, 10.0
"""Seconds between two looks: short while something changes, longer and longer while nothing does."""

SHARE = 4.0
"""So many times as long as a look took is the pause after it, so that large runs keep the server free for others."""


def changes(
    look: Callable[[], RunStatus], pacing: Pacing, sleep: Callable[[float], None] = time.sleep
) -> Iterator[RunStatus]:
    """The status each time it has changed, until the run has ended.

    What may be over in a moment is waited for, as often as the pacing allows. Raises the `ApiError` that came last.
    """
    last, pause, failed = None, SHORTEST, 0
    while True:
        began = time.monotonic()
        try:
            found = look()
        except (NoAnswerError, BrokenError, BusyError) as error:
            failed += 1
            if failed >= pacing.attempts:
                raise
            pacing.pause(failed, error.after)
            continue
        failed = 0
        if found != last:
            last, pause = found, SHORTEST
            yield found
        else:
            pause = min(LONGEST, pause * 1.5)
        if found.status in FINISHED:
            return
        sleep(min(LONGEST, max(pause, SHARE * (time.monotonic() - began))))
