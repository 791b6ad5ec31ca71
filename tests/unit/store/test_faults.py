"""The points at which tests end a process: each stands in the program, in the list, and in the docs."""

from __future__ import annotations

import re
from pathlib import Path

from couler_py.store.faults import CHECKPOINTS, POINTS, SHARDING


def test_every_point_is_in_the_program_and_no_other(checkout: Path) -> None:
    texts = (path.read_text(encoding="utf-8") for path in (checkout / "couler_py").rglob("*.py"))
    reached = {point for text in texts for point in re.findall(r'\b(?:reach|reached)(?:\(|, )"([a-z.]+)"\)', text)}
    assert reached == set(POINTS | CHECKPOINTS | SHARDING)


def test_the_docs_list_the_points(checkout: Path) -> None:
    page = (checkout / "docs" / "reliability.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z.]+)` \| (.+) \|$", page, re.MULTILINE) == list(
        (POINTS | CHECKPOINTS | SHARDING).items()
    )
