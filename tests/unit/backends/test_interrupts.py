"""Signals that come while something is waited for."""

from __future__ import annotations

import queue
import signal
import sys
import threading
import time

import pytest

from couler_py.backends.interrupts import awaited

MOST = 20.0
"""Seconds after which the wait is ended, so that a test that fails ends too."""


def test_a_signal_ends_a_wait_that_it_does_not_wake() -> None:
    """One that another thread gets wakes nobody, and neither does one that comes right before the wait."""
    told: queue.SimpleQueue[str] = queue.SimpleQueue()
    ended: list[str] = []

    def end() -> None:
        ended.append("nobody was interrupted")
        told.put(ended[0])

    late = threading.Timer(MOST, end)
    late.start()
    waiter = threading.get_ident()

    def signal_itself() -> None:
        while sys._current_frames()[waiter].f_code is not awaited.__code__:
            time.sleep(0.001)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=signal_itself).start()
        with pytest.raises(KeyboardInterrupt):
            awaited(told)
    finally:
        signal.signal(signal.SIGINT, before)
        late.cancel()
    assert not ended


def test_what_is_waited_for_is_given_in_its_order() -> None:
    told: queue.SimpleQueue[str] = queue.SimpleQueue()
    for each in ("first", "second"):
        told.put(each)
    assert [awaited(told), awaited(told)] == ["first", "second"]
