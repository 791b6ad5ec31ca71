"""`couler lake`: what is added is found again."""

from __future__ import annotations

import json
from pathlib import Path

from tests.unit.cli.conftest import Couler

FLOW = '''
import couler_py as couler

@couler.step
def train_churn(path: str) -> float:
    """Train the churn model."""
    return 0.5

@couler.workflow
def weekly(path: str):
    return train_churn(path)
'''


def test_steps_are_added_listed_and_found(couler: Couler, here: Path):
    (here / "flows.py").write_text(FLOW)
    assert "2 in" in couler("lake", "add", "flows.py").err
    listed = json.loads(couler("lake", "list", "--json").out)
    assert [each["key"] for each in listed] == ["flows.train_churn", "flows.weekly"]
    assert "pieces" not in listed[0]
    found = couler("lake", "search", "churn models", "-n", "1").out
    assert "flows.train_churn" in found.splitlines()[1]


def test_source_is_kept_where_it_is_shared(couler: Couler, here: Path):
    (here / "flows.py").write_text(FLOW)
    couler("lake", "add", "flows.py", "--share-source", "--lake", "team")
    (step, _) = json.loads(couler("lake", "list", "--lake", "team", "--json").out)
    assert step["pieces"][-1].startswith("def train_churn")
    assert json.loads(couler("lake", "list", "--json").out) == []


def test_a_file_without_steps_is_an_error(couler: Couler, here: Path):
    (here / "x.py").write_text("raise SystemExit('never run')")
    ended = couler("lake", "add", "x.py")
    assert ended.code != 0
    assert "no functions with @couler.step" in ended.err
    assert "nothing is there" in couler("lake", "list").err
