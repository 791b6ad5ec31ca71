"""What the folder of an attempt says, whatever stands in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from couler_py.backends.local.steps import attempts
from couler_py.backends.local.warden.processes import MARK, marked

WHOLE = {"started": 1.0, "finished": 2.0, "digest": "d", "reason": "exited", "exit": 0, "message": ""}


def written(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


ODD: dict[str, Callable[[Path], object]] = {
    "nothing": lambda path: None,
    "emptied by a power cut": written(""),
    "cut off": written(json.dumps(WHOLE)[:20]),
    "no object": written("[]"),
    "without its end": written(json.dumps({name: WHOLE[name] for name in WHOLE if name != "finished"})),
    "no text": lambda path: path.write_bytes(b"\xff\xfe"),
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a link to itself": lambda path: path.symlink_to(path),
}


def test_a_whole_record_is_read(tmp_path: Path) -> None:
    (tmp_path / "record").write_text(json.dumps(WHOLE))
    assert attempts.record(tmp_path) == WHOLE
    assert attempts.claim(tmp_path)
    assert not (tmp_path / "ended").exists()


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_what_no_warden_can_have_written_is_no_record(odd: Callable[[Path], object], tmp_path: Path) -> None:
    odd(tmp_path / "record")
    assert attempts.record(tmp_path) is None
    assert attempts.claim(tmp_path)
    assert (tmp_path / "ended").exists()  # so that it runs again


@pytest.mark.skipif(sys.platform != "linux", reason="marks are read from /proc")
def test_what_is_left_of_an_attempt_ends_with_all_that_it_starts_meanwhile(tmp_path: Path) -> None:
    """Eight loops that start a process after the other, each in a session of its own."""
    environment = os.environ | {MARK: str(tmp_path)}
    command = ["sh", "-c", "while true; do setsid sleep 5 & sleep 0.01; done"]
    loops = [subprocess.Popen(command, env=environment, start_new_session=True) for _ in range(8)]
    attempts.end_orphan(tmp_path)
    left = list(marked(str(tmp_path)))
    for loop in loops:
        loop.wait()
    assert left == []
