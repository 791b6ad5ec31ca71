"""What a training on uneven hardware was like, as data. No torch here."""

from __future__ import annotations

import msgspec

from couler_py.steps.hybrid.plan import Plan

Spans = tuple[tuple[str, float, float], ...]
"""Kinds of operations ("F", "B", "W"), from when to when, in seconds."""


class Stepped(msgspec.Struct, frozen=True):
    """A step that was done."""

    step: int
    loss: float
    seconds: float


class Changed(msgspec.Struct, frozen=True):
    """A plan, and since when it holds."""

    step: int
    plan: Plan
    why: str
    predicted: float | None
    """Seconds of a step by formula; None before it is known how long a healthy rank takes."""
    moved: int = 0
    """Bytes that all ranks received to change to it."""
    seconds: float = 0.0
    read: int = 0
    """Bytes that came from a checkpoint, as no rank had them any more."""


class Picture(msgspec.Struct, frozen=True):
    """Who computed what when in a step."""

    step: int
    ranks: dict[int, Spans]


class Told(msgspec.Struct, frozen=True):
    """What a training was like, from where it last began."""

    steps: tuple[Stepped, ...]
    plans: tuple[Changed, ...]
    news: tuple[tuple[int, str], ...]
    """After which step which rank was found slow, lost or back, and what followed."""
    pictures: tuple[Picture, ...]
    """Of an early step under each plan, and of those after which there was news."""
    seconds: float
    ranks: int
    consumed: int
    """Samples, from the beginning of all."""
