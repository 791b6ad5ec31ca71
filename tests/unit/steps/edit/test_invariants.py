"""The table of what rounds promise names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path


def test_each_promise_has_tests_and_each_test_is_there(checkout: Path) -> None:
    table = (checkout / "tests/training/edit/README.md").read_text(encoding="utf-8")
    promises = re.findall(r"^\| (\d+) \| .* \| (.*) \|$", table, flags=re.MULTILINE)
    assert [int(number) for number, _ in promises] == list(range(1, 21))
    folders = (checkout / "tests/training/edit", checkout / "tests/unit/steps/edit")
    sources = "\n".join(path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.py"))
    there = set(re.findall(r"^def (?:check|test)_(\w+)", sources, flags=re.MULTILINE))
    named = [re.findall(r"`(\w+)`", tests) for _, tests in promises]
    assert all(named)
    assert {name for names in named for name in names} - there == set()
