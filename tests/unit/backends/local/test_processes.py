"""Secrets in streams, however they are cut."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from couler_py.backends.local.warden.streams import Redactor

SECRETS = [b"abab", b"ababc", b"hunter2"]
PARTS = st.lists(st.sampled_from([*SECRETS, b"a", b"ab", b"aba", b"hunter", b"x", b"\n"]), max_size=12).map(b"".join)


@given(PARTS, st.lists(st.integers(1, 5), max_size=30))
def test_no_secret_shows_wherever_the_stream_is_cut(tmp_path_factory: object, text: bytes, cuts: list[int]) -> None:
    path = Path(tmp_path_factory.mktemp("log")) / "log"  # type: ignore[attr-defined]
    log = os.open(path, os.O_WRONLY | os.O_CREAT)
    redactor = Redactor(log, None, list(SECRETS))
    rest = text
    for cut in cuts:
        piece, rest = rest[:cut], rest[cut:]
        if piece:
            redactor.write(piece)
    if rest:
        redactor.write(rest)
    redactor.write(b"")
    os.close(log)
    found = path.read_bytes()
    assert not any(secret in found for secret in SECRETS)
    if not any(secret in text for secret in SECRETS):
        assert found == text
