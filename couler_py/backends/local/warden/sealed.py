"""What only one process is to read, in files without a name; what a zygote says of its steps. Standard library only.

What is loaded here is part of what a zygote copies for each step: what is seldom needed is imported where it is.
"""

from __future__ import annotations

import marshal
import os
import struct
from typing import Any

MARSHAL = 4  # the format of marshal since Python 3.4: a zygote's interpreter may be older than the engine's
TAKEN = b"!"

NUMBER = struct.Struct("!I")
"""What a zygote is sent for a step, beside the descriptors of its request and its streams."""

HANDLES = struct.Struct("@3i")

REPORT = struct.Struct("!cIIiQd")
"""What it says: b"b" (a step has begun) or b"e" (it has ended), its number, process, wait status, memory, cpu."""


def sealed(data: dict[str, Any]) -> int:
    """A descriptor of a file without a name that holds plain data: only who is handed it can read it.

    Its first byte is for one alone of all that are handed it: see `take`.
    """
    return _file(TAKEN + marshal.dumps(data, MARSHAL))


def _file(text: bytes) -> int:
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("couler", os.MFD_CLOEXEC)
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            handle = os.dup(file.fileno())
    view = memoryview(text)
    while view:
        view = view[os.write(handle, view) :]
    os.lseek(handle, 0, os.SEEK_SET)
    return handle


def take(handle: int) -> bool:
    """Become the one that what a descriptor of `sealed` holds is for; False where another has.

    The place at which the next reader reads is the file's, not the reader's: whoever comes second is behind the byte.
    """
    return os.read(handle, len(TAKEN)) == TAKEN


def unsealed(handle: int) -> Any:
    """What a descriptor of `sealed` holds. Whoever reads it has just been forked: each page it touches costs."""
    size = os.fstat(handle).st_size
    return marshal.loads(os.pread(handle, size, len(TAKEN)))  # noqa: S302 - our own engine's


def copied(handle: int) -> int:
    """The same once more, for another to take."""
    return _file(os.pread(handle, os.fstat(handle).st_size, 0))
