"""Ranks that are slow or get killed on purpose: a feed that waits, and a process that ends itself."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from couler_py.steps.dlrm.feeding import Batch, Feed
from couler_py.steps.dlrm.task import Emulated


class Slowed:
    """A feed that takes `seconds` longer for each row: what a rank waits counts as what it computes."""

    def __init__(self, feed: Feed, seconds: float):
        self._feed, self._seconds = feed, seconds

    def next(self, rank: int, world: int) -> list[Batch]:
        """What the feed gives, later."""
        found = self._feed.next(rank, world)
        time.sleep(self._seconds * sum(len(each.label) for each in found))
        return found

    def computed(self, seconds: float) -> None:
        """Tell the feed."""
        self._feed.computed(seconds)

    def facts(self) -> dict[str, Any]:
        """Those of the feed."""
        return self._feed.facts()

    def restore(self, facts: Mapping[str, Any]) -> None:
        """Tell the feed."""
        self._feed.restore(facts)


def slowed(feed: Feed, emulated: Emulated, rank: int) -> Feed:
    """The feed of a rank, which waits where the rank is to be slow."""
    seconds = dict(emulated.slow).get(rank, 0.0)
    return Slowed(feed, seconds) if seconds else feed


def lose(emulated: Emulated, rank: int, step: int, marks: Path) -> None:
    """Kill this process where its rank is to be lost after this step, and the node that it is all of, if it is one.

    It happens once: a file among `marks` says that it has.
    """
    if (rank, step) not in emulated.lost:
        return
    marks.mkdir(parents=True, exist_ok=True)
    try:
        os.close(os.open(marks / f"lost-{rank}-{step}", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    if "COULER_MEMBER" in os.environ:  # one node of several: the agent that would start this process again
        os.kill(os.getppid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
