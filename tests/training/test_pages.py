"""What pages show of training runs as they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import ROOT, Reader, blocks

PAGES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if any(block.note == "torch" for block in blocks(page))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_shows_of_training_is_so(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COULER_HOME", str(tmp_path / ".couler"))
    Reader(page, tmp_path).read()
