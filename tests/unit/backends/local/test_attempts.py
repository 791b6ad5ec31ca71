"""What the folder of an attempt says, whatever stands in it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from couler_py.backends.local import attempts

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
