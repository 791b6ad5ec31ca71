"""What a sweep may try: `couler.space.real`, `integer` and `choice`, each for one argument of the step."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

from couler_py.dsl.problems import fail
from couler_py.ir.sweep import Choice, Dimension, Integer, Real

FARTHEST = 2**53
"""Whole numbers beyond it have no floats of their own, and samplers work with floats."""


class Dimensions:
    """What a sweep may try for an argument of its step: see `couler.sweep`. It is `couler.space`.

    >>> space = {
    ...     "kernel": couler.space.choice("linear", "rbf"),
    ...     "c": couler.space.real(1e-3, 1e3, log=True),
    ...     "gamma": couler.space.real(1e-4, 10, log=True).only(kernel="rbf"),
    ... }
    """

    @staticmethod
    def real(low: float, high: float, *, log: bool = False, points: int = 0) -> Real:
        """A number from `low` to `high`; with `log`, every order of magnitude is as likely. A grid takes `points`.

        Raises `RecordingError` for an empty range, and for one that holds 0 with `log`.
        """
        ends: tuple[Any, ...] = (low, high)
        if (
            not all(isinstance(each, int | float) and math.isfinite(each) for each in ends)
            or low > high
            or (log and low <= 0)
        ):
            fail("CLR162", f"there are no numbers from {low} to {high}{' by their logarithm' if log else ''}")
        if not math.isfinite(float(high) / float(low) if log else float(high) - float(low)):
            fail("CLR162", f"from {low} to {high} is further than a float can say", help="give a narrower range")
        _check_points(points)
        return Real(float(low), float(high), log, points)

    @staticmethod
    def integer(low: int, high: int, *, step: int = 1, log: bool = False, points: int = 0) -> Integer:
        """A whole number from `low` to `high`, both included, every `step`-th of them. A grid takes all, or `points`.

        Raises `RecordingError` for an empty range, and for `log` with a step or with numbers below 1.
        """
        if type(low) is not int or type(high) is not int or low > high or type(step) is not int or step < 1:
            fail("CLR162", f"there are no whole numbers from {low!r} to {high!r} in steps of {step!r}")
        if log and (low < 1 or step != 1):
            fail("CLR162", "numbers by their logarithm begin at 1 or above, and have no step")
        if max(abs(low), abs(high)) > FARTHEST:
            fail("CLR162", f"{low} to {high} has numbers beyond {FARTHEST:,}, which no sampler tells apart")
        _check_points(points)
        return Integer(low, high - (high - low) % step, step, log, points)

    @staticmethod
    def choice(*values: Any) -> Choice:
        """One of some values: None, bool, int, float or str.

        Raises `RecordingError` for none at all, for one that is there twice, and for other types.
        """
        if not values:
            fail("CLR162", "a choice needs values", help='couler.space.choice("linear", "rbf")')
        for number, value in enumerate(values):
            if (
                not isinstance(value, None | bool | int | float | str)
                or value in (math.inf, -math.inf)
                or value != value
            ):
                help_ = "give it a name, and look the name up in the step"
                fail("CLR162", f"a choice can't hold {value!r}", help=help_)
            if value in values[:number]:
                fail("CLR162", f"the choice holds {value!r} twice")
        return Choice(tuple(values))


space = Dimensions()


def read(space: Mapping[str, Any]) -> dict[str, Dimension]:
    """A space as people write it: a list stands for a choice. Settings follow those that they depend on.

    Raises `RecordingError` for an empty one, and for a condition on a setting that isn't there, can't have the value,
    or depends on this one.
    """
    if not isinstance(space, Mapping):
        fail("CLR162", f"the space of a sweep is a dict of what to try by argument, not {space!r}")
    found: dict[str, Dimension] = {}
    for name, value in space.items():
        if isinstance(value, Real | Integer | Choice):
            found[name] = value
        elif isinstance(value, list | tuple):
            found[name] = Dimensions.choice(*value)
        else:
            fail(
                "CLR162",
                f"{name} of the space is {value!r}, which says no values to try",
                help="couler.space.real(low, high), couler.space.integer(low, high), or a list of values; "
                "what stays the same goes into given=",
            )
    if not found:
        fail("CLR162", "the space of a sweep is empty")
    for name, dimension in found.items():
        for other, values in dimension.where.items():
            if other not in found:
                fail("CLR162", f"{name} is used only with some {other}, which isn't in the space")
            for value in values:
                if not holds(found[other], value):
                    fail("CLR162", f"{name} is used only where {other} is {value!r}, which it never is")
    ordered: dict[str, Dimension] = {}
    while len(ordered) < len(found):
        ready = {
            name: each for name, each in found.items() if name not in ordered and all(w in ordered for w in each.where)
        }
        if not ready:
            fail("CLR162", f"these depend on each other: {', '.join(name for name in found if name not in ordered)}")
        ordered |= ready
    return ordered


def holds(dimension: Dimension, value: Any) -> bool:
    """Whether a dimension has a value."""
    if isinstance(dimension, Choice):
        return any(value == each and type(value) is type(each) for each in dimension.values)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return False
    if isinstance(dimension, Integer) and (value != int(value) or (int(value) - dimension.low) % dimension.step):
        return False
    return bool(dimension.low <= value <= dimension.high)


def misfit(space: Mapping[str, Dimension], point: Mapping[str, Any]) -> str:
    """Why some settings are no part of a point of the space; empty where they are."""
    for name, value in point.items():
        if name not in space:
            return f"there is no {name!r} in the space"
        if not holds(space[name], value):
            return f"{name} can't be {value!r}"
    for name in point:
        for other, values in space[name].where.items():
            if other in point and not any(point[other] == each for each in values):
                return f"{name} isn't used where {other} is {point[other]!r}"
    return ""


def grid(space: Mapping[str, Dimension], most: int) -> tuple[dict[str, Any], ...]:
    """Every point of a space, in the order of its dimensions, each once.

    Of a space with more than `most`, only the first dimensions are laid out, as far as that shows that there are more.
    Raises `RecordingError` where a dimension doesn't say how many values it has.
    """
    points: list[dict[str, Any]] = [{}]
    for name, dimension in space.items():
        if len(points) > most:
            break
        values = list(itertools.islice(_marks(name, dimension), most + 1))
        points = list(
            itertools.chain.from_iterable(
                [{**point, name: value} for value in values] if _used(dimension, point) else [point] for point in points
            )
        )
    return tuple(points)


def drawn(space: Mapping[str, Dimension], count: int, seed: int) -> tuple[dict[str, Any], ...]:
    """Some points at random: the same ones for the same seed, on every machine and version of Python."""
    source = random.Random(seed)  # noqa: S311 - Mersenne Twister, whose random() never changes
    points = []
    for _ in range(count):
        point: dict[str, Any] = {}
        for name, dimension in space.items():
            if _used(dimension, point):
                point[name] = _between(dimension, source.random())
        points.append(point)
    return tuple(points)


def _used(dimension: Dimension, point: Mapping[str, Any]) -> bool:
    return all(name in point and point[name] in values for name, values in dimension.where.items())


def _between(dimension: Dimension, share: float) -> Any:
    """The value of a dimension at a share (from 0 to below 1) of its way."""
    if isinstance(dimension, Choice):
        return dimension.values[int(share * len(dimension.values))]
    if isinstance(dimension, Integer) and not dimension.log:
        count = (dimension.high - dimension.low) // dimension.step + 1
        return dimension.low + int(share * count) * dimension.step
    low, high = float(dimension.low), float(dimension.high)
    if isinstance(dimension, Integer):
        low, high = low - 0.5, high + 0.5
    value = low * (high / low) ** share if dimension.log else low + (high - low) * share
    return min(dimension.high, max(dimension.low, round(value) if isinstance(dimension, Integer) else value))


def _marks(name: str, dimension: Dimension) -> Iterator[Any]:
    if isinstance(dimension, Choice):
        yield from dimension.values
        return
    if isinstance(dimension, Integer) and not dimension.points:
        yield from range(dimension.low, dimension.high + 1, dimension.step)
        return
    if not dimension.points:
        fail(
            "CLR162",
            f"a grid can't try every {name} from {dimension.low} to {dimension.high}",
            help=f"couler.space.real({dimension.low}, {dimension.high}, points=5), or a list of values",
        )
    seen = set()
    for number in range(dimension.points):
        share = number / (dimension.points - 1) if dimension.points > 1 else 0.5
        low, high = float(dimension.low), float(dimension.high)
        value: float = low * (high / low) ** share if dimension.log else low + (high - low) * share
        value = high if share == 1 else value
        if isinstance(dimension, Integer):
            value = dimension.low + round((value - dimension.low) / dimension.step) * dimension.step
        if value not in seen:
            seen.add(value)
            yield value


def _check_points(points: int) -> None:
    if type(points) is not int or points < 0:
        fail("CLR162", f"points is a number of values, not {points!r}")
