"""Logs of running steps are kept within a bound (`logs.limit` of the settings): their beginning and end stay.

A step writes to its log itself, appending, with nobody in between; so the engine looks now and then, and takes the
middle out. A step that writes faster than it is looked at has a longer log for a moment. Lines that come in the moment
of the cut may be lost, as the middle is.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from couler_py.backends.local.context import Context

HEAD, TAIL = 2, 4
"""Of the limit, a half stays at the beginning and a quarter at the end; what comes next has room until the next cut."""

LONGEST_MARK = 200  # bytes

NEAR = 1 << 16  # bytes in which the end of a line is looked for, so that none is cut
MARK = re.compile(rb"\n=== couler: ([0-9]+) bytes were left out here, as logs\.limit says ===\n")


def look(context: Context) -> None:
    """Shorten the logs of running attempts that have grown too long; those that end are seen to when they do."""
    for name in context.running.values():
        shorten(context.attempts / name / "log", context.log_limit)


def shorten(log: Path, limit: int) -> bool:
    """Take the middle out of a log that is longer than a limit in bytes; whether it was.

    In its place a line says how much was left out, in all. A step may have put anything in the place of its log, or of
    the folder that it is in: what is no file there is let be, and a link is not followed.
    """
    try:
        found = log.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    if not stat.S_ISREG(found.st_mode) or found.st_size <= limit:
        return False
    with log.open("r+b") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(limit // HEAD + LONGEST_MARK)
        before = 0
        marked = MARK.search(head)
        if marked is not None:  # it was cut before, there
            before, head = int(marked[1]), head[: marked.start()]
        else:
            head = head[: limit // HEAD]
            line = head.rfind(b"\n", max(0, len(head) - NEAR))
            head = head if line < 0 else head[:line]
        file.seek(size - limit // TAIL)
        tail = file.read()
        line = tail.find(b"\n", 0, NEAR)
        tail = tail if line < 0 else tail[line + 1 :]
        gone = before + size - len(head) - len(tail) - (0 if marked is None else len(marked[0]))
        os.ftruncate(file.fileno(), len(head))
    # Appended like what the step itself writes: neither overwrites the other.
    with log.open("ab") as file:
        file.write(b"\n=== couler: %d bytes were left out here, as logs.limit says ===\n" % gone + tail)
    return True


def cut(log: Path) -> int:
    """Where the line stands in a log that says what was left out; its size where nothing was."""
    with log.open("rb") as file:
        place = 0
        kept = b""
        while block := file.read(1 << 20):
            found = MARK.search(kept + block)
            if found is not None:
                return place - len(kept) + found.start()
            place += len(block)
            kept = block[-LONGEST_MARK:]
        return place
