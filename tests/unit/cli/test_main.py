"""Where the command starts."""

from __future__ import annotations

import sys

import pytest

from couler_py.cli import main


def test_on_windows_the_first_thing_said_is_wsl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(SystemExit, match="on Windows, install it inside WSL"):
        main()
