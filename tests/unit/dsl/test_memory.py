"""What a recording holds is freed with it."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import couler_py as couler


@couler.step
def number(x: int = 0) -> int:
    return x


@couler.step
def numbers(n: int) -> list[int]:
    return list(range(n))


@couler.step
def write(text: str) -> Path:
    path = Path("text")
    path.write_text(text)
    return path


@couler.step
def read(path: Path) -> str:
    return path.read_text()


def record() -> weakref.ref[Any]:
    """Record and compile a workflow of every kind of expression, and keep nothing of it."""
    with couler.Workflow("w") as workflow:
        x = number()
        y = couler.when((x > 0) & ~(x == 2), lambda: number(x), otherwise=lambda: number(x))
        couler.map(number, numbers(couler.first(number(1), y)))
        couler.map(number, couler.sequence(count=x))
        read(write(couler.format("{} {}", x, numbers(3)[0])))
        number(x.or_else(3))  # type: ignore[attr-defined]
        number(y + x)
        couler.loop(lambda n: number(n), initial=x, until=lambda n: n > 3)
    couler.build(workflow)
    couler.compile(workflow)
    return weakref.ref(workflow._recorder)


def test_a_recording_that_nobody_holds_is_freed() -> None:
    gone = record()
    gc.collect()
    assert gone() is None
