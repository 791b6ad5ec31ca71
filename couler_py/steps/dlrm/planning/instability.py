"""What to do about a slow, lost or filling node: each way's time to the end of the job, and the shortest.

DLRover-RM's third stage. A replacement starts beside the old node while training goes on (seamless), or training stops
first; then the state is saved and loaded, unless it is a worker that comes or goes.
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from couler_py.steps.dlrm.planning.decisions import Decision, Rejected, Value

Trouble = Literal["slow worker", "hot server", "lost worker", "lost server", "filling server", "filling worker"]

OUT_OF_MEMORY = "out of memory: it needed more than "
"""How a training begins to say that it was ended before memory ran out: history counts it as out of memory by that."""


class Times(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Seconds that things take. The defaults are those of DLRover's figure of a hot server (docs/figures)."""

    begin: float = 300.0
    """A new node, until it works."""
    save: float = 180.0
    load: float = 180.0
    quick_save: float = 60.0
    """Through memory."""
    quick_load: float = 120.0


class Way(msgspec.Struct, frozen=True):
    """Something to do: `beside` seconds of training as before, a `pause`, then `after` rows a second."""

    name: str
    beside: float
    pause: float
    after: float
    lost: float = 0.0
    """Rows that are to be trained on once more."""

    def seconds(self, left: float, before: float) -> float:
        """Seconds to the end, with so many rows left at so many rows a second.

        A job that ends before the new node works doesn't wait for it.
        """
        if before > 0 and left / before <= self.beside:
            return left / before
        rest = left + self.lost - before * self.beside
        return self.beside + self.pause + (rest / self.after if self.after > 0 else float("inf"))


def decide(
    trouble: Trouble,
    *,
    left: float,
    now: float,
    healthy: float,
    lost: float = 0.0,
    times: Times = Times(),
    until_full: float | None = None,
) -> tuple[Way, Decision]:
    """The way that ends soonest and its decision.

    `left` are rows, `now` and `healthy` rows a second as things are and with a new node, `lost` rows since the last
    checkpoint, `until_full` seconds until a filling node is out of memory: ways that begin later lose that race.
    """
    ways = _ways(trouble, now, healthy, lost, times, until_full)
    seconds = {way.name: way.seconds(left, now) for way in ways}
    best = min(ways, key=lambda way: seconds[way.name])
    rejected = tuple(
        Rejected(
            way.name,
            "it never ends" if seconds[way.name] == float("inf") else
            f"it takes {seconds[way.name] - seconds[best.name]:,.0f} s longer",
            {"seconds": seconds[way.name]} if math.isfinite(seconds[way.name]) else {},  # JSON has no infinity
        )
        for way in ways
        if way is not best
    )  # fmt: skip
    inputs: dict[str, Value] = {
        "trouble": trouble,
        "rows left": left,
        "rows a second": now,
        "with a new node": healthy,
    }
    if until_full is not None:
        inputs["seconds until full"] = until_full
    why = f"the job ends after {seconds[best.name]:,.0f} s"
    return best, Decision("instability", best.name, why, inputs, rejected)


def _ways(
    trouble: Trouble, now: float, healthy: float, lost: float, times: Times, until_full: float | None
) -> list[Way]:
    stop = Way("stop and migrate", 0.0, times.save + times.begin + times.load, healthy)
    seamless = Way("migrate beside training", times.begin, times.quick_save + times.quick_load, healthy)
    stay = Way("go on as it is", 0.0, 0.0, now)
    if trouble in ("slow worker", "lost worker"):
        return [stay, Way("replace the worker beside training", times.begin, 0.0, healthy)]
    if trouble == "hot server":
        return [stay, stop, seamless]
    if trouble == "lost server":
        again = Way("start a new server from the newest checkpoint", 0.0, times.begin + times.quick_load, healthy, lost)
        return [again, Way("start the whole job again", 0.0, times.begin + times.load, healthy, lost)]
    dies = Way("go on as it is", 0.0, float("inf"), now)
    if trouble == "filling worker":
        pause = times.quick_save + times.begin + times.quick_load
        return [dies, Way("save, and begin again with the memory that is needed", 0.0, pause, healthy)]
    ways = [dies, stop]
    return [*ways, seamless] if until_full is None or until_full > times.begin + times.quick_save else ways
