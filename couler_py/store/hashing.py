"""The sha256 of files and bytes, without OpenSSL where little is hashed: loading it takes longer. Stdlib only."""

from __future__ import annotations

import sys
from typing import Any

SMALL = 1 << 18  # bytes: what is shorter is read at once


def of_bytes(data: bytes) -> str:
    """The sha256 of some bytes, in hexadecimal digits."""
    hasher = _sha256(len(data))
    hasher.update(data)
    return str(hasher.hexdigest())


def of_file(path: str) -> str:
    """The sha256 of a file's content, in hexadecimal digits."""
    with open(path, "rb", buffering=0) as file:
        data = file.read(SMALL)
        if len(data) < SMALL:
            return of_bytes(data)
        hasher = _sha256(SMALL)
        part = bytearray(SMALL)
        while data:
            hasher.update(data)
            data = memoryview(part)[: file.readinto(part)]
    return str(hasher.hexdigest())


def _sha256(size: int) -> Any:
    if size < SMALL and "hashlib" not in sys.modules:
        for name in ("_sha2", "_sha256"):  # since Python 3.12, and before
            try:
                return __import__(name).sha256()
            except ImportError:
                pass
    import hashlib

    return hashlib.sha256()
