"""Digests are the sha256, however they are computed."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from couler_py.store import hashing

SIZES = [0, 1, hashing.SMALL - 1, hashing.SMALL, hashing.SMALL + 1, 5 * hashing.SMALL]


@pytest.mark.parametrize("size", SIZES)
def test_a_file_and_its_bytes_have_the_sha256(size: int, tmp_path: Path) -> None:
    data = bytes(number % 251 for number in range(size))
    (tmp_path / "file").write_bytes(data)
    expected = hashlib.sha256(data).hexdigest()
    assert (hashing.of_bytes(data), hashing.of_file(str(tmp_path / "file"))) == (expected, expected)


def test_little_is_hashed_without_openssl() -> None:
    program = f"""
import sys
sys.path.insert(0, {str(Path(hashing.__file__).parent)!r})
import hashing
print(hashing.of_bytes(b"some"), "hashlib" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [hashlib.sha256(b"some").hexdigest(), "False"]
