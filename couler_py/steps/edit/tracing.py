"""What a rank does and when, for the first rounds of a training, as a timeline of Chrome's trace format.

Times are those of the host: on a GPU they say when work was given to it, and how long the host waited for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from couler_py.steps.trace import Trace

if TYPE_CHECKING:
    from couler_py.steps.edit.channel import Said

COMPUTE, ROUND, WAIT = "compute", "round", "wait"
FLIGHT = "in flight"
OUTSIDE = "outside of layers"
"""What a unit without a name is called."""


class Span(msgspec.Struct, frozen=True):
    """Something that took a time on one rank, from `start` to `end`, in seconds of the rank's own clock."""

    row: str
    name: str
    start: float
    end: float
    facts: dict[str, Any] = {}


class Tracer:
    """Notes spans until so many rounds are over; none at all with 0."""

    def __init__(self, rounds: int = 0, clock: Callable[[], float] = time.monotonic):
        self.spans: list[Span] = []
        self.met = 0.0
        """When this rank first left a collective that all replicas enter: the same instant for all of them."""
        self._left, self._clock = rounds, clock

    @contextmanager
    def span(self, row: str, name: str, **facts: Any) -> Iterator[None]:
        """A time in which something is done; of one row they are nested or apart."""
        noted, start = self._left > 0, self._clock()
        yield
        if noted:
            self.spans.append(Span(row, name, start, self._clock(), facts))

    def spoke(self, said: Said, began: float, asked: float, ended: float) -> None:
        """A collective: when it began, when this rank began to wait for it, and when it was over."""
        if self._left > 0:
            facts = {"bytes": said.size, "how": said.how}
            name = f"{said.channel}: {said.what or OUTSIDE}"
            self.spans.append(Span(FLIGHT, name, began, ended, facts))
            self.spans.append(Span(WAIT, name, asked, ended, facts))
            if said.channel == "between" and not self.met:
                self.met = ended

    def over(self) -> None:
        """A round is over."""
        self._left -= 1


def timeline(told: Sequence[tuple[float, Sequence[Span]]], shards: int) -> Trace:
    """The spans of all ranks, each with the instant at which it met the others; that is the same time in the trace.

    What is in flight at the same time lies in rows of its own. A rank that met nobody has its own clock.
    """
    trace = Trace()
    least = min((span.start - met for met, spans in told for span in spans), default=0.0)
    for rank, (met, spans) in enumerate(told):
        process = f"replica {rank // shards}" + (f", shard {rank % shards}" if shards > 1 else "")
        lanes: list[float] = []
        for span in sorted(spans, key=lambda span: (span.start, -span.end)):
            row = span.row
            if row == FLIGHT:
                lane = next((n for n, end in enumerate(lanes) if end <= span.start), len(lanes))
                lanes[lane : lane + 1] = [span.end]
                row += f" {lane + 1}" if lane else ""
            trace.span(
                span.name, process=process, thread=row, start=span.start - met - least, seconds=span.end - span.start,
                kind=span.row, **span.facts,
            )  # fmt: skip
    return trace
