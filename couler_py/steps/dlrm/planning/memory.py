"""How much memory a job will need, and when a node runs out, from what it had so far.

Embedding tables that keep meeting new ids grow by Heaps' law, others in a line or not at all. What is predicted for the
end is the larger of both laws, with a margin: Heaps' law alone has fallen short by 6 % where ids are very uneven.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from couler_py.steps.dlrm.data.counting import growth

MARGIN = 0.15
USABLE = 0.9
"""The part of a limit that a prediction may fill."""
UNSURE = 0.05
"""What a foretold end may be wrong by before it is taken for below the limit."""
STATES = {"sgd": 0.0, "adagrad": 1.0, "adam": 2.0}
"""Numbers of the optimizer for each number of a table; of row-wise Adagrad it is one for each row."""
WINDOW = 10


class Reading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Bytes that a node had after so many rows."""

    rows: float
    bytes: float


class Forecast(msgspec.Struct, frozen=True):
    """Bytes at the end of a job by each law, and what to ask for."""

    law: Literal["flat", "linear", "heaps"]
    """The law that needs more."""
    linear: float
    heaps: float
    peak: float
    """With the margin."""


def table_bytes(rows: int, width: int, optimizer: str = "rowwise_adagrad") -> float:
    """Bytes of a table of float32 with its optimizer's state.

    Raises `ValueError` for an optimizer that isn't known.

    >>> table_bytes(1000, 16), table_bytes(1000, 16, "adam")
    (68000.0, 192000.0)
    """
    if optimizer == "rowwise_adagrad":
        return 4.0 * rows * (width + 1)
    if optimizer not in STATES:
        raise ValueError(f"no optimizer of rows is called {optimizer!r}")
    return 4.0 * rows * width * (1 + STATES[optimizer])


def activation_bytes(batch: int, features: int, width: int, copies: float = 3.0) -> float:
    """Bytes that a worker holds of a mini-batch: pooled vectors with their gradients, and 8 bytes for an id."""
    return 4.0 * copies * batch * (features + 1) * width + 8.0 * batch * features


def forecast(readings: Sequence[Reading], rows: float, base: float = 0.0, margin: float = MARGIN) -> Forecast:
    """Bytes after so many rows; `base` are those before the first row, which Heaps' law doesn't count.

    The line is fitted to the last `WINDOW` readings, Heaps' law to the later half of them all, and only where growth
    gets slower, as that law has it. Never below what there was. Raises `ValueError` with fewer than two readings.
    """
    if len(readings) < 2:
        raise ValueError("a forecast takes two readings")
    highest = max(each.bytes for each in readings)
    late = readings[-WINDOW:]
    slope, start = np.polyfit([each.rows for each in late], [each.bytes for each in late], 1)
    linear = max(highest, float(start + slope * rows))
    half = readings[len(readings) // 2 :] if len(readings) > 3 else readings
    law = growth([(max(1, round(each.rows)), max(1, round(each.bytes - base))) for each in half])
    heaps = max(highest, base + law.after(round(rows))) if law is not None and 0 < law.exponent <= 1 else highest
    needed = max(linear, heaps)
    name: Literal["flat", "linear", "heaps"] = "linear" if linear >= heaps else "heaps"
    return Forecast("flat" if needed <= 1.02 * highest else name, linear, heaps, needed * (1 + margin))


class Alarm(msgspec.Struct, frozen=True):
    """A node is about to run out."""

    report: int
    """The number of the report that showed it, from 0."""
    reports_left: float
    """Reports until the limit is reached, as things go."""


class Watch:
    """Reports of one node, held against its limit: says when it will be full, `lead` reports ahead and no sooner.

    What counts is the most that there was up to each report, so that memory that is given back and taken again doesn't
    look like growth. Beyond the line through the last of these, the largest rise between two reports may come at once.
    """

    def __init__(self, limit: float, lead: int = 4, warm_up: int = 2):
        if limit <= 0 or lead < 1:
            raise ValueError(f"a limit of {limit} bytes, {lead} reports ahead: both are above 0")
        self.limit, self._lead, self._warm_up = limit, lead, warm_up
        self._highest: list[float] = []
        self._rise = 0.0

    def report(self, bytes_: float) -> Alarm | None:
        """Hear of another report; an alarm where the node will be full before long."""
        before = self._highest[-1] if self._highest else bytes_
        highest = max(before, bytes_)
        if len(self._highest) > self._warm_up:
            self._rise = max(self._rise, highest - before)
        self._highest.append(highest)
        number = len(self._highest) - 1
        if number < self._warm_up:
            return None
        left = self._left()
        return Alarm(number, left) if left <= self._lead else None

    def _left(self) -> float:
        late = self._highest[max(self._warm_up, len(self._highest) - WINDOW) :]
        room = self.limit - late[-1] - self._rise
        if room <= 0:
            return 0.0
        if len(late) < 2 or late[-1] <= late[0]:
            return math.inf
        middle = (len(late) - 1) / 2
        rise = sum((number - middle) * value for number, value in enumerate(late))
        return room * sum((number - middle) ** 2 for number in range(len(late))) / rise
