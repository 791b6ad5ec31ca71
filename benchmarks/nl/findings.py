"""What a check has found, and what it looks at."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.nl.descriptions import Facts
from benchmarks.nl.reading import Reading
from benchmarks.nl.units import Unit
from couler_py.ir.model import Workflow


@dataclass(frozen=True)
class Finding:
    """One fact, whether it holds, and if not why."""

    fact: str
    held: bool
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.fact}: {'holds' if self.held else self.reason}"


@dataclass(frozen=True)
class Seen:
    """A workflow as it is read: its leaves, and which of them play which roles."""

    facts: Facts
    workflow: Workflow
    units: list[Unit]
    reading: Reading

    def players(self, role: str) -> list[Unit]:
        return [self.units[place] for place in self.reading.get(role, ())]

    def places(self, role: str) -> tuple[int, ...]:
        return self.reading.get(role, ())

    def main(self) -> list[Unit]:
        """Everything but the handlers."""
        return [unit for unit in self.units if not unit.moment]
