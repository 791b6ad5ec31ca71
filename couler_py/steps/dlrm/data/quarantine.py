"""Rows that are none: kept as they were, with where they stood and why, and counted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from couler_py.steps.dlrm.data.rows import Bad

QUARANTINE, REASONS = "quarantine.txt", "quarantine.jsonl"


class Quarantine:
    """What is no row, as it was, with where it stood and why."""

    def __init__(self, lines: IO[bytes], told: IO[bytes]):
        self._lines, self._told = lines, told
        self.reasons: dict[str, int] = {}
        self.count = 0
        self._first: list[str] = []

    def add(self, path: Path, bad: Bad) -> None:
        """Set one aside."""
        self._lines.write(bad.text + b"\n")
        self._told.write(msgspec.json.encode({"file": path.name, "row": bad.row, "reason": bad.reason}) + b"\n")
        kind = bad.reason.partition(" is ")[0] if " is " in bad.reason else "number of columns"
        self.reasons[kind] = self.reasons.get(kind, 0) + 1
        self.count += 1
        if len(self._first) < 3:
            self._first.append(f"row {bad.row} of {path.name}: {bad.reason}")

    def judge(self, rows: int, allowed: float) -> None:
        """Raises `ValueError` where too many were set aside."""
        if self.count > allowed * (rows + self.count):
            raise ValueError(
                f"{self.count} of {rows + self.count} rows are none, more than bad={allowed:g} allows: "
                f"{'; '.join(self._first)}; all are in {REASONS}"
            )


@contextlib.contextmanager
def quarantined(out: Path) -> Iterator[Quarantine]:
    """A quarantine whose files lie in a folder."""
    with open(out / QUARANTINE, "wb") as lines, open(out / REASONS, "wb") as told:
        yield Quarantine(lines, told)
