"""`couler secrets` keeps values that never stand on a command line or a screen."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from couler_py.store.home import open_home
from couler_py.store.secrets import read_secret
from tests.unit.cli.conftest import Couler


@pytest.fixture(autouse=True)
def no_settings(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(here / "config"))


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        (b"abc", "abc"),
        (b"abc\n", "abc"),
        (b"abc\r\n", "abc"),
        (b" a b \n", " a b "),
        (b"-----BEGIN\nline\n-----END\n", "-----BEGIN\nline\n-----END\n"),
    ],
)
def test_a_value_comes_from_stdin(couler: Couler, monkeypatch: pytest.MonkeyPatch, data: bytes, kept: str) -> None:
    piped(monkeypatch, data)
    shown = couler("secrets", "set", "api", "token")
    assert (shown.code, shown.out, shown.err) == (0, "", "kept api/token\n")
    assert read_secret(open_home(), "api") == {"token": kept}


@pytest.mark.parametrize(
    ("data", "message"), [(b"", "the value is empty"), (b"\n", "is empty"), (b"a\0", "a NUL"), (b"\xff", "isn't UTF-8")]
)
def test_what_can_be_no_value_is_refused(
    couler: Couler, monkeypatch: pytest.MonkeyPatch, data: bytes, message: str
) -> None:
    piped(monkeypatch, data)
    shown = couler("secrets", "set", "api", "token")
    assert shown.code == 2
    assert message in shown.err


def test_a_value_is_no_argument(couler: Couler) -> None:
    shown = couler("secrets", "set", "api", "token", "abc")
    assert shown.code == 2
    assert "unexpected extra argument" in shown.err.lower()


def test_what_is_typed_is_not_shown(here: Path) -> None:
    parent, child = pty.openpty()
    started = subprocess.Popen(
        [sys.executable, "-m", "couler_py.cli", "secrets", "set", "api", "token"],
        stdin=child,
        stdout=child,
        stderr=child,
        start_new_session=True,
    )
    os.close(child)
    shown = b""
    while b"api/token: " not in shown:
        shown += os.read(parent, 1000)
    os.write(parent, b"hush\n")
    while True:
        try:
            shown += os.read(parent, 1000)
        except OSError:
            break
    assert started.wait() == 0
    assert b"hush" not in shown
    assert read_secret(open_home(), "api") == {"token": "hush"}


def test_names_and_keys_are_listed_and_no_values(couler: Couler, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("token", "user"):
        piped(monkeypatch, b"hush")
        couler("secrets", "set", "api", key)
    shown = couler("secrets", "list")
    place = str(here / ".couler" / "secrets")
    assert [line.split() for line in shown.out.splitlines()] == [
        ["NAME", "KEYS", "PLACE"],
        ["api", "token,", "user", place],
    ]
    found = json.loads(couler("secrets", "list", "--json").out)
    assert found == [{"name": "api", "keys": ["token", "user"], "place": place}]
    assert couler("secrets", "delete", "api", "user").err == "forgot api/user\n"
    assert read_secret(open_home(), "api") == {"token": "hush"}
    assert couler("secrets", "delete", "other").code == 2
