"""What steps are made of comes back as it was: classes, helpers, constants, defaults."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict

import couler_py as couler
from tests.unit.printer.rebuilt import printed

LIMIT = 3
NAMES = ["a", 'b"c', "d\ne"]
TEXT = """first
second
"""
Pair = list[int]


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Options(TypedDict):
    rate: float
    colour: Colour
    note: NotRequired[str | None]


@dataclass
class Point:
    x: int
    y: int = LIMIT


class Found(NamedTuple):
    best: Annotated[Point, "the best one"]
    table: Path


def helper(value: int) -> int:
    return double_helper(value) + LIMIT


def double_helper(value: int) -> int:
    return 2 * value


shorten = lambda text: text[:3]  # noqa: E731


@couler.step
def search(
    options: Options,
    points: list[Point],
    data: Path,
    *,
    extra: Path | None = None,
    many: list[Path],
    mode: Literal["fast", "slow"] = "fast",
    colour: Colour = Colour.BLUE,
    limit: int = LIMIT,
    weights: Mapping[str, float] | None = None,
    note: Annotated[Optional[str], "what it is for"] = None,  # noqa: UP045
    anything: Any = None,
    pair: Pair = [],  # noqa: B006
) -> Found:
    """Search.

    With a docstring of lines.
    """
    return Found(Point(helper(len(NAMES)), limit), Path(shorten(TEXT)))


@couler.step
def make(n: int) -> Path:
    return Path(str(helper(n)))


@couler.step
def untyped(x, y=1):
    return make(x), y


def test_everything_that_a_step_is_made_of() -> None:
    @couler.workflow
    def main(note: Annotated[str, "for the record"] = TEXT):
        file = make(1)
        found = search(
            {"rate": 0.5, "colour": Colour.RED}, [Point(1, 2)], file, many=couler.map(make, [1, 2]), note=note
        )
        return untyped(found.best.x)

    source = printed(couler.build(main))
    assert "couler.template" not in source
    assert "ir." not in source
    for once in ("class Colour(enum.Enum):", "def helper(", "def double_helper(", "LIMIT = 3\n", "def make("):
        assert source.count(once) == 1
    assert 'TEXT = """first\nsecond\n"""\n' in source
    assert 'def main(note: Annotated[str, "for the record"] = TEXT):' in source


def test_a_step_made_in_a_function_has_what_is_around_it() -> None:
    def make_step(number: int) -> Any:
        @couler.step(name=f"add-{number}")
        def add(n: int) -> int:
            return n + number

        return add

    @couler.workflow
    def main():
        return make_step(2)(make_step(1)(0))

    source = printed(couler.build(main))
    assert "couler.template" not in source
    assert "def _make_add_2():\n    number = 2\n" in source or "def _make_add_1():\n    number = 1\n" in source
