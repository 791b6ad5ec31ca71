"""`couler ask --model`: what is sent is said before, what it took after, and the file is a workflow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.nl.protocol import Refuses, Says, serving
from tests.nl.scripted import DETAILS, GOOD, PLAN, TEXT
from tests.unit.cli.conftest import Couler, couler, here

__all__ = ["couler", "here"]  # fixtures


@pytest.fixture(autouse=True)
def _settings(monkeypatch: pytest.MonkeyPatch):
    for name in ("COULER_MODEL", "COULER_LAKE", "COULER_PRICES", "COULER_MODEL_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_a_draft_by_a_server(couler: Couler, here: Path):
    with serving(*(Says(json.dumps(each)) for each in (PLAN, DETAILS, GOOD))) as server:
        ended = couler("ask", TEXT, "--model", server.url, "-o", "flow.py")
    assert ended.code == 0
    assert f"to scripted at {server.url}:" in ended.err
    assert "scripted: 3 calls, 300 tokens sent, 60 received" in ended.err
    assert "$0.0000" in ended.err
    assert couler("lint", "flow.py").code == 0


def test_a_server_that_refuses_leaves_the_draft_of_the_grammar(couler: Couler, here: Path):
    with serving(Refuses(401, "who are you?")) as server:
        ended = couler("ask", TEXT, "--model", server.url, "-o", "flow.py")
    assert "scripted refuses: " in ended.err
    assert "this draft is made without it" in ended.err
    assert couler("lint", "flow.py").code == 0


def test_a_model_that_is_none_is_an_error(couler: Couler):
    ended = couler("ask", TEXT, "--model", "gpt")
    assert ended.code != 0
    assert "names no model" in ended.err
