"""A decision with what it was made from, what else was looked at, and why not that. No NumPy here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

Stage = Literal["warm start", "scaling", "memory", "probe", "fallback", "instability", "cluster"]
Confidence = Literal["high", "part", "low"]
Value = float | int | str | bool | None


class Rejected(msgspec.Struct, frozen=True):
    """What was looked at and not chosen, and why; `numbers` are what speaks for and against it."""

    choice: str
    why: str
    numbers: dict[str, float] = {}


class Decision(msgspec.Struct, frozen=True):
    """What was decided at a stage, from which inputs, and instead of what."""

    stage: Stage
    choice: str
    why: str
    inputs: dict[str, Value] = {}
    rejected: tuple[Rejected, ...] = ()
    confidence: Confidence = "high"


def as_text(decisions: Sequence[Decision]) -> list[str]:
    """Decisions as lines for people.

    >>> print("\\n".join(as_text([Decision("memory", "4.0 GiB", "flat so far", {"readings": 12},
    ...     (Rejected("2.0 GiB", "it would be full after 10 reports"),))])))
    memory: 4.0 GiB, because flat so far
      from readings 12
      not 2.0 GiB: it would be full after 10 reports
    """
    lines = []
    for each in decisions:
        sure = "" if each.confidence == "high" else f" ({each.confidence} confidence)"
        lines.append(f"{each.stage}: {each.choice}, because {each.why}{sure}")
        shown = [f"{name} {_shown(value)}" for name, value in each.inputs.items() if value is not None]
        if shown:
            lines.append("  from " + ", ".join(shown))
        lines += [f"  not {other.choice}: {other.why}" for other in each.rejected]
    return lines


def _shown(value: Value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
